// SPDX-License-Identifier: MIT
// The machine under a model test: coroutines for the threads, one scheduling decision before each visible
// operation, the log of what happened. One engine a process; it runs on one kernel thread.
#pragma once

#include "tests/model/checker/address_table.hpp"
#include "tests/model/checker/choices.hpp"
#include "tests/model/checker/memory.hpp"
#include "tests/model/checker/model.hpp"
#include "tests/model/checker/quarantine.hpp"
#include "tests/model/checker/seen_states.hpp"

#include <array>
#include <csetjmp>
#include <functional>
#include <string>
#include <ucontext.h>
#include <vector>

namespace weft::model {

inline constexpr std::size_t stack_bytes = 256 * 1024;

enum class thread_status : std::uint8_t { unused, runnable, joining, parked, futex, finished };

struct thread_state {
  ucontext_t context; // to begin by
  jmp_buf left;       // to go on by
  bool begun = false;
  char* stack = nullptr;
  const std::function<void()>* body = nullptr;
  thread_memory memory;
  thread_status status = thread_status::unused;
  bool yielded = false;                       ///< spins: others first
  bool timed = false;                         ///< blocked, but may give up
  bool woken = false;                         ///< what ended the block was not a time-out
  bool token = false;                         ///< of park()
  const void* failed_without_cause = nullptr; ///< where its last compare-and-swap did so
  view token_view;
  const void* waits_on = nullptr; ///< address of the futex
  unsigned joins = 0;             ///< id of the thread waited for
  std::uint64_t ticket = 0;       ///< order of arrival at a futex
  void (*handler)() = nullptr;    ///< an interrupt that has not been taken yet
  std::array<void*, 4> words{};   ///< of engine::thread_words_, while it does not run
  const char* stance = nullptr;   ///< how deep on its stack it stood when it came into the engine
  // For merging: README.md.
  std::uint64_t round = 0;      ///< what it has done and found since its last relax()
  std::uint64_t last_round = 0; ///< between the two before
  unsigned rounds = 0;          ///< equal ones since somebody made progress
  bool poised = false;          ///< it stands before an operation, and has run all that comes before
  struct {
    enum : std::uint8_t { none, next, due } when = none;
    int location = 0;
    std::memory_order order{};
    word value = 0;
    const void* address = nullptr;
  } late; ///< a store that has been seeded as weakening::late
};

/// One line of a report; rendered only on failure.
struct event {
  unsigned thread;
  const char* what;
  std::memory_order order;
  const void* address;
  word value;
  word second;
  bool stale;
};

class engine {
 public:
  static engine& get() noexcept;

  result explore(const options& how, const std::function<void()>& body);

  bool active() const noexcept { return active_; }
  unsigned self() const noexcept { return current_; }
  thread_state& me() noexcept { return threads_[current_]; }
  thread_state& at(unsigned id) noexcept { return threads_[id]; }
  bool is_unbounded() const noexcept { return options_.stale_reads == unlimited; }
  unsigned thread_count() const noexcept { return count_; }
  memory& shared() noexcept { return memory_; }

  unsigned spawn(std::function<void()> body);
  void join(unsigned id);

  /// Before a visible operation: any thread may go first.
  void step() noexcept;
  /// The caller has changed something: threads that spin may look again. A mere look is no progress, or two
  /// spinners would wake each other for ever while the thread they wait for stands preempted.
  void progress() noexcept;
  /// The caller spins.
  void relax() noexcept;
  /// The caller waits, in `status`, until somebody makes it runnable; false if it gave up.
  bool block(thread_status status, bool timed) noexcept;
  void wake(thread_state& blocked) noexcept;

  /// The caller's operation is over: later ones are later in its clock.
  void tick() noexcept { ++me().memory.now.clock[current_]; }

  std::uint64_t next_ticket() noexcept { return ++tickets_; }
  void add_thread_word(void** word, void* initial) noexcept;
  /// Runs the handler of an interrupt that waits for the caller.
  void take_interrupt() noexcept;
  unsigned choose(unsigned count) noexcept { return choices_.choose(count); }

  /// Which of `count` stores or outcomes; all but the first are paid from the stale budget.
  unsigned choose_outcome(unsigned count) noexcept;

  /// A store that may come before stores which its thread has not seen: 2+2W in tests/model/README.md.
  void store(int location, std::memory_order order, word value);
  /// The same after the caller's next operation, and before it blocks or ends.
  void store_late(int location, std::memory_order order, word value, const void* address);

  /// The modelled location at an address; registers one on first sight.
  int location(const void* address, word bare) noexcept;
  void construct(const void* address, word initial) noexcept;
  void plain_construct(const void* address) noexcept;
  void plain_read(const void* address) noexcept;
  void plain_write(const void* address) noexcept;

  void log(const char* what, std::memory_order order, const void* address, word value, word second = 0,
           bool stale = false);
  void label(const void* address, const char* name) { labels_.at(address) = name; }
  [[noreturn]] void fail(const std::string& reason) noexcept;

 private:
  struct plain_record {
    unsigned writer = 0;
    std::uint32_t write_clock = 0;
    std::array<std::uint32_t, max_threads> read_clock{};
  };
  /// Most atomics that are made in an execution are never used in it: they become locations at first use.
  struct location_index {
    int value = -1;
    unsigned constructor = 0;
    std::uint32_t constructor_clock = 0;
    word initial = 0;
    bool constructed = false;
  };

  [[gnu::noinline]] void decide() noexcept;
  void bring_late_store() noexcept;
  static void trampoline();
  void run(const std::function<void()>& body);
  void finish() noexcept;
  [[gnu::noinline]] void switch_to(unsigned id) noexcept;
  [[noreturn]] void go_on_with(thread_state& next) noexcept;
  [[noreturn]] void end_execution() noexcept;
  void merge() noexcept;
  void remember_statics();
  void forget_execution() noexcept;
  std::uint64_t hash_of_state() noexcept;
  std::uint64_t hash_of_what_runs(unsigned id) noexcept;
  std::uint64_t hash_of_views(unsigned id) noexcept;
  view known_to_all_but(unsigned one) const noexcept;
  void tell_views_apart() noexcept;
  unsigned who_is_woken_before(unsigned id) const noexcept;
  [[gnu::noinline]] void note_stance() noexcept;
  bool nothing_changes() const noexcept;
  [[gnu::noinline]] void leave() noexcept;
  unsigned eligible(std::array<unsigned, max_threads>& ids, unsigned from) noexcept;
  void refuse_freed(const void* address) noexcept;
  void race(const char* what, const void* address, unsigned other) noexcept;
  std::string render();
  std::string name_of(const void* address);

  options options_;
  choices choices_;
  memory memory_;
  std::array<thread_state, max_threads> threads_;
  unsigned count_ = 0;
  unsigned current_ = 0;
  unsigned preemptions_ = 0;
  unsigned stale_reads_ = 0;
  unsigned steps_ = 0;
  std::uint64_t tickets_ = 0;
  bool active_ = false;
  bool failed_ = false;
  std::string reason_;
  seen_states seen_;
  views_told_apart views_;
  location_names names_{};                          // of the locations of memory_
  std::vector<char, host_allocator<char>> statics_; // what stood in static variables at first
  jmp_buf host_;
  address_table<location_index> locations_;
  address_table<plain_record> plain_;
  address_table<const char*> labels_;
  std::vector<event, host_allocator<event>> events_;
  std::array<void**, 4> thread_words_{};
  std::array<void*, 4> initial_words_{};
  unsigned thread_word_count_ = 0;
};

} // namespace weft::model
