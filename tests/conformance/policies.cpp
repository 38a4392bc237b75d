// SPDX-License-Identifier: MIT
// User-written policies; see policies.hpp.
#include "tests/conformance/policies.hpp"

namespace weft::conformance {

std::size_t user_pool::size() const noexcept {
  std::scoped_lock held(lock_);
  return count_;
}

void user_pool::do_push(unit_handle& u) {
  std::scoped_lock held(lock_);
  if (count_ == ring_.size())
    throw std::bad_alloc();
  ring_[(first_ + count_++) % ring_.size()] = &u;
}

unit_handle* user_pool::do_pop(worker&) {
  std::scoped_lock held(lock_);
  if (count_ == 0)
    return nullptr;
  unit_handle* u = ring_[first_];
  first_ = (first_ + 1) % ring_.size();
  --count_;
  return u;
}

unit_handle* backward_policy::next(worker& here, std::span<const std::shared_ptr<pool>> pools) {
  for (std::size_t tried = 0; tried < pools.size(); ++tried) {
    turn_ = (turn_ + pools.size() - 1) % pools.size();
    if (unit_handle* u = pools[turn_]->pop(here))
      return u;
  }
  return nullptr;
}

unit_handle* counting_scheduler::next(worker& here) {
  ++decisions_;
  if (started_ != 1)
    std::abort(); // next() outside of start and stop
  for (const auto& p : pools()) {
    if (unit_handle* u = p->pop(here))
      return u;
  }
  return nullptr;
}

} // namespace weft::conformance
