// SPDX-License-Identifier: MIT
// The MPI library below, and under what rules it is called: how many kernel threads may be in it at once, and
// whether this layer translates at all.
#pragma once

#include "weft/door/roomy_call.hpp"
#include "weft/mutex.hpp"
#include "weft/preemption.hpp"

#include <mpi.h>

#include <cstddef>

namespace weft::mpi {

/// Whether calls are translated: from MPI_Init on, unless WEFT_MPI=0. *Contexts*: all. *Switches*: never.
[[nodiscard]] bool is_on() noexcept;
/// Whether the caller stands in the look at the table (table.hpp): what MPI calls there goes straight to it.
[[nodiscard]] bool is_in_look() noexcept;
/// Whether a call of the caller's goes to the engine as it is. *Contexts*: all. *Switches*: never.
[[nodiscard]] inline bool goes_past_layer() noexcept {
  return !is_on() || is_in_look();
}

/// In scope: the caller may call PMPI. It is not preempted there, since the library has variables of kernel
/// threads. Where MPI_THREAD_MULTIPLE was not granted, callers take turns. *Contexts*: thread, foreign kernel
/// thread. *Switches*: at its beginning, where callers take turns; at its end, if a tick came.
class engine_section {
 public:
  engine_section();
  ~engine_section();
  engine_section(const engine_section&) = delete;
  engine_section& operator=(const engine_section&) = delete;

 private:
  weft::mutex* const turns_;
  const no_preemption here_;
};
/// The same for who must not wait. Whether it is the caller's turn.
class engine_attempt {
 public:
  engine_attempt();
  ~engine_attempt();
  engine_attempt(const engine_attempt&) = delete;
  engine_attempt& operator=(const engine_attempt&) = delete;
  explicit operator bool() const noexcept { return has_turn_; }

 private:
  weft::mutex* const turns_;
  const bool has_turn_;
  const no_preemption here_;
};

/// Runs what calls PMPI, with room for it: a test of one request goes on with all that is under way, and
/// MPICH has frames of 128 KiB, more than most threads have stack, and more than any guard. `call()` has its
/// own engine_section. *Contexts*: thread, foreign kernel thread, look. *Switches*: where the call does.
/// *Errors*: what the call throws, as an error handler may.
template <class Call>
void with_room(Call&& call) {
  constexpr std::size_t least = std::size_t{256} << 10, taken = 2 * least;
  const no_preemption here;
  door::call_with_room(least, taken, call);
}

/// Whether several kernel threads may be in the library at once.
[[nodiscard]] bool engine_is_shared() noexcept;

} // namespace weft::mpi
