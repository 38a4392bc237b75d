// SPDX-License-Identifier: MIT
// Classes in strict order. Who leaves for a higher one: carrier/kick.hpp.
#include "weft/arrange/priority.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "weft/carrier/kick.hpp"
#include "weft/sched/stealing.hpp"

namespace weft::sched {

// --- pools ---

class_pool::class_pool(unit::technique_id of_low)
    : shared_pool(order::fifo, access::mpmc), high_(this), low_(new class_pool(*this)) {
  has_others_ = true;
  low_->set_default_technique(of_low);
}

class_pool::class_pool(class_pool& high) : shared_pool(order::lifo, access::mpmc), high_(&high) {
  put_in_class(low_class);
  has_others_ = true;
}

pool* class_pool::of_class(unsigned c) noexcept {
  return c == high_class ? high_ : high_->low_.get();
}

// A worker of another group leaves here who migrates, and does not look.
bool class_pool::pusher_looks_itself() const noexcept {
  const worker& w = here();
  return on_worker() && w.current == &w.loop_unit && size() <= 1 && is_served_by(*this, w);
}

void class_pool::do_push(descriptor& u) {
  shared_pool::do_push(u); // GONE: u may run already
  if (!pusher_looks_itself())
    kick();
}

void class_pool::do_forget() {
  shared_pool::do_forget();
  if (low_ != nullptr)
    low_->forget_after_fork();
}

void class_pool::kick() noexcept {
  kick_a_server(*this);
}

pool& pool_of_priority(pool& own_pool, priority p) {
  if (p == priority::of_creator)
    return own_pool;
  pool* found = own_pool.of_class(p == priority::low ? low_class : high_class);
  if (found == nullptr) {
    throw std::system_error(std::make_error_code(std::errc::not_supported),
                            "weft: a low priority needs arrangement::priorities (WEFT_POOLS=priorities)");
  }
  return *found;
}

// --- the scheduler ---

namespace {

std::vector<std::shared_ptr<pool>> all_of(std::vector<std::vector<std::shared_ptr<pool>>>& classes) {
  std::vector<std::shared_ptr<pool>> all;
  for (auto& pools : classes) {
    if (pools.empty()) {
      throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                              "weft: a class of priority without a pool");
    }
    all.insert(all.end(), pools.begin(), pools.end());
  }
  if (all.empty())
    return all; // refused by the scheduler
  all.push_back(make_pool(order::lifo, access::priv));
  all.back()->put_in_class(low_class);
  return all;
}

} // namespace

class_scheduler::class_scheduler(std::vector<std::vector<std::shared_ptr<pool>>> classes)
    : scheduler(all_of(classes)) {
  std::size_t first = 0;
  for (const auto& pools : classes) {
    classes_.push_back({first, first + pools.size()});
    first += pools.size();
  }
}

pool* class_scheduler::pool_of_pinned(const descriptor& u) const noexcept {
  return u.own_pool->priority_class() != high_class ? pools().back().get() : nullptr;
}

descriptor* class_scheduler::next_oldest(worker& here) {
  const bool by_tick = std::exchange(here.preemption.left_by_tick, false);
  return pick(here, by_tick ? turn::of_high : turn::of_all);
}

descriptor* class_scheduler::pick(worker& here, turn t) {
  for (const range& c : classes_) {
    pool& own = *pools()[c.first];
    if (&c == &classes_.back()) {
      if (descriptor* pinned = pools().back()->pop(here))
        return pinned;
    }
    const bool oldest = t == turn::of_all || (t == turn::of_high && own.priority_class() == high_class);
    if (descriptor* u = oldest ? own.pop_oldest(here) : own.pop(here))
      return u;
    if (descriptor* u = steal_among(here, pools(), c.first + 1, c.last, seed_)) {
      if (own.goes_with_thief() && u->own_pool->goes_with_thief())
        u->own_pool = &own;
      return u;
    }
  }
  return nullptr;
}

std::shared_ptr<scheduler> scheduler_of_classes(std::size_t index,
                                                const std::vector<std::shared_ptr<pool>>& mains) {
  std::vector<std::vector<std::shared_ptr<pool>>> classes(2);
  const auto list = [&classes](const std::shared_ptr<pool>& main) {
    classes[high_class].push_back(main);
    classes[low_class].push_back(static_cast<class_pool&>(*main).low());
  };
  list(mains[index]);
  for (std::size_t i = 0; i < mains.size(); ++i) {
    if (i != index)
      list(mains[i]);
  }
  return std::make_shared<class_scheduler>(std::move(classes));
}

} // namespace weft::sched
