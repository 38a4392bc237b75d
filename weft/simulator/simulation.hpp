// SPDX-License-Identifier: MIT
// A whole program's workers in turn on one kernel thread, with a seeded choice of who goes on at every point
// where it matters: the same seed gives the same schedule. Each worker is a coroutine; where it would wait in
// the kernel it gives its turn away, and time is virtual. docs/design/simulation.md has the argument,
// docs/guide/simulation.md what a user sees.
//
// Ownership: the host, which is the kernel thread that began the simulation. Everything here is for it alone.
#pragma once

#include <cstdint>

#include "weft/base/export.hpp"
#include "weft/base/virtual_kernel.hpp"
#include "weft/events/timer_queue.hpp"

namespace weft::sched {

struct worker;

struct simulation {
  // Where a choice was made: what the trace tells, and part of the schedule's hash.
  enum class at : std::uint8_t { entry, exit, decision, yield, wait, sleep, end, user };

  // RACY for kernel threads other than the host.
  [[nodiscard]] static bool is_active() noexcept {
    return base::virtual_kernel_of_process.load(std::memory_order_relaxed) != nullptr;
  }
  [[nodiscard]] static bool is_host() noexcept { return base::virtual_kernel_here() != nullptr; }

  // Workers that are made from now on are virtual ones, and the caller is the host. Errors:
  // std::system_error: operation_not_permitted if there are workers or it is simulated already;
  // std::bad_alloc.
  WEFT_API static void begin(std::uint64_t seed);
  // Errors: std::system_error(operation_not_permitted) from another kernel thread than the host, or while
  // there are virtual workers.
  WEFT_API static void end();
  // As begin(), for the rest of the process, if WEFT_SIM says so. Errors: also invalid_argument for a value
  // that is no number.
  static void begin_if_asked();
  // Throws std::system_error(not_supported) on any other kernel thread than the host while it is simulated.
  static void refuse_others(const char* what);
  // The child of fork(): whoever chooses next is told that there cannot be a next.
  static void end_in_child_of_fork() noexcept;

  // Somebody else may go on first, as the seed says. Nothing where nothing is simulated, or where the caller
  // cannot be left: the code that a worker runs between two units. Contexts: all but signal handlers.
  // Switches: never; other workers run.
  WEFT_API static void point(at where) noexcept;
  // The same between two units; `yield`: the worker is idle, others go first.
  static void turn(at where) noexcept;

  // `w` runs its loop in turn with the others from now on. Errors: std::bad_alloc.
  static void start(worker& w, void (*life)(worker&));
  // Waits until that has ended.
  static void join(worker& w) noexcept;
  // The host goes on as the worker, or no more.
  static void adopt(worker* w) noexcept;

  // What the victims of thieves are drawn from; 0 where nothing is simulated.
  [[nodiscard]] WEFT_API static std::uint64_t salt() noexcept;
  // How long an idle worker searches, of what it would without a simulation.
  [[nodiscard]] static deadline search(deadline real) noexcept;

  // The number of the worker whose turn it is, in order of birth; 0: the host. Contexts: the host.
  [[nodiscard]] WEFT_API static unsigned running() noexcept;

  struct counts {
    std::uint64_t seed = 0;
    std::uint64_t decisions = 0; // choices
    std::uint64_t switches = 0;  // of them, those where another worker went on
    std::uint64_t schedule = 0;  // a hash of who was chosen where
    deadline now = 0;            // virtual nanoseconds since the begin
  };
  // Of the simulation that is under way, or of the last one.
  [[nodiscard]] WEFT_API static counts count() noexcept;

  // Told when one begins (true) and ends (false): a room above makes its fast paths slow. Set once, at load.
  WEFT_API static std::atomic<void (*)(bool) noexcept> told;
};

} // namespace weft::sched
