// SPDX-License-Identifier: MIT
// A user's pool and scheduler: tasklets with a key, of which the one with the smallest comes first.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "weft/base/spin_lock.hpp"
#include "weft/pool.hpp"
#include "weft/thread.hpp"

namespace weft::bench::xsbench {

// Tasklets wait in the order of creation until the worker has none left that are sorted; then it sorts all
// that have come by then. So its creator says how many that are: as many as it makes before it waits.
// Threads (the creator itself) come after all tasklets.
//
// Ownership: `lock_` guards the lists; `next_key_` is the creator's, who is one, and who pushes what it has
// the key of at once.
class keyed_pool final : public weft::pool {
 public:
  keyed_pool() : pool(weft::access::mpmc) { into_this_.pool = this; }

  // A tasklet that becomes ready here. Contexts: the creator.
  template <class F>
  weft::tasklet make(double key, F f) {
    next_key_ = key;
    return weft::tasklet(into_this_, f);
  }

  // Contexts: the worker whose pool it is. False: there is nothing to sort.
  bool sort_new_ones() {
    {
      const std::lock_guard held(lock_);
      if (new_.empty())
        return false;
      new_.swap(sorting_);
    }
    std::sort(sorting_.begin(), sorting_.end(), [](const item& a, const item& b) { return a.key > b.key; });
    {
      const std::lock_guard held(lock_);
      sorted_.swap(sorting_);
      stolen_ = 0;
    }
    sorting_.clear();
    announce(); // thieves may have gone to sleep while nothing was to be had
    return true;
  }

  weft::unit_handle* pop_thread() {
    const std::lock_guard held(lock_);
    if (threads_.empty())
      return nullptr;
    weft::unit_handle* const first = threads_.front();
    threads_.erase(threads_.begin());
    return first;
  }

  [[nodiscard]] std::size_t size() const noexcept override {
    const std::lock_guard held(lock_);
    return new_.size() + sorted_.size() - stolen_ + threads_.size();
  }

 protected:
  void do_push(weft::unit_handle& u) override {
    const std::lock_guard held(lock_);
    if (next_key_)
      new_.push_back({*std::exchange(next_key_, std::nullopt), &u});
    else
      threads_.push_back(&u);
  }
  weft::unit_handle* do_pop(weft::worker&) override {
    const std::lock_guard held(lock_);
    if (stolen_ == sorted_.size())
      return nullptr;
    weft::unit_handle* const smallest = sorted_.back().unit;
    sorted_.pop_back();
    return smallest;
  }
  // The farthest from where the owner is.
  weft::unit_handle* do_steal(weft::worker&) override {
    const std::lock_guard held(lock_);
    if (stolen_ == sorted_.size())
      return nullptr;
    return sorted_[stolen_++].unit;
  }

 private:
  struct item {
    double key;
    weft::unit_handle* unit;
  };
  mutable weft::base::spin_lock lock_;
  std::vector<item> new_, sorting_;
  std::vector<item> sorted_; // the smallest key last
  std::size_t stolen_ = 0;   // of sorted_, from its beginning
  std::vector<weft::unit_handle*> threads_;
  std::optional<double> next_key_;
  weft::thread_attributes into_this_;
};

// Its own pool (the first), and what others have when that is empty.
class smallest_key_first final : public weft::scheduler {
 public:
  smallest_key_first(const std::vector<std::shared_ptr<keyed_pool>>& pools, std::size_t own)
      : scheduler(rotated(pools, own)), own_(*pools[own]) {}

  weft::unit_handle* next(weft::worker& here) override {
    if (weft::unit_handle* const u = own_.pop(here))
      return u;
    if (own_.sort_new_ones())
      return own_.pop(here); // null if thieves had them all
    if (weft::unit_handle* const u = own_.pop_thread())
      return u;
    for (const std::shared_ptr<weft::pool>& other : pools().subspan(1)) {
      if (weft::unit_handle* const u = other->steal(here))
        return u;
    }
    return nullptr;
  }

 private:
  static std::vector<std::shared_ptr<weft::pool>> rotated(const std::vector<std::shared_ptr<keyed_pool>>& all,
                                                          std::size_t first) {
    std::vector<std::shared_ptr<weft::pool>> from_first(all.begin(), all.end());
    std::rotate(from_first.begin(), from_first.begin() + static_cast<std::ptrdiff_t>(first),
                from_first.end());
    return from_first;
  }

  keyed_pool& own_;
};

} // namespace weft::bench::xsbench
