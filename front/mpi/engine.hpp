// SPDX-License-Identifier: MIT
// The MPI library below, and under what rules it is called: how many kernel threads may be in it at once, and
// whether this layer translates at all.
#pragma once

#include "weft/door/atomic.hpp"
#include "weft/door/roomy_call.hpp"
#include "weft/mutex.hpp"
#include "weft/preemption.hpp"

#include <mpi.h>

#include <cstddef>

namespace weft::mpi {

namespace detail {

// Settled by MPI_Init (process.cpp).
struct settled {
  bool is_on = false;
  door::atomic<int> level{MPI_THREAD_SINGLE};
  bool has_complete_send = false;
  MPI_Request complete_send{};
};
extern settled of_process;

} // namespace detail

/// Whether calls are translated: from MPI_Init on, unless WEFT_MPI=0. *Contexts*: all. *Switches*: never.
[[nodiscard]] inline bool is_on() noexcept {
  return detail::of_process.is_on;
}
/// What the engine has granted to this layer: MPI_THREAD_SINGLE until it has begun. *Contexts*: all.
[[nodiscard]] inline int granted_level() noexcept {
  return detail::of_process.level.load_acquire();
}
/// Whether several kernel threads may be in the library at once.
[[nodiscard]] inline bool engine_is_shared() noexcept {
  return granted_level() == MPI_THREAD_MULTIPLE;
}
/// Of the request of a send. True: it is complete, and there is nothing to give back: the engine has one
/// request for all sends that are complete at once. *Contexts*: all. *Switches*: never.
[[nodiscard]] inline bool is_complete_send(MPI_Request request) noexcept {
  return detail::of_process.has_complete_send && request == detail::of_process.complete_send;
}
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
  engine_section() : turns_(engine_is_shared() ? nullptr : &take_turn()) {}
  ~engine_section() {
    if (turns_ != nullptr)
      turns_->unlock();
  }
  engine_section(const engine_section&) = delete;
  engine_section& operator=(const engine_section&) = delete;

 private:
  static weft::mutex& take_turn(); // SWITCH: may resume on another worker
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

inline constexpr std::size_t room = std::size_t{256} << 10;

/// Runs what calls PMPI, with room for it: a test of one request goes on with all that is under way, and
/// MPICH has frames of 128 KiB, more than most threads have stack, and more than any guard. `call()` has its
/// own engine_section. *Contexts*: thread, foreign kernel thread, look. *Switches*: where the call does.
/// *Errors*: what the call throws, as an error handler may.
template <class Call>
void with_room(Call&& call, std::size_t least = room) {
  const no_preemption here;
  door::call_with_room(least, 2 * room, call);
}

/// The room that a send or a receive needs to begin, which looks at nothing else that is under way. By what
/// was measured with messages from 0 bytes to 5 MB, received before and after they came: 4 KiB in Open MPI,
/// 6 in MPICH, but 130 there of what is not contiguous.
[[nodiscard]] inline std::size_t room_for_message(MPI_Datatype type) noexcept {
  constexpr std::size_t little = std::size_t{32} << 10;
#if defined(OPEN_MPI)
  static_cast<void>(type);
  return little;
#else
  constexpr unsigned of_the_standard = 1; // the kind of a handle, in its two highest bits
  return static_cast<unsigned>(type) >> 30 == of_the_standard ? little : room;
#endif
}

} // namespace weft::mpi
