// SPDX-License-Identifier: MIT
// A random program: a few threads, a list of instructions each, and the objects that these name by number.
// Plain data that the runtime (interpreter.hpp) and the sequential model (model.hpp) carry out alike, that
// can be written as text and read back, and from which a shrinker can take parts away.
//
// Why every program has one outcome, whatever the scheduler does: what waits (acquire, receive, join, ...)
// has one waiter an object, or waits for what never goes away again (a latch at 0, a future's value), so
// nobody can take from another what he waits for (Kahn's networks); and what several contend for (locks) is
// only held around instructions that do not wait for others, in ascending order. So if one schedule runs to
// the end, all do, to the same end. What is left to chance (whether try_lock() succeeds, where a cancelled
// thread ends) is noted by the run, and the model is told.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::random_programs {

enum class op : std::uint8_t {
  // Effects.
  add,       // counter a += n
  compute,   // n rounds of nothing
  yield,     //
  sleep,     // n us
  give_way,  // yield to thread a
  set_key,   // own value of key a = n
  get_key,   //
  move,      // the caller goes on in pool a
  call,      // under delegator a, wherever: guarded a += n
  post,      // the same, not waited for
  fork,      // n calls, forked and joined; counter a += n
  group,     // n threads of a task group; counter a += n
  hand_over, // n times to another thread, which adds 1 to counter a, and back
  nest,      // n threads under a scheduler that is pushed into a pool; counter a += n
  errand,    // n calls that others make, in one of many ways; counter a += n
  time_out,  // a timed wait for what never comes
  // With a body, which waits for nobody.
  lock,     // guarded a += n, and the body, under lock a
  try_lock, // the same if it is free now, or within n us (way 1)
  share,    // the body under lock a, shared
  permit,   // the body, with one of two permits
  handle,   // the body inside of a catch block, from which it is thrown on
  keep,     // the body without being preempted
  // Waits, and what they wait for.
  release,    // n permits of semaphore a
  acquire,    //
  count_down, // latch a
  wait,       //
  arrive,     // at barrier a
  set,        // future a = n
  get,        //
  send,       // n into channel a
  receive,    //
  raise,      // flag a
  spin,       // until flag a is raised, by computing
  stop,       // stop source a
  await_stop, // in a wait that ends by that only
  resume,     // thread a
  suspend,    //
  // Lives.
  spawn,       // thread a
  join,        //
  cancel,      //
  ask_to_move, // thread a, to pool n
  exit,        // the caller ends
};
inline constexpr unsigned op_count = static_cast<unsigned>(op::exit) + 1;

struct instruction {
  op what = op::yield;
  std::uint8_t a = 0;   // the object or thread
  std::uint8_t way = 0; // which of several calls that mean the same
  long n = 0;
  std::vector<instruction> body{};
};
using code = std::vector<instruction>;

enum class unit_kind : std::uint8_t { thread, tasklet, foreign };
enum class lock_kind : std::uint8_t { mutex, recursive, mcs, shared, delegator, light };
inline constexpr unsigned lock_kinds = 6;
enum class semaphore_kind : std::uint8_t { semaphore, condition, condition_any, place };
inline constexpr unsigned semaphore_kinds = 4;

struct thread_spec {
  unit_kind kind = unit_kind::thread;
  std::uint8_t technique = 0;  // a technique_id
  std::uint8_t preemption = 0; // a weft::preemption
  std::uint8_t pool = 0;       // 0: its creator's, else pool 1 or 2
  std::uint8_t joiner = 0;     // who may join, cancel, move it; before it in the list
  bool detached = false;       // nobody joins
  bool cancellable = false;    // others wait for nothing that it does
  code body{};
};

// The number of objects of each kind.
inline constexpr unsigned counters = 4, locks = 4, semaphores = 4, latches = 2, barriers = 2, futures = 4,
                          channels = 4, flags = 4, stops = 2, keys = 2, pools = 3;
inline constexpr unsigned most_threads = 24;

// The runtime that programs of one batch share. Its numbers mean what the machine says (cxx_machine.cpp,
// abt_machine.cpp).
struct set_up {
  unsigned workers = 1;
  unsigned pools = 0; // the arrangement
  unsigned side = 0;  // what pools 1 and 2 are
  bool operator==(const set_up&) const = default;
};

struct program {
  std::uint64_t seed = 0;
  set_up where{};
  std::array<lock_kind, locks> lock{};
  std::array<semaphore_kind, semaphores> semaphore{};
  // 0 and 1: one sender and a bound; the others have neither.
  std::array<std::uint8_t, channels> capacity{};
  std::vector<thread_spec> threads{}; // 0: the primary thread
};

[[nodiscard]] const char* name_of(op what) noexcept;
[[nodiscard]] bool has_body(op what) noexcept;
// Whether it is n calls by others.
[[nodiscard]] bool is_done_by_others(op what) noexcept;
// Whether `a` is a thread. Such an instruction waits until that has been spawned.
[[nodiscard]] bool names_thread(op what) noexcept;
// Whether one may be released by who must not wait.
[[nodiscard]] constexpr bool releases_without_waiting(semaphore_kind k) noexcept {
  return k == semaphore_kind::semaphore || k == semaphore_kind::place;
}
// Whether it needs that others do something.
[[nodiscard]] bool may_wait(op what) noexcept;
// Where a request to cancel is acted on.
[[nodiscard]] bool is_cancellation_point(op what) noexcept;
// Instructions, those in bodies counted.
[[nodiscard]] std::size_t size_of(const program& p) noexcept;

// Text that from_text() reads back.
[[nodiscard]] std::string to_text(const program& p);
// Errors: std::runtime_error with the line.
[[nodiscard]] program from_text(const std::string& text);

// Calls f(instruction, thread) for each one, bodies included.
template <class F>
void for_each_instruction(const code& c, unsigned thread, const F& f) {
  for (const instruction& i : c) {
    f(i, thread);
    for_each_instruction(i.body, thread, f);
  }
}
template <class F>
void for_each_instruction(const program& p, const F& f) {
  for (unsigned t = 0; t < p.threads.size(); ++t)
    for_each_instruction(p.threads[t].body, t, f);
}

} // namespace weft::random_programs
