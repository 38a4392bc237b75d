// SPDX-License-Identifier: MIT
// What the workers of a run share, and how a run begins and ends.
#pragma once

#include <sched.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/base/atomic.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/compose/run_options.hpp"
#include "weft/compose/unit.hpp"
#include "weft/os/affinity.hpp"
#include "weft/queue/locked_fifo.hpp"

namespace weft::compose {

// Ownership: `workers` is written before any of them runs; the rest is thread-safe. Invariant: `alive` counts
// main and the detached threads that have not ended; at 0 the run is over.
template <class P>
struct shared_state {
  using worker = typename P::template worker<P>;
  using unit = compose::unit<P>;

  explicit shared_state(unsigned count) : idle(count) {
    for (unsigned i = 0; i < count; ++i)
      workers.push_back(std::make_unique<worker>(*this, i));
  }

  std::vector<std::unique_ptr<worker>> workers;
  typename P::template scheduler<P> scheduler;
  typename P::idle_strategy idle;
  typename P::event_sources sources;
  base::spin_lock polling;     // one worker at a time polls the sources
  queue::locked_fifo injected; // ready threads that no worker's queue has taken
  unit* main = nullptr;
  std::size_t main_stack = 0;

  [[nodiscard]] bool stopped() const noexcept {
    return alive_.load_acquire() == 0; // acquire: pairs with (CA1)
  }
  void one_more() noexcept { alive_.fetch_add_relaxed(1); } // relaxed: the caller is alive itself
  void one_less() noexcept {
    // (CA1) acq_rel: all that the threads did is seen by whoever stops
    if (alive_.fetch_sub_acq_rel(1) == 1)
      idle.wake_all();
  }
  // Makes `u` ready from anywhere, without memory. Contexts: any kernel thread. Switches: never.
  void inject(unit& u) noexcept {
    injected.push_back(&u.link);
    idle.announce();
  }

 private:
  base::atomic<std::size_t> alive_{1};
};

// The run of page P that is under way: one at a time. Kernel threads that are none of its workers find it
// here. Ordering: (CR1) the registration publishes the state; pairs with (CR2). A visitor makes somebody
// ready who must end before the run does, so the end of the run sees its count, and waits until it has left
// the state.
template <class P>
class run_registration {
 public:
  explicit run_registration(shared_state<P>& s) {
    shared_state<P>* none = nullptr;
    if (!running_.cas_strong_acq_rel(none, &s)) // (CR1); acquire: an earlier run is over
      throw std::system_error(std::make_error_code(std::errc::device_or_resource_busy),
                              "weft: this runtime runs already");
  }
  ~run_registration() {
    running_.store_release(nullptr);      // release: the run is over; pairs with the exchange above (CR1)
    while (visitors_.load_acquire() != 0) // acquire: their last access was before; pairs with (CR3)
      ::sched_yield();
  }
  run_registration(const run_registration&) = delete;
  run_registration& operator=(const run_registration&) = delete;

  // Makes `u` ready, which is suspended. Contexts: any kernel thread, while the run is under way. Switches:
  // never. Errors: none.
  static void inject(typename shared_state<P>::unit& u) noexcept {
    visitors_.fetch_add_acq_rel(1);
    running_.load_acquire()->inject(u); // acquire (CR2): pairs with (CR1)
    visitors_.fetch_sub_release(1);     // (CR3) release: the state may go
  }

 private:
  static inline base::atomic<shared_state<P>*> running_{nullptr};
  static inline base::atomic<unsigned> visitors_{0};
};

// What main() leaves behind: a value or an exception.
template <class Result>
class outcome {
 public:
  template <class F>
  void make(F& f) noexcept {
    try {
      if constexpr (std::is_void_v<Result>) {
        f();
      } else {
        value_.emplace(f());
      }
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  Result take() {
    if (error_)
      std::rethrow_exception(std::exchange(error_, nullptr));
    if constexpr (!std::is_void_v<Result>)
      return std::move(*value_);
  }

 private:
  struct nothing {};
  std::exception_ptr error_;
  std::optional<std::conditional_t<std::is_void_v<Result>, nothing, Result>> value_;
};

// As many as the calling kernel thread may use CPUs; at least 1.
inline unsigned usable_cpus() {
  os::cpu_list cpus;
  return os::current_affinity(cpus) == 0 && !cpus.empty() ? static_cast<unsigned>(cpus.size()) : 1;
}

} // namespace weft::compose
