// SPDX-License-Identifier: MIT
// "Fail the first call, then the second, ... until the operation gets through": the loop of the fault tests.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <gtest/gtest.h>
#include <new>
#include <sched.h>
#include <string>
#include <string_view>
#include <system_error>

#include "tests/fault/injected_new.hpp"
#include "tests/unit/kernel_thread_count.hpp"
#include "weft/os/fault.hpp"
#include "weft/weft.hpp"

namespace weft::fault_test {

using os::fault_site;

struct named_site {
  fault_site site;
  const char* name;
};
inline constexpr named_site all_sites[] = {
    {fault_site::mmap, "mmap"},
    {fault_site::madvise, "madvise"},
    {fault_site::mprotect, "mprotect"},
    {fault_site::thread_create, "thread_create"},
    {fault_site::timer_create, "timer_create"},
    {fault_site::memory, "memory"},
    {fault_site::descriptor, "descriptor"},
    {fault_site::registration, "registration"},
    {fault_site::io_uring, "io_uring"},
    {fault_site::shadow_stack, "shadow_stack"},
    {fault_site::interrupted, "interrupted"},
    {fault_site::submission, "submission"},
};

inline const char* name_of(fault_site site) {
  return all_sites[static_cast<unsigned>(site)].name;
}

inline int error_of(fault_site site) {
  switch (site) {
  case fault_site::thread_create:
  case fault_site::submission:
    return EAGAIN;
  case fault_site::interrupted:
    return EINTR;
  default:
    return ENOMEM;
  }
}

// But for the one that sees to timers, which comes when it is first needed and stays while there are groups.
inline std::size_t kernel_threads() {
  return test::kernel_threads_if([](std::string_view name) { return !test::sees_to_timers(name); });
}

// Looks until what is expected is there; what it was at last. Things end a moment after somebody was told
// that they do (a kernel thread that was joined is in /proc a little longer, a detached thread that has
// released its group is about to give its stack back), and how long that takes does not matter: what never
// comes is found by the bound, which is far beyond it.
template <class Look, class Value>
Value settled_at(const Value& expected, Look look) {
  Value now = look();
  for (int looks = 0; !(now == expected) && looks < 20'000; ++looks) {
    weft::this_thread::yield();
    ::sched_yield();
    now = look();
  }
  return now;
}

inline std::size_t kernel_threads_settled_at(std::size_t expected) {
  return settled_at(expected, kernel_threads);
}

// An error of the runtime: of a documented type, and with a sentence.
inline bool clear(const std::exception& e) {
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr)
    return true;
  const auto* system = dynamic_cast<const std::system_error*>(&e);
  return system != nullptr && std::string(e.what()).find("weft: ") == 0 && system->code().value() != 0;
}

// What an operation that failed, or was undone, must leave as it was.
struct state_of_process {
  runtime::census alive{};
  std::size_t kernel = 0;

  static state_of_process now() { return {runtime::count(), kernel_threads()}; }

  bool operator==(const state_of_process& other) const {
    return kernel == other.kernel && alive.units == other.alive.units && alive.stacks == other.alive.stacks &&
           alive.timers == other.alive.timers && alive.workers == other.alive.workers;
  }
  void expect_again(const std::string& when) const {
    const state_of_process after = settled_at(*this, now);
    EXPECT_EQ(after.kernel, kernel) << when;
    EXPECT_EQ(after.alive.units, alive.units) << when;
    EXPECT_EQ(after.alive.stacks, alive.stacks) << when;
    EXPECT_EQ(after.alive.timers, alive.timers) << when;
    EXPECT_EQ(after.alive.workers, alive.workers) << when;
  }
};

// Runs `operation` with the nth call of `site` failing; the error that it threw, if any.
template <class Operation>
std::exception_ptr attempt(fault_site site, std::uint64_t nth, reach whose, Operation& operation) {
  std::exception_ptr error;
  {
    const allocations_may_fail open(whose);
    os::fail_nth(site, nth, error_of(site));
    try {
      operation();
    } catch (...) {
      error = std::current_exception();
    }
    os::disarm_faults();
  }
  return error;
}

// How many attempts met the fault, and how many of those ended with an error.
struct tally {
  std::uint64_t hits = 0;
  std::uint64_t errors = 0;
};

// `undo` takes back what a successful operation has done, and copes with one that failed; no fault happens in
// it.
template <class Operation, class Undo>
tally fail_each_call(fault_site site, reach whose, Operation operation, Undo undo) {
  constexpr std::uint64_t most = 2000;
  tally seen;
  for (std::uint64_t nth = 1; nth <= most; ++nth) {
    const std::string when = std::string(name_of(site)) + " call " + std::to_string(nth);
    SCOPED_TRACE(when);
    const state_of_process before = state_of_process::now();
    const std::exception_ptr error = attempt(site, nth, whose, operation);
    const bool hit = os::fault_hits(site) != 0;
    try {
      if (error)
        std::rethrow_exception(error);
    } catch (const std::exception& e) {
      ++seen.errors;
      EXPECT_TRUE(hit) << "an error although nothing was made to fail: " << e.what();
      EXPECT_TRUE(clear(e)) << e.what();
    }
    undo();
    before.expect_again("after the attempt");
    if (!hit)
      return seen;
    ++seen.hits;
    EXPECT_NO_THROW(operation()) << "once there is memory again";
    undo();
    before.expect_again("after the second attempt");
    if (::testing::Test::HasFailure())
      return seen; // the next one would say the same
  }
  ADD_FAILURE() << "still failing after " << most << " calls of " << name_of(site);
  return seen;
}

template <class Operation>
tally fail_each_call(fault_site site, reach whose, Operation operation) {
  return fail_each_call(site, whose, operation, [] {});
}

} // namespace weft::fault_test
