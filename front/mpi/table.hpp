// SPDX-License-Identifier: MIT
// Requests that threads wait for, in one table for the process. Workers look at it when they look at event
// sources (weft::event_source): those of every group from which a thread has waited. Who looks tests requests
// in batches, and tells whose are complete.
#pragma once

#include "front/mpi/engine.hpp"
#include "weft/door/waiting.hpp"
#include "weft/suspended_thread.hpp"

#include <cstddef>

namespace weft::mpi {

/// What a thread waits for: several things perhaps. *Ownership*: its frame, until it goes on.
struct joint {
  weft::suspended_thread place;
  std::size_t left = 0; // the thread's until it waits, then whoever looks has it
};

/// A request, or a question that is asked at each look. *Ownership*: the table from enter() until its joint
/// is told; then the waiting thread.
struct entry {
  joint* of = nullptr;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
  int code = MPI_SUCCESS;
  /// Instead of a request: whether the wait is over, `code` is set then. Called with the engine's turn; it
  /// neither waits nor switches.
  bool (*ask)(entry& self) = nullptr;
  void* with = nullptr;
  entry* next = nullptr;
};

/// Suspends the caller until all `count` entries are through; `shown` is what `weft ps` says of it.
/// *Contexts*: thread. *Switches*: always. *Errors*: std::bad_alloc: nothing has changed.
void wait_in_table(joint& j, entry* entries, std::size_t count, const door::message_wait& shown);

/// Whether nobody waits in it. A hint. *Contexts*: all. *Switches*: never.
[[nodiscard]] bool table_is_empty() noexcept;

/// By a caller that has tested in vain: one look now and then, the more often the fewer wait. *Contexts*:
/// thread, foreign kernel thread. *Switches*: never.
void look_after_test() noexcept;

/// So many windows have been opened, or closed where it is negative: while there are any, who sleeps looks
/// all the time. *Contexts*: all. *Switches*: never.
void count_windows(int more) noexcept;

} // namespace weft::mpi
