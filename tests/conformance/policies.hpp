// SPDX-License-Identifier: MIT
// The policies of the suite that a user would write himself: a pool, a scheduler by concept, one by virtual
// interface.
#pragma once

#include <mutex>
#include <vector>

#include "weft/pool.hpp"

namespace weft::conformance {

// Nothing but what the interface demands: a mutex around a list. It allocates nothing: a pool is called in
// the runtime, where nobody may wait for a lock of malloc's that a preempted thread holds.
class user_pool final : public weft::pool {
 public:
  user_pool() : weft::pool(access::mpmc) {}
  [[nodiscard]] std::size_t size() const noexcept override;

 protected:
  void do_push(unit_handle& u) override;
  unit_handle* do_pop(worker& here) override;

 private:
  mutable std::mutex lock_;
  std::vector<unit_handle*> ring_ = std::vector<unit_handle*>(4096); // more than any case has at once
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

// By concept: a turn for each pool, beginning with the last one.
class backward_policy {
 public:
  unit_handle* next(worker& here, std::span<const std::shared_ptr<pool>> pools);

 private:
  std::size_t turn_ = 0;
};

// By virtual interface: counts its decisions, takes from the first pool that has something.
class counting_scheduler final : public scheduler {
 public:
  using scheduler::scheduler;
  unit_handle* next(worker& here) override;

 protected:
  void on_start(worker&) override { ++started_; }
  void on_stop(worker&) noexcept override { --started_; }

 private:
  int started_ = 0;
  std::uint64_t decisions_ = 0;
};

} // namespace weft::conformance
