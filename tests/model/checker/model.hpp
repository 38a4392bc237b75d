// SPDX-License-Identifier: MIT
// What a model test writes: threads, checks, blocking, and the call that explores every interleaving.
// Guide and example: tests/model/README.md.
#pragma once

#include "tests/model/checker/backend.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace weft::model {

inline constexpr unsigned unlimited = 1'000'000;

/// How far to look. Depth-first unless random_executions > 0.
struct options {
  unsigned preemptions = 3; ///< switches away from a thread that could go on, per execution
  unsigned stale_reads =
      3; ///< loads that return an older store (or fail a weak CAS without cause), per execution
  unsigned max_steps = 2000;                ///< operations of one execution before it counts as a livelock
  std::uint64_t max_executions = 3'000'000; ///< depth-first: stop here, incomplete
  std::uint64_t random_executions = 0;      ///< > 0: so many random walks instead
  /// Depth-first: stop an execution in a state that has been met before (README.md, "Merging").
  bool merge = false;
  std::uint64_t max_states = 20'000'000; ///< merging: stop here, incomplete
  std::uint64_t seed = 1;                ///< of the random walks; printed on failure
};

struct result {
  bool failed = false;
  bool complete = false; ///< every execution within the bounds has been run
  std::uint64_t executions = 0;
  std::uint64_t states = 0; ///< of which some were stopped, if merging
  std::string reason;       ///< of the failure
  std::string report;       ///< the failing schedule, one operation a line
};

/// Runs `body` in all executions that the options allow, until one fails. `body` runs as model thread 0,
/// makes its own state, and must do the same each time but for what the checker decides. On failure prints
/// the schedule to stderr unless `quiet`. What a failing execution had allocated leaks.
result explore(const options& how, const std::function<void()>& body, bool quiet = false);

/// A model thread. Starting one happens before its body, its end before join() returns. Joins when destroyed.
class thread {
 public:
  explicit thread(std::function<void()> body);
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;
  ~thread() { join(); }
  void join();
  unsigned id() const noexcept { return id_; }

 private:
  unsigned id_;
  bool joined_ = false;
};

/// What calls that have returned left below the caller's frame.
void clear_stack() noexcept;

/// Calls f() so that it leaves nothing on the stack: two executions that differ in what it found, and not in
/// what it did, are merged.
template <class F>
[[gnu::noinline]] void apart(F&& f) {
  f();
}
template <class F>
void leaving_nothing(F&& f) {
  apart(f);
  clear_stack();
}

/// Index of the running model thread, 0 to max_threads - 1.
unsigned self() noexcept;

/// Fails the execution with `text` unless `condition`.
void check(bool condition, const char* text) noexcept;

/// Ends the execution as failed.
[[noreturn]] void fail(const std::string& reason) noexcept;

/// A word of which each model thread has one of its own, `initial` at first, as of `thread_local` variables:
/// what stands in it is exchanged when another thread runs. To be said in each execution, by thread 0, before
/// it starts others.
void thread_word(void** word, void* initial);
template <class T>
void thread_word(T** word, T* initial) {
  thread_word(reinterpret_cast<void**>(word), initial);
}

/// A signal: `handler` runs on the stack of that thread, between any two of its operations from now on, at
/// the latest before it blocks; never, if it ends before. A second one before that is one with the first.
void interrupt(unsigned thread_id, void (*handler)()) noexcept;

/// One of `count` ways to go on: all are explored.
unsigned choose(unsigned count) noexcept;

/// Gives a location a name in reports.
void label(const void* address, const char* name);

/// Blocks until unpark() has been called for this thread once more than park() consumed; at most one is kept.
/// unpark() happens before the park() that it ends.
void park() noexcept;
/// As park(), but may give up at any time; false then.
bool park_timed() noexcept;
void unpark(unsigned thread_id) noexcept;

/// Linux's futex: compares the newest value of the 4-byte atomic at `word` and blocks in one step. Returns 0,
/// EAGAIN, or with `timed` ETIMEDOUT at any time. Orders nothing.
int futex_wait(const void* word, std::uint32_t expected, bool timed) noexcept;
int futex_wake(const void* word, int count) noexcept;

/// Tells the checker that the caller spins: another thread runs first, and what was read before is read
/// afresh.
inline void relax() noexcept {
  on_relax();
}

} // namespace weft::model
