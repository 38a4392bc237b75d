// SPDX-License-Identifier: MIT
// The default scheduler. A scheduler picks, it does not loop (docs/design/schedulers-pick.md). One object a
// runtime; what belongs to a worker is in the worker.
#pragma once

#include <cstddef>

#include "weft/trace/event.hpp"

namespace weft::compose {

template <class P>
struct unit;

// Each worker runs what is in its own ready queue, and takes from the others in turn, beginning anywhere,
// when that is empty. `Worker` has queue, shared.workers, recorder, random().
template <class P>
class stealing_scheduler {
 public:
  using unit = compose::unit<P>;

  // `u` is ready. False: no memory, nothing changed. Contexts of all: the worker `w`. Switches: never.
  template <class Worker>
  [[gnu::always_inline]] bool add(Worker& w, unit& u) noexcept {
    return w.queue.push(u);
  }
  // What runs next on `w`; null: nothing.
  template <class Worker>
  [[gnu::always_inline]] unit* next(Worker& w) noexcept {
    if (unit* u = w.queue.pop())
      return u;
    return steal(w);
  }
  // What runs next after a yield, which has to let the others go first. Null: the caller goes on.
  template <class Worker>
  [[gnu::always_inline]] unit* next_after_yield(Worker& w) noexcept {
    return w.queue.pop_oldest();
  }
  // Takes `u`, which may have started, run or ended, if it is at hand. A scheduler that cannot tell says no.
  template <class Worker>
  [[gnu::always_inline]] bool take(Worker& w, unit& u) noexcept {
    return w.queue.pop_if(u);
  }
  // RACY: whether next() on `w` may find something.
  template <class Worker>
  [[nodiscard]] bool has_work(Worker& w) const noexcept {
    for (auto& other : w.shared.workers) {
      if ((other.get() == &w || other->queue.shared) && !other->queue.empty())
        return true;
    }
    return false;
  }

 private:
  template <class Worker>
  [[gnu::noinline]] unit* steal(Worker& w) noexcept {
    if constexpr (decltype(w.queue)::shared) {
      const std::size_t count = w.shared.workers.size();
      std::size_t victim = w.random() % count;
      for (std::size_t i = 0; i < count; ++i, victim = victim + 1 < count ? victim + 1 : 0) {
        auto& other = *w.shared.workers[victim];
        unit* u = &other != &w ? other.queue.steal() : nullptr;
        if (u != nullptr) {
          w.recorder.note(trace::event::steal, u);
          return u;
        }
      }
    }
    return nullptr;
  }
};

} // namespace weft::compose
