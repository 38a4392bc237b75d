// SPDX-License-Identifier: MIT
// The page: what a runtime is made of, one alias a part. A runtime of one's own derives from it and replaces
// aliases; weft::compose::runtime<page> (weft/compose.hpp) has its thread, mutex and so on. What each part
// has to offer stands in parts.hpp; why it is so, in docs/design/policies.md.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/compose/event_sources.hpp"
#include "weft/compose/idle.hpp"
#include "weft/compose/native_context.hpp"
#include "weft/compose/ready_queues.hpp"
#include "weft/compose/recorders.hpp"
#include "weft/compose/schedulers.hpp"
#include "weft/compose/stacks.hpp"
#include "weft/compose/sync.hpp"
#include "weft/compose/techniques.hpp"
#include "weft/compose/worker.hpp"

namespace weft::compose {

struct default_policies {
  using context = native_context; // how a thread stops and goes on
  template <class Unit>
  using ready_queue = stealing_deque<Unit>; // a worker's ready threads
  template <class P>
  using worker = cooperative_worker<P>; // how threads start, wait, end
  template <class P>
  using scheduler = stealing_scheduler<P>;                    // who runs next
  using stack_source = cached_stacks;                         // where stacks come from
  using techniques = technique_set<inline_join, child_first>; // how threads may start; the first is the usual
  template <class P>
  using mutex = queued_mutex<P>;
  using idle_strategy = parking_idle;     // what a worker does that has nothing to run
  using event_sources = no_event_sources; // what outside makes threads ready
  using recorder = no_recorder;           // who is told of what happens
  template <class T>
  using atomic = base::atomic<T>; // the runtime's own shared words
};

} // namespace weft::compose
