// SPDX-License-Identifier: MIT
// Knobs: every environment variable Weft reads is declared once, as a static object with a type, a default
// and a sentence of help. A knob is constant-initialised, so it can be read before any constructor has run,
// and it looks at the environment once, at its first read. A bad value prints one line and leaves the
// default.
//
//   constinit base::integer_knob stack_size{"WEFT_STACK_SIZE", 16 << 10, {4 << 10, 1 << 30},
//                                           base::knob_scale::bytes, "stack of a thread, in bytes"};
//   const base::knob_list of_stacks{stack_size}; // print_all() shows it even if nobody has read it
#pragma once

#include "weft/base/export.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>

namespace weft::base {

// Ownership: static objects; any kernel thread may read any knob at any time.
// Ordering: a value is published by the release store of state_ that follows it, and read after an acquire
// load.
class WEFT_API knob {
 public:
  knob(const knob&) = delete;
  knob& operator=(const knob&) = delete;

  const char* name() const noexcept { return name_; }
  const char* help() const noexcept { return help_; }
  // True if the value did not come from the default: environment or set().
  bool changed() noexcept;
  // The value, or the default, as the environment would spell it; written to `out` (cut at `bytes`).
  void print_value(char* out, unsigned bytes) noexcept;
  void print_default(char* out, unsigned bytes) const noexcept;
  // What values it takes, for people: "4096..1073741824", "0|1", "a|b|c".
  void print_type(char* out, unsigned bytes) const noexcept;
  // Forgets the value; the next read looks at the environment again. For tests: not while others read.
  void reset() noexcept;
  // Puts the knob on print_all()'s list, once.
  void list() noexcept;
  // Says it, once, if the environment has a bad value for this knob; reads nothing else.
  void check() noexcept;

 protected:
  enum class kind : std::uint8_t { integer, boolean, choice, text };
  enum class state : std::uint8_t { unread, reading, by_default, by_environment, by_program };

  union value {
    std::int64_t integer;
    const char* text;
    constexpr explicit value(std::int64_t number) : integer{number} {}
    constexpr explicit value(const char* string) : text{string} {}
  };

  constexpr knob(const char* name, const char* help, kind type, value initial)
      : name_{name}, help_{help}, type_{type}, default_{initial}, value_{initial} {}

  value read() noexcept {
    // acquire: the value was written before; pairs with (K1) in first_read() and (K2) in assign()
    if (state_.load(std::memory_order_acquire) > state::reading) [[likely]] {
      return value_;
    }
    return first_read();
  }
  void assign(value wanted) noexcept;

  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
  bool bytes_ = false;
  const char* const* choices_ = nullptr;
  unsigned choice_count_ = 0;
  // What no range says: which values are good, and in words. Null: all of the range, any text.
  const char* words_ = nullptr;
  bool (*accepts_)(std::int64_t number) = nullptr;
  bool (*accepts_text_)(const char* text) = nullptr;

 private:
  friend WEFT_API void print_all(std::FILE* out);
  friend bool is_knob(const char* name, unsigned length) noexcept;
  friend WEFT_API void check_all();

  value first_read() noexcept;
  void say_bad(const char* spelling) noexcept;
  // False if `spelling` is not a value of this knob.
  bool parse(const char* spelling, value& result) const noexcept;
  void print(value shown, char* out, unsigned bytes) const noexcept;

  const char* name_;
  const char* help_;
  kind type_;
  std::atomic<state> state_{state::unread};
  std::atomic<bool> listed_{false};
  std::atomic<bool> said_bad_{false};
  value default_;
  value value_;
  knob* next_ = nullptr;
};

struct knob_range {
  std::int64_t low;
  std::int64_t high;
};

// bytes: the environment may write 64K, 2M, 1G (powers of 1024).
enum class knob_scale : std::uint8_t { count, bytes };

class integer_knob : public knob {
 public:
  constexpr integer_knob(const char* name, std::int64_t initial, knob_range range, knob_scale scale,
                         const char* help)
      : knob{name, help, kind::integer, value{initial}} {
    low_ = range.low;
    high_ = range.high;
    bytes_ = scale == knob_scale::bytes;
  }
  // Of the range only what `accepts` says; `words`: which those are.
  constexpr integer_knob(const char* name, std::int64_t initial, knob_range range, const char* words,
                         bool (*accepts)(std::int64_t), const char* help)
      : integer_knob{name, initial, range, knob_scale::count, help} {
    words_ = words;
    accepts_ = accepts;
  }
  std::int64_t get() noexcept { return read().integer; }
  // Overrides the environment; clamped to the range.
  void set(std::int64_t wanted) noexcept {
    assign(value{wanted < low_ ? low_ : wanted > high_ ? high_ : wanted});
  }
};

// Spelled 0 1 off on no yes false true.
class boolean_knob : public knob {
 public:
  constexpr boolean_knob(const char* name, bool initial, const char* help)
      : knob{name, help, kind::boolean, value{std::int64_t{initial}}} {}
  bool get() noexcept { return read().integer != 0; }
  void set(bool wanted) noexcept { assign(value{std::int64_t{wanted}}); }
};

// One of a list of words; the value is the word's index. `words` must outlive the knob.
class choice_knob : public knob {
 public:
  template <unsigned Count>
  constexpr choice_knob(const char* name, unsigned initial, const char* const (&words)[Count],
                        const char* help)
      : knob{name, help, kind::choice, value{std::int64_t{initial}}} {
    choices_ = words;
    choice_count_ = Count;
  }
  unsigned get() noexcept { return static_cast<unsigned>(read().integer); }
  const char* word() noexcept { return choices_[get()]; }
  void set(unsigned wanted) noexcept {
    if (wanted < choice_count_) {
      assign(value{std::int64_t{wanted}});
    }
  }
};

// Any text, for file names; nullptr where neither environment nor default gives one.
class text_knob : public knob {
 public:
  constexpr text_knob(const char* name, const char* initial, const char* help)
      : knob{name, help, kind::text, value{initial}} {}
  // Not any text, but what `accepts` says; `words`: what that is.
  constexpr text_knob(const char* name, const char* initial, const char* words, bool (*accepts)(const char*),
                      const char* help)
      : text_knob{name, initial, help} {
    words_ = words;
    accepts_text_ = accepts;
  }
  const char* get() noexcept { return read().text; }
  // `wanted` must outlive the knob.
  void set(const char* wanted) noexcept { assign(value{wanted}); }
};

// A namespace-scope object that lists knobs when the library is loaded.
struct knob_list {
  template <class... Knobs>
  explicit knob_list(Knobs&... knobs) noexcept {
    (knobs.list(), ...);
  }
};

// Every listed knob, sorted by name: value, type, default, help; a '*' marks those not at their default.
// Contexts: thread, foreign kernel thread. Switches: never. Errors: none.
WEFT_API void print_all(std::FILE* out);

// knob::check() of every listed knob, also of those that this run will not read; the runtime calls it once at
// start, so that a bad value is said then.
WEFT_API void check_all();

// print_all(stderr) if WEFT_PRINT_CONFIG=1; the runtime calls it once at start.
WEFT_API void print_config_if_asked();
// Says of each environment variable that begins with WEFT_ and that no knob reads, that there is none: a slip
// of the pen, or a knob of another version. Once a process, when the runtime starts.
WEFT_API void warn_of_unknown() noexcept;

} // namespace weft::base
