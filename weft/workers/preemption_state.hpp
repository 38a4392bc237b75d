// SPDX-License-Identifier: MIT
// What a worker and those who tick tell each other of the preemptible thread that runs on it, and of a
// cooperative one that may leave it. Ownership: the worker, unless said.
#pragma once

#include <cstdint>

#include "weft/base/atomic.hpp"
#include "weft/events/timer_queue.hpp"
#include "weft/unit/descriptor.hpp"

namespace weft::sched {

using unit::descriptor;

// Whether others would run on a worker if the thread that it runs did not. A hint. Whoever comes later says
// so himself, but not where pools are the scheduler's own affair (`nobody_known`).
enum class waiting : std::uint8_t {
  nobody,
  nobody_known,
  somebody,
};

struct preemption_state {
  // The preemptible thread in user mode, by its serial; 0: none.
  base::atomic<std::uint32_t> user_mode_serial{0};
  base::atomic<std::uint32_t> tick_flag{0}; // the serial of one that should leave; written by whoever ticks
  base::atomic<waiting> others_wait{waiting::nobody}; // when that thread went to user mode, or since
  std::uint32_t ticked_alone = 0; // the serial of one that left by a tick when nobody else was there
  base::atomic<std::uint32_t> user_mode_class{0}; // its class of priority, where there are several
  base::atomic<std::uint32_t> kicked{0}; // 1: it was told to leave for a higher one; by whoever pushed
  std::uint32_t preempted = 0;           // threads that left by a tick
  bool left_by_tick = false;             // the last that was preempted did not ask for it
  // When whoever ticks shall tick it whatever the interval; 0: never. And until when the interval does not
  // matter.
  base::atomic<deadline> planned_tick{0};
  base::atomic<deadline> unhurried_until{0};
  base::atomic<const descriptor*> kept_by{nullptr}; // the last that was told to leave it and could not
  // Goes on with a call that a tick cut short, in the tick's handler: it is not ticked meanwhile.
  base::atomic<const descriptor*> goes_on_with_call{nullptr};
  // 1: who ticks waits for an answer; 0: since it wrote that, the handler of a tick has begun.
  base::atomic<std::uint32_t> tick_on_its_way{0};
  // 1: it shall let a thread go alone when it is ticked. Written by whoever ticks.
  base::atomic<std::uint32_t> is_stuck{0};
};

} // namespace weft::sched
