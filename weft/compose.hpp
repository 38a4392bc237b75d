// SPDX-License-Identifier: MIT
// Runtimes composed from policies. Guide: docs/guide/own-runtime.md.
//
//   struct my_page : weft::compose::default_policies {
//     template <class Unit>
//     using ready_queue = my_queue<Unit>;
//   };
//   using rt = weft::compose::runtime<my_page>;   // rt::thread, rt::mutex, rt::run(main), ...
//
// libweft is the default page: where no alias is replaced, the names are those of the compiled library.
#pragma once

#include <type_traits>
#include <utility>

#include "weft/barrier.hpp"
#include "weft/compose/composed.hpp"
#include "weft/condition_variable.hpp"
#include "weft/mutex.hpp"
#include "weft/runtime.hpp"
#include "weft/suspended_thread.hpp"
#include "weft/thread.hpp"

namespace weft::compose {

// The default page, as it is compiled.
struct libweft {
  using policies = default_policies;
  using thread = weft::thread;
  using attributes = weft::thread_attributes;
  using mutex = weft::mutex;
  using condition_variable = weft::condition_variable;
  using barrier = weft::barrier<>;
  using suspended_thread = weft::suspended_thread;

  [[gnu::always_inline]] static void yield() { this_thread::yield(); }

  // As composed<P>::run(). The default runtime stays if somebody relied on its automatic start; threads that
  // are detached are not waited for. `main_stack` is the kernel thread's. Errors: std::system_error.
  template <class Main>
  static auto run(Main&& main, const run_options& o = {}) {
    weft::runtime::options wanted;
    wanted.workers = o.workers;
    const weft::runtime::scope started(wanted);
    return main();
  }
};

// Whether page P replaces nothing.
template <class P>
inline constexpr bool is_default_page =
    std::is_same_v<typename P::context, default_policies::context> &&
    std::is_same_v<typename P::template ready_queue<unit<P>>, default_policies::ready_queue<unit<P>>> &&
    std::is_same_v<typename P::template worker<P>, default_policies::worker<P>> &&
    std::is_same_v<typename P::template scheduler<P>, default_policies::scheduler<P>> &&
    std::is_same_v<typename P::stack_source, default_policies::stack_source> &&
    std::is_same_v<typename P::techniques, default_policies::techniques> &&
    std::is_same_v<typename P::template mutex<P>, default_policies::mutex<P>> &&
    std::is_same_v<typename P::idle_strategy, default_policies::idle_strategy> &&
    std::is_same_v<typename P::event_sources, default_policies::event_sources> &&
    std::is_same_v<typename P::recorder, default_policies::recorder> &&
    std::is_same_v<typename P::template atomic<int>, default_policies::atomic<int>>;

// The one place where it is decided what a page becomes.
template <class P>
using runtime = std::conditional_t<is_default_page<P>, libweft, composed<P>>;

} // namespace weft::compose
