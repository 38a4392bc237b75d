// SPDX-License-Identifier: MIT
// Idle strategies: what a worker does that has nothing to run. One object a runtime.
#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "weft/arch/arch.hpp"
#include "weft/base/atomic.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/park/parking.hpp"
#include "weft/trace/event.hpp"

namespace weft::compose {

// The default: searches for a moment, then sleeps until a push wakes it. The protocol, its labels and its
// proof are libweft's (weft/park/README.md; tests/model/parking_model_test.cpp runs it); here all
// ready threads of the runtime are one pool.
class parking_idle {
 public:
  explicit parking_idle(unsigned workers) : spots_(std::make_unique<spot[]>(workers)) {
    for (unsigned i = 0; i < workers; ++i)
      all_.push_back(&spots_[i]);
  }

  // A thread has become ready. Contexts: any. Switches: never.
  [[gnu::always_inline]] void announce() noexcept {
    if (waiting_.any()) [[unlikely]]
      wake_one();
  }

  // Whoever sleeps looks again: the runtime stops.
  void wake_all() noexcept {
    base::full_fence(); // what they shall see is stored; partner: the fence of sched::enter_park()
    for (park::parking_spot* s : all_) {
      if (s->try_notify())
        os::futex_wake_all(&s->word());
    }
  }

  // Returns what `w` finds to run; null if it is to stop. `w`: find(), has_work(), may_sleep(), stopped(),
  // number, recorder. Contexts: the worker's loop.
  template <class Worker>
  auto wait(Worker& w) -> decltype(w.find()) {
    const auto everything = [this, &w](auto action) {
      view<Worker> all{*this, w};
      action(all);
    };
    park::parking_spot& mine = spots_[w.number];
    mine.start_searching();
    std::int64_t begin = os::now_ns();
    decltype(w.find()) found = nullptr;
    while ((found = w.find()) == nullptr && !w.stopped()) {
      for (int i = 0; i < 16; ++i)
        arch::relax();
      if (!w.may_sleep() || os::now_ns() < begin + search_ns) {
        ::sched_yield(); // a search is a guess: whoever else wants this CPU goes first
        continue;
      }
      park::enter_park(mine, everything);
      if (!w.has_work())
        sleep(w, mine);
      park::leave_park(mine, everything);
      begin = os::now_ns();
    }
    park::leave_search(mine, everything);
    return found;
  }

 private:
  // A sleep and a wake-up cost about this together.
  static constexpr std::int64_t search_ns = 20'000;

  struct alignas(64) spot : park::parking_spot {};

  // What park/parking.hpp calls a pool.
  template <class Worker>
  struct view {
    parking_idle& idle;
    Worker& worker;
    park::sleepers& waiting_workers() noexcept { return idle.waiting_; }
    [[nodiscard]] bool empty() const noexcept { return !worker.has_work(); }
    void announce() noexcept { idle.announce(); }
  };

  template <class Worker>
  void sleep(Worker& w, park::parking_spot& mine) noexcept {
    w.recorder.note(trace::event::park, nullptr);
    while (mine.load() == park::idle_state::parked)
      os::futex_wait(&mine.word(), static_cast<std::uint32_t>(park::idle_state::parked));
    w.recorder.note(trace::event::unpark, nullptr);
  }

  [[gnu::noinline]] void wake_one() noexcept { park::choose_sleeper(all_).finish(); }

  std::unique_ptr<spot[]> spots_;
  std::vector<park::parking_spot*> all_;
  alignas(64) park::sleepers waiting_;
};

// Never sleeps: the shortest way to the next thread, for machines that have nothing else to do. Offers the
// CPU at each look.
class polling_idle {
 public:
  explicit polling_idle(unsigned) noexcept {}
  void announce() noexcept {}
  void wake_all() noexcept {}
  template <class Worker>
  auto wait(Worker& w) -> decltype(w.find()) {
    while (!w.stopped()) {
      if (auto* found = w.find())
        return found;
      ::sched_yield();
    }
    return nullptr;
  }
};

} // namespace weft::compose
