// SPDX-License-Identifier: MIT
#include "weft/base/knob.hpp"

#include "weft/base/assert.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <strings.h>
#include <unistd.h>

namespace weft::base {
namespace {

// The list grows at its head and never shrinks.
constinit std::atomic<knob*> all_knobs{nullptr};

constinit boolean_knob print_config{"WEFT_PRINT_CONFIG", false, "print every knob and its value at start"};
const knob_list listed{print_config};

bool parse_integer(const char* spelling, bool bytes, std::int64_t& result) noexcept {
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(spelling, &end, 0);
  if (end == spelling || errno == ERANGE) {
    return false;
  }
  int shift = 0;
  if (bytes && *end != '\0') {
    switch (*end) {
    case 'k':
    case 'K':
      shift = 10;
      break;
    case 'm':
    case 'M':
      shift = 20;
      break;
    case 'g':
    case 'G':
      shift = 30;
      break;
    default:
      return false;
    }
    ++end;
  }
  std::int64_t scaled = 0;
  if (*end != '\0' || __builtin_mul_overflow(std::int64_t{number}, std::int64_t{1} << shift, &scaled)) {
    return false;
  }
  result = scaled;
  return true;
}

bool parse_boolean(const char* spelling, std::int64_t& result) noexcept {
  static constexpr const char* words[] = {"0", "1", "off", "on", "no", "yes", "false", "true"};
  for (std::int64_t index = 0; index < 8; ++index) {
    if (strcasecmp(spelling, words[index]) == 0) {
      result = index & 1;
      return true;
    }
  }
  return false;
}

} // namespace

void knob::list() noexcept {
  if (listed_.exchange(true, std::memory_order_relaxed)) {
    return;
  }
  next_ = all_knobs.load(std::memory_order_relaxed);
  // release: publishes next_; pairs with (K3) in print_all()
  while (
      !all_knobs.compare_exchange_weak(next_, this, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

knob::value knob::first_read() noexcept {
  list();
  value result = default_;
  const int saved_errno = errno;
  const char* spelling = std::getenv(name_);
  const bool given = spelling != nullptr && *spelling != '\0';
  const bool good = given && parse(spelling, result);
  state expected = state::unread;
  // relaxed: only elects who writes value_ and who warns; the value itself goes through (K1)
  if (state_.compare_exchange_strong(expected, state::reading, std::memory_order_relaxed)) {
    if (given && !good) {
      say_bad(spelling);
    }
    value_ = result;
    // (K1) release: publishes value_; pairs with read()
    state_.store(good ? state::by_environment : state::by_default, std::memory_order_release);
  }
  errno = saved_errno;
  return result;
}

void knob::check() noexcept {
  const int saved_errno = errno;
  const char* spelling = std::getenv(name_);
  value ignored = default_;
  if (spelling != nullptr && *spelling != '\0' && !parse(spelling, ignored)) {
    say_bad(spelling);
  }
  errno = saved_errno;
}

void knob::say_bad(const char* spelling) noexcept {
  if (said_bad_.exchange(true, std::memory_order_relaxed)) { // relaxed: elects who says it
    return;
  }
  char type[128];
  char shown[64];
  print_type(type, sizeof type);
  print_default(shown, sizeof shown);
  warn("%s=%s is not one of %s; using %s", name_, spelling, type, shown[0] != '\0' ? shown : "none");
}

void knob::assign(value wanted) noexcept {
  read();
  // RACY: a reader beside us may see the old value or the new one; both are values of this knob, in one word.
  value_ = wanted;
  // (K2) release: publishes value_; pairs with read()
  state_.store(state::by_program, std::memory_order_release);
}

void knob::reset() noexcept {
  value_ = default_;
  said_bad_.store(false, std::memory_order_relaxed);      // relaxed: nobody reads it meanwhile
  state_.store(state::unread, std::memory_order_release); // release: pairs with read(), as (K2)
}

bool knob::changed() noexcept {
  read();
  return state_.load(std::memory_order_relaxed) > state::by_default; // relaxed: read() has acquired
}

bool knob::parse(const char* spelling, value& result) const noexcept {
  std::int64_t number = 0;
  switch (type_) {
  case kind::integer:
    if (!parse_integer(spelling, bytes_, number) || number < low_ || number > high_ ||
        (accepts_ != nullptr && !accepts_(number))) {
      return false;
    }
    result = value{number};
    return true;
  case kind::boolean:
    if (!parse_boolean(spelling, number)) {
      return false;
    }
    result = value{number};
    return true;
  case kind::choice:
    for (unsigned index = 0; index < choice_count_; ++index) {
      if (strcasecmp(spelling, choices_[index]) == 0) {
        result = value{std::int64_t{index}};
        return true;
      }
    }
    return false;
  case kind::text:
    if (accepts_text_ != nullptr && !accepts_text_(spelling)) {
      return false;
    }
    result = value{spelling};
    return true;
  }
  return false;
}

void knob::print(value shown, char* out, unsigned bytes) const noexcept {
  switch (type_) {
  case kind::integer:
  case kind::boolean:
    std::snprintf(out, bytes, "%lld", static_cast<long long>(shown.integer));
    break;
  case kind::choice:
    std::snprintf(out, bytes, "%s", choices_[shown.integer]);
    break;
  case kind::text:
    std::snprintf(out, bytes, "%s", shown.text == nullptr ? "" : shown.text);
    break;
  }
}

void knob::print_value(char* out, unsigned bytes) noexcept {
  print(read(), out, bytes);
}

void knob::print_default(char* out, unsigned bytes) const noexcept {
  print(default_, out, bytes);
}

void knob::print_type(char* out, unsigned bytes) const noexcept {
  if (words_ != nullptr) {
    std::snprintf(out, bytes, "%s", words_);
    return;
  }
  unsigned used = 0;
  switch (type_) {
  case kind::integer:
    std::snprintf(out, bytes, "%lld..%lld%s", static_cast<long long>(low_), static_cast<long long>(high_),
                  bytes_ ? " (K, M, G)" : "");
    break;
  case kind::boolean:
    std::snprintf(out, bytes, "0|1");
    break;
  case kind::text:
    std::snprintf(out, bytes, "text");
    break;
  case kind::choice:
    for (unsigned index = 0; index < choice_count_ && used < bytes; ++index) {
      const int more =
          std::snprintf(out + used, bytes - used, "%s%s", index == 0 ? "" : "|", choices_[index]);
      used += more > 0 ? static_cast<unsigned>(more) : 0;
    }
    break;
  }
}

void print_all(std::FILE* out) {
  // The list is short and this runs once a process: selection by name instead of memory for a sorted copy.
  const char* previous = "";
  for (;;) {
    knob* next = nullptr;
    // (K3) acquire: the knobs' next_ fields; pairs with list()
    for (knob* each = all_knobs.load(std::memory_order_acquire); each != nullptr; each = each->next_) {
      if (std::strcmp(each->name_, previous) > 0 &&
          (next == nullptr || std::strcmp(each->name_, next->name_) < 0)) {
        next = each;
      }
    }
    if (next == nullptr) {
      return;
    }
    char shown[128];
    char type[128];
    char initial[64];
    next->print_value(shown, sizeof shown);
    next->print_type(type, sizeof type);
    next->print_default(initial, sizeof initial);
    std::fprintf(out, "%c %s=%s  # %s; %s; default %s\n", next->changed() ? '*' : ' ', next->name_, shown,
                 next->help_, type, initial);
    previous = next->name_;
  }
}

bool is_knob(const char* name, unsigned length) noexcept {
  for (knob* each = all_knobs.load(std::memory_order_acquire); each != nullptr; each = each->next_) { // (K3)
    if (std::strncmp(each->name_, name, length) == 0 && each->name_[length] == '\0')
      return true;
  }
  return false;
}

void warn_of_unknown() noexcept {
  constexpr char ours[] = "WEFT_";
  // Read by what stands beside the library: doors, tests, benchmarks and the examples.
  constexpr const char* others[] = {
      "WEFT_STRESS_",     "WEFT_SOAK",   "WEFT_FUZZ_",        "WEFT_MODEL_",  "WEFT_RANDOM_",
      "WEFT_SIMULATION_", "WEFT_STATE_", "WEFT_CONFORMANCE_", "WEFT_KMEANS_", "WEFT_TEST_",
      "WEFT_WAITS_",      "WEFT_HTTP_",  "WEFT_IDLE_SECONDS", "WEFT_BUILD",   "WEFT_NO_INSTALL",
      "WEFT_PTHREADS",    "WEFT_MPI",
  };
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    if (std::strncmp(*each, ours, sizeof ours - 1) != 0)
      continue;
    const auto length = static_cast<unsigned>(std::strcspn(*each, "="));
    bool known = is_knob(*each, length);
    for (const char* other : others)
      known = known || std::strncmp(*each, other, std::strlen(other)) == 0;
    if (!known)
      warn("there is no environment variable %.*s; docs/guide/knobs.md and WEFT_PRINT_CONFIG=1 list those "
           "that are read",
           static_cast<int>(length), *each);
  }
}

void check_all() {
  // (K3) acquire: the knobs' next_ fields; pairs with list()
  for (knob* each = all_knobs.load(std::memory_order_acquire); each != nullptr; each = each->next_) {
    each->check();
  }
}

void print_config_if_asked() {
  if (print_config.get()) {
    print_all(stderr);
  }
}

} // namespace weft::base
