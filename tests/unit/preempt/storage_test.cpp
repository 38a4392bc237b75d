// SPDX-License-Identifier: MIT
// What a thread has of Weft, its specific pointers, its name and pools of its own, while ticks come at every
// moment: the locks behind are spin locks, and whoever was preempted with one would stop its worker for good.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/os/clock.hpp"
#include "weft/pool.hpp"
#include "weft/thread.hpp"
#include "weft/thread_specific.hpp"

namespace weft::test {
namespace {

class storage : public ticked_at_a_place {
 protected:
  static constexpr int threads = 6;
  static constexpr std::int64_t length = 100'000'000; // in ns
  static constexpr std::int64_t life = 500'000;       // of one thread: some intervals
};

const std::vector<place> places = two_places_of_each(
    {preemption::signal_yield, preemption::own_tls, preemption::own_kernel_thread, preemption::bound_tls});
INSTANTIATE_TEST_SUITE_P(each, storage, ::testing::ValuesIn(places), ::testing::PrintToStringParamName());

// Short-lived threads: each takes the memory for its first pointer, and gives it back.
TEST_P(storage, specific_pointers_are_set_by_threads_that_come_and_go) {
  thread_specific<int> kept([](void*) {});
  thread_attributes a;
  a.preemption = GetParam().kind;
  std::atomic<std::uint64_t> set{0};
  const std::int64_t end = os::now_ns() + length;
  const auto come_and_go = [&] {
    while (os::now_ns() < end || runtime_.preemptions() == 0) {
      thread(a, [&] {
        int mine = 0;
        EXPECT_EQ(kept.reset(&mine), nullptr);
        for (const std::int64_t until = os::now_ns() + life; os::now_ns() < until;) {
          EXPECT_EQ(kept.reset(&mine), &mine);
          EXPECT_EQ(kept.get(), &mine);
        }
        ++set;
      }).join();
    }
  };
  std::vector<thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back(a, come_and_go);
  for (thread& t : all)
    t.join();
  EXPECT_NE(set, 0U);
}

TEST_P(storage, names_are_asked_for_and_keys_come_and_go) {
  thread_attributes a;
  a.preemption = GetParam().kind;
  a.name = "named";
  std::vector<thread> all;
  std::atomic<bool> all_there{false};
  std::atomic<int> done{0}; // with the others: who has been joined has no name to ask for
  const std::int64_t end = os::now_ns() + length;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back(a, [&, t] {
      while (!all_there)
        this_thread::yield();
      while (os::now_ns() < end || runtime_.preemptions() == 0) {
        const std::string name = all[static_cast<std::size_t>((t + 1) % threads)].name();
        EXPECT_TRUE(name == "named" || name.empty()) << name; // empty: it has ended
        const thread_specific<int> another;
        EXPECT_EQ(another.get(), nullptr);
      }
      ++done;
    });
  }
  all_there = true;
  while (done != threads)
    this_thread::yield();
  for (thread& t : all)
    t.join();
}

TEST_P(storage, pools_come_and_go) {
  thread_attributes a;
  a.preemption = GetParam().kind;
  std::vector<thread> all;
  const std::int64_t end = os::now_ns() + length;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back(a, [&] {
      while (os::now_ns() < end || runtime_.preemptions() == 0)
        EXPECT_TRUE(deque_pool().empty());
    });
  }
  for (thread& t : all)
    t.join();
}

} // namespace
} // namespace weft::test
