// SPDX-License-Identifier: MIT
#include "weft/events/timer_queue.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <system_error>
#include <thread>

#include "weft/os/fault.hpp"

namespace weft::sched {
namespace {

struct test_timer final : timer {
  void on_expiry() noexcept override {
    ++fired;
    if (order != nullptr)
      order->push_back(number);
  }
  int number = 0;
  int fired = 0;
  std::vector<int>* order = nullptr;
};

TEST(timer_queue, fires_in_order_and_not_before) {
  timer_queue q;
  std::vector<int> order;
  test_timer timers[5];
  const deadline at[] = {50, 10, 40, 20, 30};
  for (int i = 0; i < 5; ++i) {
    timers[i].number = static_cast<int>(at[i]);
    timers[i].order = &order;
    q.arm(timers[i], at[i]);
  }
  EXPECT_EQ(q.earliest(), 10);
  EXPECT_EQ(q.expire(9), 0);
  EXPECT_EQ(q.expire(30), 3);
  EXPECT_EQ(order, (std::vector<int>{10, 20, 30}));
  EXPECT_EQ(q.earliest(), 40);
  EXPECT_EQ(q.expire(1000), 2);
  EXPECT_EQ(order, (std::vector<int>{10, 20, 30, 40, 50}));
  EXPECT_EQ(q.earliest(), no_deadline);
  EXPECT_EQ(q.size(), 0U);
}

TEST(timer_queue, disarm) {
  timer_queue q;
  test_timer never_armed;
  EXPECT_FALSE(timer_queue::disarm(never_armed));
  test_timer a;
  test_timer b;
  q.arm(a, 10);
  q.arm(b, 20);
  EXPECT_TRUE(timer_queue::disarm(a));
  EXPECT_FALSE(timer_queue::disarm(a));
  EXPECT_EQ(q.earliest(), 20);
  EXPECT_EQ(q.expire(100), 1);
  EXPECT_FALSE(timer_queue::disarm(b)) << "it has fired";
  EXPECT_EQ(a.fired, 0);
  EXPECT_EQ(b.fired, 1);
  q.arm(a, 5); // once more
  EXPECT_EQ(q.expire(5), 1);
}

TEST(timer_queue, moves_to_another) {
  timer_queue from;
  timer_queue to;
  test_timer a;
  test_timer b;
  test_timer c;
  from.arm(a, 30);
  from.arm(b, 10);
  to.arm(c, 20);
  from.move_to(to);
  EXPECT_EQ(from.size(), 0U);
  EXPECT_EQ(from.earliest(), no_deadline);
  EXPECT_EQ(to.size(), 3U);
  EXPECT_EQ(to.earliest(), 10);
  EXPECT_TRUE(timer_queue::disarm(b));
  EXPECT_EQ(to.expire(100), 2);
  EXPECT_EQ(a.fired + c.fired, 2);
  EXPECT_EQ(b.fired, 0);
}

TEST(timer_queue, no_timer_to_be_had) {
  timer_queue q;
  test_timer t;
  os::fail_nth(os::fault_site::timer_create, 1, ENOMEM);
  EXPECT_THROW(q.arm(t, 10), std::system_error);
  os::disarm_faults();
  EXPECT_EQ(q.size(), 0U);
  EXPECT_FALSE(timer_queue::disarm(t));
}

unsigned long seed_of_this_run() {
  const char* given = std::getenv("WEFT_TEST_SEED");
  const unsigned long seed = given != nullptr ? std::strtoul(given, nullptr, 10) : std::random_device{}();
  std::printf("seed %lu\n", seed);
  return seed;
}

TEST(timer_queue, as_a_multimap_does_it) {
  std::mt19937_64 random(seed_of_this_run());
  timer_queue q;
  std::vector<std::unique_ptr<test_timer>> timers;
  for (int i = 0; i < 200; ++i)
    timers.push_back(std::make_unique<test_timer>());
  std::multimap<deadline, test_timer*> model;
  std::map<test_timer*, std::multimap<deadline, test_timer*>::iterator> armed;
  deadline now = 0;
  for (int step = 0; step < 20'000; ++step) {
    test_timer& t = *timers[random() % timers.size()];
    const auto choice = random() % 10;
    if (choice < 6 && !armed.contains(&t)) {
      const deadline at = now + static_cast<deadline>(random() % 100);
      q.arm(t, at);
      armed[&t] = model.emplace(at, &t);
    } else if (choice < 9) {
      const auto known = armed.find(&t);
      ASSERT_EQ(timer_queue::disarm(t), known != armed.end()) << "step " << step;
      if (known == armed.end())
        continue;
      model.erase(known->second);
      armed.erase(known);
    } else {
      now += static_cast<deadline>(random() % 20);
      int expected = 0;
      while (!model.empty() && model.begin()->first <= now) {
        test_timer* first = model.begin()->second;
        model.erase(model.begin());
        armed.erase(first);
        --first->fired; // to come back to 0 below
        ++expected;
      }
      ASSERT_EQ(q.expire(now), expected) << "step " << step;
      for (const auto& each : timers)
        ASSERT_EQ(each->fired, 0) << "step " << step;
    }
    ASSERT_EQ(q.size(), model.size());
    ASSERT_EQ(q.earliest(), model.empty() ? no_deadline : model.begin()->first);
  }
  for (auto& [t, place] : armed)
    EXPECT_TRUE(timer_queue::disarm(*t));
}

// Whoever disarms races with the expiry and with a move: each timer fires or is disarmed, never both, never
// neither.
TEST(timer_queue, disarm_against_expiry_and_move) {
  for (int round = 0; round < 200; ++round) {
    timer_queue from;
    timer_queue to;
    test_timer timers[8];
    for (auto& t : timers)
      from.arm(t, 1);
    std::thread moves([&] { from.move_to(to); });
    std::thread expires([&] {
      from.expire(1);
      to.expire(1);
    });
    bool disarmed[8];
    for (int i = 0; i < 8; ++i)
      disarmed[i] = timer_queue::disarm(timers[i]);
    moves.join();
    expires.join();
    to.expire(1);
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(timers[i].fired + (disarmed[i] ? 1 : 0), 1);
  }
}

} // namespace
} // namespace weft::sched
