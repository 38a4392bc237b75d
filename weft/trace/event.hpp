// SPDX-License-Identifier: MIT
// What can be recorded: events on a worker's timeline, and counters that are always kept because they cost
// one increment on paths that are slow anyway.
#pragma once

#include <cstdint>

#include "weft/base/atomic.hpp"

namespace weft::trace {

enum class event : std::uint8_t {
  run,        // a unit starts or goes on; argument: unit_kind
  stop_yield, // it yielded
  stop_wait,  // it blocked
  stop_end,   // it ended
  steal,      // argument: the victim's number
  park,       // the worker goes to sleep
  unpark,     // it woke
  migrate,    // a unit moved to another pool
};

// The argument of event::run.
enum unit_kind : std::uint32_t { thread_kind = 0, tasklet_kind = 1 };

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
  counter polls;
  counter timers_fired;
  counter migrations;
  counter stack_failures; // starts put off because no stack could be had
  counter handed_on;      // threads that started on the stack of one that had just ended
  counter watched;        // threads of no fixed technique whose joiners watched them: one in some 500 joins
  counter deviated;       // those among them that did not run to their end at once

  // Calls action(name, counter) for each of them.
  template <class Counters, class Action>
  static void for_each(Counters& all, Action action) {
    action("started", all.started);
    action("steals", all.steals);
    action("steal_attempts", all.steal_attempts);
    action("parks", all.parks);
    action("polls", all.polls);
    action("timers_fired", all.timers_fired);
    action("migrations", all.migrations);
    action("stack_failures", all.stack_failures);
    action("handed_on", all.handed_on);
    action("watched", all.watched);
    action("deviated", all.deviated);
  }
  counters& operator+=(const counters& other) noexcept {
    started += other.started;
    steals += other.steals;
    steal_attempts += other.steal_attempts;
    parks += other.parks;
    polls += other.polls;
    timers_fired += other.timers_fired;
    migrations += other.migrations;
    stack_failures += other.stack_failures;
    handed_on += other.handed_on;
    watched += other.watched;
    deviated += other.deviated;
    return *this;
  }
};

} // namespace weft::trace
