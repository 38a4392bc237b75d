// SPDX-License-Identifier: MIT
// What can be recorded: events on a worker's timeline, and counters that are always kept because they cost
// one increment on paths that are slow anyway.
#pragma once

#include <cstdint>

#include "weft/base/atomic.hpp"

namespace weft::trace {

enum class event : std::uint8_t {
  run,        // a unit starts or goes on; argument: run_argument()
  stop_yield, // it yielded
  stop_wait,  // it blocked
  stop_end,   // it ended
  steal,      // argument: the track of the victim, or no_track
  park,       // the worker goes to sleep
  unpark,     // it woke
  migrate,    // a unit moved to another pool
  search,     // the worker found nothing to run and looks further, until it runs or parks
  create,     // a unit was made and goes into a pool; argument: mark_of() who made it, 0: the loop
  ready,      // a unit that waited may go on; argument: mark_of() who made it so, 0: the loop
  join,       // whoever runs here waits for the end of this unit
  lock_wait,  // a lock is held and must be waited for; unit: its address; argument: mark_of() the waiter
  lock_got,   // such a wait is over (also given up); the same
  lock_pass,  // a lock that is waited for is released; unit: its address; argument: mark_of() the holder
};
inline constexpr unsigned event_count = static_cast<unsigned>(event::lock_pass) + 1;

// Where the argument is to say which object: 32 bits of its address, different for any two that are less than
// 64 GiB apart.
[[nodiscard]] inline std::uint32_t mark_of(const void* object) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(object) >> 4);
}
[[nodiscard]] constexpr std::uint32_t mark_of(std::uint64_t address) noexcept {
  return static_cast<std::uint32_t>(address >> 4);
}

// No worker's: the victim of a theft from a pool that several share.
inline constexpr std::uint32_t no_track = ~std::uint32_t{0};

enum unit_kind : std::uint32_t { thread_kind = 0, tasklet_kind = 1 };

// The argument of event::run: the kind, and the number of the unit's name in the track's list, from 1 on; 0:
// no name was kept.
[[nodiscard]] constexpr std::uint32_t run_argument(unit_kind kind, std::uint32_t name) noexcept {
  return kind | name << 8;
}
[[nodiscard]] constexpr unit_kind kind_in(std::uint32_t argument) noexcept {
  return (argument & 0xff) == tasklet_kind ? tasklet_kind : thread_kind;
}
[[nodiscard]] constexpr std::uint32_t name_in(std::uint32_t argument) noexcept {
  return argument >> 8;
}

// A number with one writer at a time that anybody may read: an increment is a load and a store, no locked
// instruction. Contexts: any. Switches: never. Errors: none; it wraps at 2^64.
// Ordering: all relaxed, since a counter publishes nothing but itself.
class counter {
 public:
  constexpr counter(std::uint64_t value = 0) noexcept : value_(value) {} // NOLINT: counts are numbers
  counter(const counter& other) noexcept : value_(other.get()) {}
  counter& operator=(const counter& other) noexcept {
    value_.store_relaxed(other.get());
    return *this;
  }
  counter& operator++() noexcept { return *this += 1; }
  counter& operator+=(std::uint64_t more) noexcept {
    value_.store_relaxed(get() + more);
    return *this;
  }
  [[nodiscard]] std::uint64_t get() const noexcept { return value_.load_relaxed(); }
  operator std::uint64_t() const noexcept { return get(); } // NOLINT: counts are numbers

 private:
  base::atomic<std::uint64_t> value_;
};

// Per worker, written by that worker only; others read them while it writes.
struct counters {
  counter started; // units started by the loop or a slow path
  counter steals;
  counter steal_attempts;
  counter parks;
  counter rests; // after thefts that brought little: park/thief_rest.hpp
  counter polls;
  counter timers_fired;
  counter migrations;
  counter stack_failures; // starts put off because no stack could be had
  counter handed_on;      // threads that started on the stack of one that had just ended
  counter
      sampled; // threads of no fixed technique whose joiners noted whether they did: one in some 500 joins
  counter deviated; // those among them that did not run to their end at once

  // Calls action(name, counter) for each of them.
  template <class Counters, class Action>
  static void for_each(Counters& all, Action action) {
    action("started", all.started);
    action("steals", all.steals);
    action("steal_attempts", all.steal_attempts);
    action("parks", all.parks);
    action("rests", all.rests);
    action("polls", all.polls);
    action("timers_fired", all.timers_fired);
    action("migrations", all.migrations);
    action("stack_failures", all.stack_failures);
    action("handed_on", all.handed_on);
    action("sampled", all.sampled);
    action("deviated", all.deviated);
  }
  counters& operator+=(const counters& other) noexcept {
    started += other.started;
    steals += other.steals;
    steal_attempts += other.steal_attempts;
    parks += other.parks;
    rests += other.rests;
    polls += other.polls;
    timers_fired += other.timers_fired;
    migrations += other.migrations;
    stack_failures += other.stack_failures;
    handed_on += other.handed_on;
    sampled += other.sampled;
    deviated += other.deviated;
    return *this;
  }
};

} // namespace weft::trace
