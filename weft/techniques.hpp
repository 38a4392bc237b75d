// SPDX-License-Identifier: MIT
// Threads whose threading technique is part of their type, so that creation and join are inlined for it. What
// each technique is: docs/guide/techniques.md.
#pragma once

#include <utility>

#include "weft/sched/technique_join.hpp"
#include "weft/thread.hpp"

namespace weft {

// A weft::thread of technique T; it converts to one, whose join() works as well but asks first.
template <technique_id T>
class thread_of : public thread {
 public:
  static constexpr technique_id technique = T;

  thread_of() noexcept = default;

  // Contexts, errors: as the constructor of weft::thread. Switches: never, but child-first ones (C-...)
  // always if the caller is a thread of the pool's worker that handles no exception.
  template <class F, class... Arguments>
    requires(!std::is_base_of_v<thread, std::remove_cvref_t<F>>)
  [[gnu::always_inline]] explicit thread_of(F&& f, Arguments&&... arguments) {
    auto call = detail::bind_call(std::forward<F>(f), std::forward<Arguments>(arguments)...);
    using closure = detail::closure<decltype(call)>;
    unit_ = &sched::create_of<T, closure::trivial>(
        closure::thread_operations, [&call](unit::descriptor& u) { closure::fill(u, std::move(call)); });
  }

  using thread::join;
  // Contexts, switches, errors: as weft::thread::join().
  [[gnu::always_inline]] void join() {
    if (unit_ == nullptr) [[unlikely]]
      detail::throw_not_joinable();
    sched::join_of<T>(*unit_);
    sched::free_unit(sched::here(), *std::exchange(unit_, nullptr));
  }
};

} // namespace weft
