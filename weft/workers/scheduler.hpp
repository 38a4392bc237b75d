// SPDX-License-Identifier: MIT
// Schedulers pick, they do not loop: next() returns what the worker shall run, its state is in the object,
// the loop is ours (worker.cpp). Such a scheduler is stateless in the sense of the threading-techniques paper
// by construction.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "weft/base/export.hpp"
#include "weft/workers/pool.hpp"

namespace weft::sched {

// Ownership: one worker at a time; next() is only called by that worker. The pools are shared with others.
class WEFT_API scheduler {
 public:
  explicit scheduler(std::vector<std::shared_ptr<pool>> pools);
  virtual ~scheduler();
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  // The unit to run next, or null if there is none now. Called on the worker's own stack. Switches: never; it
  // may not wait (diagnosed: std::system_error(operation_not_permitted)). A thread that it makes with
  // create_to is pushed to its pool.
  virtual descriptor* next(worker& here) = 0;

  // As next(), when the turn is that of whoever waits longest: a thread yielded or was preempted, or the
  // budget of decisions is used up. Null: ask next(). By default that of the hot pool, for elsewhere the
  // scheduler's order of pools would be lost at each yield.
  virtual descriptor* next_oldest(worker& here);

  // Where a thread waits that was preempted and must go on on this worker. Null: in its `local`, in turn with
  // the scheduler.
  [[nodiscard]] virtual pool* pool_of_pinned(const descriptor&) const noexcept { return nullptr; }

  // The pool whose head the worker may take without asking next(): only where next() would take it anyway.
  // Null: always ask.
  [[nodiscard]] virtual pool* hot_pool() const noexcept { return nullptr; }

  [[nodiscard]] std::span<const std::shared_ptr<pool>> pools() const noexcept { return pools_; }
  [[nodiscard]] pool& main_pool() const noexcept { return *pools_.front(); }
  // Where units created by units that run under this scheduler go by default.
  [[nodiscard]] virtual pool& pool_of_new_units() const noexcept { return main_pool(); }
  [[nodiscard]] bool has_work() const noexcept;

  // Called by the worker on start and stop, on its own stack.
  void start(worker& here);
  void stop(worker& here) noexcept;

 protected:
  // After start, before the first next(); and before stop.
  virtual void on_start(worker&) {}
  virtual void on_stop(worker&) noexcept {}

 private:
  std::vector<std::shared_ptr<pool>> pools_;
};

// What a user's picking scheduler must offer to become a scheduler at compile time: a type with
//   descriptor* next(worker&, std::span<const std::shared_ptr<pool>>)
// which returns a unit popped from one of the pools, or null, without waiting.
template <class T>
concept picking_policy = requires(T policy, worker& here, std::span<const std::shared_ptr<pool>> pools) {
  { policy.next(here, pools) } -> std::convertible_to<descriptor*>;
};

template <picking_policy Policy>
class scheduler_of final : public scheduler {
 public:
  template <class... Arguments>
  explicit scheduler_of(std::vector<std::shared_ptr<pool>> pools, Arguments&&... arguments)
      : scheduler(std::move(pools)), policy_(std::forward<Arguments>(arguments)...) {}
  descriptor* next(worker& here) override { return policy_.next(here, pools()); }
  Policy& policy() noexcept { return policy_; }

 private:
  Policy policy_;
};

// Each pool in turn, one unit of each. With one pool: plain FIFO (or whatever the pool's order is).
class WEFT_API fifo_scheduler final : public scheduler {
 public:
  using scheduler::scheduler;
  descriptor* next(worker& here) override;
  [[nodiscard]] pool* hot_pool() const noexcept override {
    return pools().size() == 1 ? pools()[0].get() : nullptr;
  }

 private:
  std::size_t turn_ = 0;
};

// Strict order of pools: the first that has a unit.
class WEFT_API priority_scheduler final : public scheduler {
 public:
  using scheduler::scheduler;
  descriptor* next(worker& here) override;
  [[nodiscard]] pool* hot_pool() const noexcept override { return pools()[0].get(); }
};

// The own pool (the first), then the others from a random one on. (Cilk; Argobots' RANDWS.)
class WEFT_API random_stealing_scheduler final : public scheduler {
 public:
  using scheduler::scheduler;
  descriptor* next(worker& here) override;
  [[nodiscard]] pool* hot_pool() const noexcept override { return pools()[0].get(); }

 private:
  std::uint64_t seed_ = 0;
};

// The own pool, then those of nearer workers before farther ones, at random within a distance. `distances[i]`
// belongs to pools[i + 1]; see topology::machine.
class WEFT_API hierarchical_scheduler final : public scheduler {
 public:
  hierarchical_scheduler(std::vector<std::shared_ptr<pool>> pools, std::vector<int> distances);
  descriptor* next(worker& here) override;
  [[nodiscard]] pool* hot_pool() const noexcept override { return pools()[0].get(); }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> levels_; // [first, last) of pools of equal distance
  std::uint64_t seed_ = 0;
};

} // namespace weft::sched
