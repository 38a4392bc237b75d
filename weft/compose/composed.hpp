// SPDX-License-Identifier: MIT
// A page of policies, as a runtime.
#pragma once

#include <functional>
#include <utility>

#include "weft/compose/default_policies.hpp"
#include "weft/compose/parts.hpp"
#include "weft/compose/suspended_thread.hpp"
#include "weft/compose/sync.hpp"
#include "weft/compose/thread.hpp"

namespace weft::compose {

// Instantiates the parts of page P. Two pages are two runtimes: their threads do not wait for each other.
template <class P>
struct composed {
  static_assert(checked_page<P>::good);

  using policies = P;
  using worker = typename P::template worker<P>;
  using thread = compose::thread<P>;
  using attributes = compose::attributes<P>;
  using mutex = typename P::template mutex<P>;
  using condition_variable = compose::condition_variable<P>;
  using barrier = compose::barrier<P>;
  using suspended_thread = compose::suspended_thread<P>;

  // Lets others run. Contexts: threads of this runtime. Switches: may. Errors:
  // std::system_error(operation_not_permitted) elsewhere.
  [[gnu::always_inline]] static void yield() { worker::yield(); }

  // Runs main() as the first thread, on o.workers workers; returns its result, or throws its exception, when
  // it and all detached threads have ended. Contexts: a kernel thread that runs no thread of Weft. Errors: as
  // the worker part says; device_or_resource_busy if this runtime runs already.
  template <class Main>
  static auto run(Main&& main, const run_options& o = {}) {
    return worker::run(main, o);
  }

  // The page's event sources, of the run that is under way. Contexts, errors: as yield().
  static typename P::event_sources& event_sources() { return worker::here().shared.sources; }
};

} // namespace weft::compose
