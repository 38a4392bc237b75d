// SPDX-License-Identifier: MIT
// The parking protocol (weft/park/parking.hpp, argued in weft/park/README.md): no interleaving of pushes
// and workers that go to sleep loses a wake-up, and none wakes more workers than there is work for. A lost
// wake-up ends as a deadlock.
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "weft/base/atomic.hpp"
#include "weft/os/futex.hpp"
#include "weft/park/parking.hpp"

namespace {

using weft::base::atomic;
using weft::model::bounds;
using weft::model::expect_fails;
using weft::model::expect_passes;
using weft::model::expect_walks_pass;
using weft::park::idle_state;
using weft::park::parking_fences;
using weft::park::parking_spot;

// What sched::pool is to the protocol: units, who sleeps, whom to wake. A slot a unit, so that a push is a
// plain store.
class model_pool {
 public:
  explicit model_pool(int capacity = 2) : capacity_(capacity) {}

  void serve(std::initializer_list<parking_spot*> spots) { servers_ = spots; }
  void push(int slot) {
    slots_[slot].store_relaxed(1);
    announce();
  }
  bool take() {
    for (int i = 0; i < capacity_; ++i) {
      int expected = 1;
      if (slots_[i].load_relaxed() == 1 && slots_[i].cas_strong_acq_rel(expected, 0))
        return true;
    }
    return false;
  }
  [[nodiscard]] bool empty() const {
    for (int i = 0; i < capacity_; ++i) {
      if (slots_[i].load_relaxed() == 1)
        return false;
    }
    return true;
  }
  weft::park::sleepers& waiting_workers() { return sleepers_; }
  // As pool::announce() and pool::wake_one().
  void announce() {
    if (sleepers_.any())
      wake();
  }
  int wakes = 0; // counted by whoever runs; the checker runs one at a time

 private:
  void wake() {
    if (const weft::park::waking won = choose_sleeper(servers_)) {
      ++wakes;
      won.finish();
    }
  }

  atomic<int> slots_[4]{};
  const int capacity_;
  weft::park::sleepers sleepers_;
  std::vector<parking_spot*> servers_;
};

// What sched::worker does in idle() and park(), with the calls it makes.
template <class Fences>
struct model_worker {
  parking_spot spot;
  std::vector<model_pool*> pools;
  atomic<std::uint32_t> attention{0};

  explicit model_worker(std::initializer_list<model_pool*> served) : pools(served) {}

  // Searches and sleeps until there is a unit, or until it is called: false then.
  bool next(int timeouts = 0) {
    const auto each = [this](auto action) {
      for (model_pool* p : pools)
        action(*p);
    };
    spot.start_searching();
    for (;;) {
      if (attention.load_relaxed() != 0)
        break;
      for (model_pool* p : pools) {
        if (p->take()) {
          weft::park::leave_search(spot, each);
          return true;
        }
      }
      weft::park::enter_park<Fences>(spot, each);
      bool stay = attention.load_relaxed() != 0;
      for (model_pool* p : pools)
        stay = stay || !p->empty();
      if (!stay) {
        const auto parked = static_cast<std::uint32_t>(idle_state::parked);
        if (timeouts > 0) {
          --timeouts;
          weft::os::futex_wait_until(&spot.word(), parked, 1);
        } else {
          weft::os::futex_wait(&spot.word(), parked);
        }
      }
      weft::park::leave_park(spot, each);
    }
    weft::park::leave_search(spot, each);
    return false;
  }

  // As worker::call().
  void call() {
    attention.fetch_or_acq_rel(1);
    spot.try_notify().finish();
  }
};

// One pusher, two workers that each run one unit.
template <class Fences>
void one_pusher_two_workers() {
  model_pool p;
  model_worker<Fences> a({&p}), b({&p});
  p.serve({&a.spot, &b.spot});
  weft::model::thread first([&] { weft::model::check(a.next(), "a unit for the first worker"); });
  weft::model::thread second([&] { weft::model::check(b.next(), "a unit for the second worker"); });
  p.push(0);
  p.push(1);
  first.join();
  second.join();
}

// The same, and each worker searches and parks twice: for `pushes` by one thread, the rest by another.
template <class Fences>
void two_workers_twice(int pushes) {
  model_pool p(4);
  model_worker<Fences> a({&p}), b({&p});
  p.serve({&a.spot, &b.spot});
  const auto twice = [](model_worker<Fences>& w) {
    weft::model::check(w.next(), "the first unit");
    weft::model::check(w.next(), "the second unit");
  };
  weft::model::thread first([&] { twice(a); });
  weft::model::thread second([&] { twice(b); });
  weft::model::thread other([&] {
    for (int slot = pushes; slot < 4; ++slot)
      p.push(slot);
  });
  for (int slot = 0; slot < pushes; ++slot)
    p.push(slot);
  first.join();
  second.join();
  other.join();
}

template <class Fences>
void two_pushers_one_worker(int timeouts = 0) {
  model_pool p;
  model_worker<Fences> a({&p});
  p.serve({&a.spot});
  weft::model::thread first([&] { p.push(0); });
  weft::model::thread worker([&] {
    weft::model::check(a.next(timeouts), "the first unit");
    weft::model::check(a.next(timeouts), "the second unit");
  });
  p.push(1);
  first.join();
  worker.join();
}

// The push counts on a searcher that finds other work; whoever sleeps must be woken by that one.
template <class Fences>
void searcher_finds_other_work() {
  model_pool shared, other;
  model_worker<Fences> a({&other, &shared}), b({&shared});
  shared.serve({&a.spot, &b.spot});
  other.serve({&a.spot});
  other.push(0);
  weft::model::thread first([&] { weft::model::check(a.next(), "the other work"); });
  weft::model::thread second([&] { weft::model::check(b.next(), "the pushed unit"); });
  shared.push(0);
  second.join();
  first.join();
}

// One push: at most one worker is woken, whoever takes the unit. The other is called at the end, and comes.
template <class Fences>
void one_push_wakes_at_most_one() {
  model_pool p;
  model_worker<Fences> a({&p}), b({&p});
  p.serve({&a.spot, &b.spot});
  weft::model::thread first([&] {
    if (a.next())
      b.call();
  });
  weft::model::thread second([&] {
    if (b.next())
      a.call();
  });
  p.push(0);
  first.join();
  second.join();
  weft::model::check(p.wakes <= 1, "one push woke two workers");
}

TEST(parking_model, one_pusher_two_workers) {
  expect_passes(bounds(3, 3), one_pusher_two_workers<parking_fences>);
}
TEST(parking_model, two_pushers_one_worker) {
  expect_passes(bounds(4, 4), [] { two_pushers_one_worker<parking_fences>(); });
}
TEST(parking_model, two_workers_twice) {
  expect_passes(bounds(2, 1), [] { two_workers_twice<parking_fences>(4); });
}
TEST(parking_model, two_workers_and_two_pushers_twice) {
  expect_passes(bounds(2, 1), [] { two_workers_twice<parking_fences>(2); });
}
TEST(parking_model, timeouts) {
  expect_passes(bounds(3, 3), [] { two_pushers_one_worker<parking_fences>(1); });
}
TEST(parking_model, searcher_finds_other_work) {
  expect_passes(bounds(4, 4), searcher_finds_other_work<parking_fences>);
}
TEST(parking_model, one_push_wakes_at_most_one) {
  expect_passes(bounds(3, 3), one_push_wakes_at_most_one<parking_fences>);
}

TEST(parking_model, random_walks) {
  for (auto* body : {&one_pusher_two_workers<parking_fences>, &searcher_finds_other_work<parking_fences>}) {
    expect_walks_pass({}, 30'000, body);
  }
}

// --- each fence taken away must be found ---

struct without_parking_fence : parking_fences {
  static void parking() noexcept {}
};
struct light_parking_fence : parking_fences {
  static void parking() noexcept { weft::base::full_fence(); } // of the parker alone: the push has none
};

TEST(parking_model_mutants, no_fence_before_the_second_look) {
  expect_fails(weft::model::options{}, "wait", [] { two_pushers_one_worker<without_parking_fence>(); });
}
TEST(parking_model_mutants, a_fence_of_the_parker_alone) {
  expect_fails(weft::model::options{}, "wait", [] { two_pushers_one_worker<light_parking_fence>(); });
}
// --- every order that is not needed is known ---

TEST(parking_weakened, parking) {
  using weft::model::exactly;
  weft::model::expect_every_weakening_is_found(
      {{exactly(2, 2), [] { two_pushers_one_worker<parking_fences>(); }},
       {exactly(3, 3), searcher_finds_other_work<parking_fences>},
       {exactly(2, 2), [] { two_pushers_one_worker<parking_fences>(1); }}},
      {{"parking.hpp: parking_spot::try_notify: load -> relaxed",
        "orders the bell of a watcher: there is none here"},
       {"parking.hpp: parking_spot::try_notify: cas -> acquire",
        "the unit is found through its container, which orders it"},
       {"parking.hpp: parking_spot::try_notify: cas -> release",
        "orders the bell of a watcher: there is none here"}});
}

} // namespace
