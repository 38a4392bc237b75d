// SPDX-License-Identifier: MIT
// The shipped delegators with the thread of their consumer: what is offered to it, when it starts, is called
// or is to stop, is taken by others that try; it is called again, and ends when it should.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "tests/model/runtime/seat.hpp"
#include "weft/sync/delegation.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace weft {
namespace {

using model::bounds;
using model::check;
using model::exactly;
using model::expect_bugs_are_found;
using model::expect_every_weakening_is_found;
using model::expect_passes;
using model::runtime::actor;
using model::runtime::seat;
using model::runtime::who;

struct no_consumer {
  struct delegated_func_type {};
  std::tuple<bool, sync::suspended_thread> execute(delegated_func_type&) noexcept {
    return {true, sync::suspended_thread()};
  }
  sync::suspended_thread progress() noexcept { return {}; }
  [[nodiscard]] static bool is_active() noexcept { return false; }
};

template <class Queue>
struct delegator : sync::delegation<no_consumer, Queue> {
  using base = sync::delegation<no_consumer, Queue>;
  using base::admit;
  using base::adopt;
  using base::ask_to_stop;
  using base::consume;

  void add() { count = count + 1; } // a race, if two own it
  void lock_and_add() {
    this->lock();
    add();
    this->unlock();
  }
  void try_to_add() {
    if (this->try_lock()) {
      add();
      this->unlock();
    }
  }

  no_consumer nothing;
  model::var<int> count = 0;
};

/// Its consumer lives as long as `meanwhile` takes.
template <class Queue, class Meanwhile>
void with_a_consumer(Meanwhile meanwhile) {
  model::runtime::begin();
  delegator<Queue> d;
  d.adopt(d.nothing);
  {
    const actor consumer(who::threads, [&] { d.consume(); });
    d.admit();
    meanwhile(d);
    d.ask_to_stop();
    d.try_to_add();
  }
  check(d.try_lock(), "somebody owns it still");
  d.unlock();
}

template <class Queue>
void one_tries() {
  with_a_consumer<Queue>([](auto& d) { d.try_to_add(); });
}
/// What is posted is executed by the consumer, or by whoever took the delegator from it.
template <class Queue>
void one_posts(who w) {
  with_a_consumer<Queue>([w](auto& d) {
    const actor other(w, [&] { d.post([&] { d.add(); }); });
    d.lock_and_add();
    d.try_to_add();
    d.lock_and_add();
  });
}
template <class Queue>
void one_waits(who w) {
  with_a_consumer<Queue>([w](auto& d) {
    const actor other(w, [&] { d.lock_and_add(); });
    d.try_to_add();
  });
}

TEST(delegator_model, one_tries) {
  expect_passes(bounds(3, 2), one_tries<sync::request_list>);
  expect_passes(bounds(3, 2), one_tries<sync::request_ring<1>>);
}
TEST(delegator_model, one_waits) {
  for (const who w : {who::foreign, who::threads}) {
    expect_passes(bounds(2, 1), [w] { one_waits<sync::request_list>(w); });
    expect_passes(bounds(2, 1), [w] { one_waits<sync::request_ring<1>>(w); });
  }
}

TEST(delegator_model, one_posts) {
  for (const who w : {who::foreign, who::threads}) {
    expect_passes(bounds(2, 1), [w] { one_posts<sync::request_list>(w); });
    expect_passes(bounds(2, 1), [w] { one_posts<sync::request_ring<8>>(w); });
  }
}

// --- every order that is not needed is known; bugs of logic are found ---

std::vector<model::scenario> all_scenarios() {
  return {{exactly(2, 1), one_tries<sync::request_list>},
          {exactly(2, 1), [] { one_waits<sync::request_list>(who::threads); }},
          {exactly(2, 1), [] { one_waits<sync::request_ring<1>>(who::foreign); }},
          {exactly(2, 1), [] { one_posts<sync::request_list>(who::foreign); }}};
}

TEST(delegator_weakened, offers) {
  constexpr auto elsewhere = "delegation_weakened finds it";
  constexpr auto offered = "the offer orders what its thread needs; suspended_thread_weakened has the rest";
  expect_every_weakening_is_found(
      all_scenarios(),
      {{"request_ring.hpp: request_ring::draw: load -> relaxed", elsewhere},
       {"request_ring.hpp: request_ring::advance: store -> relaxed", elsewhere},
       {"suspended_thread.cpp: arrival::run: cas -> acquire", offered},
       {"suspended_thread.cpp: arrival::run: cas -> release", offered},
       {"suspended_thread.cpp: suspended_thread::take_back: cas -> acquire", offered},
       {"suspended_thread.cpp: suspended_thread::take_back: cas -> release", offered},
       {"suspended_thread.cpp: suspended_thread::take_back: rmw -> acquire", offered},
       {"suspended_thread.cpp: suspended_thread::take_back: rmw -> release", offered},
       {"suspended_thread.cpp: suspended_thread::notify: rmw -> acquire", offered},
       {"suspended_thread.cpp: suspended_thread::notify: rmw -> release", offered},
       {"wait_word.hpp: wait_word::fall_asleep: cas -> release", "who falls asleep learns nothing"},
       {"wait_word.hpp: wait_word::decide: cas -> acquire", "who was woken looks at the offer"},
       {"wait_word.hpp: wait_word::load: load -> relaxed", "the same"}});
}
TEST(delegator_bugs, offers) {
  expect_bugs_are_found(all_scenarios(),
                        {"offer_word.hpp: offer_word::prepare: store -> forgotten",
                         "offer_word.hpp: offer_word::publish: store -> forgotten",
                         "offer_word.hpp: offer_word::try_take: cas -> unchecked",
                         "offer_word.hpp: call_word::stand_by: cas -> unchecked",
                         "offer_word.hpp: call_word::stand_by_as_owner: store -> forgotten"});
}

} // namespace
} // namespace weft
