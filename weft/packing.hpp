// SPDX-License-Identifier: MIT
// Many equal threads on fewer workers: regions whose threads are laid out by how long they took the last
// time. docs/guide/packing.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "weft/base/export.hpp"
#include "weft/pool.hpp"
#include "weft/preemption.hpp"
#include "weft/thread.hpp"

namespace weft {

// A region of a program that starts a number of threads and waits for them, again and again: a loop of an
// OpenMP program, say. The first time its threads are scheduled by the group's rule, Algorithm 1 of
// "Lightweight Preemptive User-Level Threads" with preemption at the interval. From then on the region knows
// how long each of them runs and lays them out on the workers that are active now by McNaughton's wrap-around
// rule: at most one thread fewer than there are workers is preempted, once, and at a time that was planned.
// Where a thread runs longer than it used to, it is treated as any other again.
//
// Ownership: one thread at a time. Regions of one group that run at the same time, or within each other, are
// not laid out but for one of them.
class WEFT_API packed_region {
 public:
  enum class plan : std::uint8_t {
    wrap_around, // as above
    none,        // Algorithm 1 always
  };
  struct options {
    weft::preemption preemption = weft::preemption::own_tls; // signal_yield: a thread stays where it began
    plan planned = plan::wrap_around;
    std::chrono::nanoseconds least_part = std::chrono::microseconds(50); // of a thread that is cut
  };

  // `of`: a group whose arrangement is `packing`; it lives longer. Errors:
  // std::system_error(invalid_argument).
  packed_region(worker_group& of, const options& wanted);
  explicit packed_region(worker_group& of) : packed_region(of, options()) {}

  // Calls f(0), f(1), ... f(threads - 1), each on a thread of its own, and returns when all have returned.
  // What f throws ends the process. Contexts: thread, foreign kernel thread. Switches: may. Errors:
  // std::system_error (invalid_argument for no threads; what stands in the way of preemption),
  // std::bad_alloc; threads that have started are waited for.
  template <class F>
  void run(unsigned threads, F&& f) {
    run_erased(
        threads, [](void* function, unsigned i) { (*static_cast<std::remove_reference_t<F>*>(function))(i); },
        const_cast<void*>(static_cast<const void*>(std::addressof(f))));
  }

  // How long each thread ran the last time, without what it was kept waiting; empty: not known.
  [[nodiscard]] std::span<const std::int64_t> times() const noexcept { return times_; }
  // The next run is as the first one.
  void forget() noexcept { times_.clear(); }
  // Whether the last run was laid out.
  [[nodiscard]] bool was_planned() const noexcept { return was_planned_; }

 private:
  struct state;
  void run_erased(unsigned threads, void (*call)(void*, unsigned), void* function);
  void lay_out(state& s, unsigned threads);
  void learn(const state& s, unsigned threads);

  worker_group& group_;
  options options_;
  std::vector<std::int64_t> times_; // ns
  bool was_planned_ = false;
};

} // namespace weft
