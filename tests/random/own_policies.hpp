// SPDX-License-Identifier: MIT
// A pool and two schedulers as a user of the C++ interface writes them. None allocates: they are called in
// the runtime, where nobody may wait for a lock of malloc's that a preempted thread holds.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "weft/base/spin_lock.hpp"
#include "weft/queue/intrusive_fifo.hpp"
#include "weft/weft.hpp"

namespace weft::random_programs {

// First in, first out, with nothing but what has to be there.
class own_pool final : public pool {
 public:
  own_pool() : pool(access::mpmc) {}
  [[nodiscard]] std::size_t size() const noexcept override {
    const std::scoped_lock held(lock_);
    return units_.size();
  }

 protected:
  void do_push(unit_handle& u) override {
    const std::scoped_lock held(lock_);
    units_.push_back(&link_of(u));
  }
  unit_handle* do_pop(worker&) override {
    const std::scoped_lock held(lock_);
    queue::link* const first = units_.pop_front();
    return first != nullptr ? &unit_of(*first) : nullptr;
  }

 private:
  mutable base::spin_lock lock_;
  queue::intrusive_fifo units_;
};

// By concept: a turn for each pool, beginning with the last one.
class backward_turns {
 public:
  unit_handle* next(worker& here, std::span<const std::shared_ptr<pool>> pools) {
    for (std::size_t tried = 0; tried < pools.size(); ++tried) {
      turn_ = (turn_ + pools.size() - 1) % pools.size();
      if (unit_handle* const u = pools[turn_]->pop(here))
        return u;
    }
    return nullptr;
  }

 private:
  std::size_t turn_ = 0;
};

// By virtual interface: a turn for each pool, and its own (the first) every other time.
class own_scheduler final : public scheduler {
 public:
  using scheduler::scheduler;
  unit_handle* next(worker& here) override {
    for (std::size_t tried = 0; tried < 2 * pools().size(); ++tried) {
      ++decisions_;
      const std::size_t which = decisions_ % 2 == 0 ? 0 : decisions_ / 2 % pools().size();
      if (unit_handle* const u = pools()[which]->pop(here))
        return u;
    }
    return nullptr;
  }

 private:
  std::size_t decisions_ = 0;
};

} // namespace weft::random_programs
