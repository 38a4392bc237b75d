// SPDX-License-Identifier: MIT
// Conformance: what pools, schedulers and groups refuse, for every kind of pool.
#include "tests/conformance/cell.hpp"
#include "tests/conformance/policies.hpp"
#include "weft/semaphore.hpp"
#include "weft/sleep.hpp"

namespace weft::conformance {
namespace {

class contract : public counted, public ::testing::WithParamInterface<pool_kind> {
 protected:
  std::shared_ptr<pool> kind() { return make_pool_of(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(pools, contract, ::testing::ValuesIn(all_pool_kinds()), [](const auto& info) {
  return name_of({cell{info.param, scheduler_kind::fifo, 1}, 0});
});

template <class F>
std::error_code error_of(F f) {
  try {
    f();
  } catch (const std::system_error& e) {
    return e.code();
  }
  return {};
}

std::unique_ptr<worker_group> serve(std::shared_ptr<pool> p, unsigned workers) {
  group_options o;
  o.workers = workers;
  o.pools = arrangement::custom;
  o.make_scheduler = [p](unsigned) { return std::make_shared<fifo_scheduler>(std::vector{p}); };
  return std::make_unique<worker_group>(std::move(o));
}

TEST_P(contract, a_second_consumer) {
  auto p = kind();
  const bool single = p->single_consumer();
  EXPECT_EQ(error_of([&] { serve(p, 2); }),
            single ? std::make_error_code(std::errc::operation_not_permitted) : std::error_code());
  auto first = serve(p, 1); // whatever was refused has left nothing behind
  EXPECT_EQ(error_of([&] { first->add_worker(std::make_shared<fifo_scheduler>(std::vector{p})); }),
            single ? std::make_error_code(std::errc::operation_not_permitted) : std::error_code());
  auto second = serve(kind(), 1);
  auto taken = std::make_shared<fifo_scheduler>(std::vector{p});
  EXPECT_EQ(error_of([&] { second->set_scheduler(second->member(0), taken); }),
            single ? std::make_error_code(std::errc::operation_not_permitted) : std::error_code());
  thread_attributes a;
  a.pool = p.get();
  thread t(a, [] { this_thread::yield(); });
  t.join();
}

TEST_P(contract, the_pool_serves_again_after_its_group_has_gone) {
  auto p = kind();
  thread_attributes a;
  a.pool = p.get();
  for (int round = 0; round < 3; ++round) {
    thread early(a, [] { this_thread::yield(); });
    auto g = serve(p, 1);
    thread late(a, [] { this_thread::yield(); });
    early.join();
    late.join();
    g.reset();
    EXPECT_EQ(p->owner(), nullptr);
    EXPECT_TRUE(p->empty());
  }
}

// What is left in a pool when its workers stop is not run and not lost.
TEST_P(contract, a_unit_left_behind_runs_when_somebody_serves_its_pool) {
  auto p = kind();
  thread_attributes a;
  a.pool = p.get();
  std::atomic<int> rounds{0};
  std::atomic<bool> stop{false};
  auto g = serve(p, 1);
  thread t(a, [&] {
    while (!stop) {
      ++rounds;
      this_thread::yield();
    }
  });
  EXPECT_TRUE(eventually([&] { return rounds > 10; }));
  g.reset();
  const int seen = rounds;
  EXPECT_FALSE(t.try_join_for(1ms));
  EXPECT_EQ(rounds, seen);
  g = serve(p, 1);
  EXPECT_TRUE(eventually([&] { return rounds > seen; }));
  stop = true;
  t.join();
}

// Somebody else fires its timer, and a notification finds it.
TEST_P(contract, a_timed_wait_outlives_the_group_it_began_in) {
  auto p = kind();
  thread_attributes a;
  a.pool = p.get();
  auto g = serve(p, 1);
  counting_semaphore<> free(0);
  bool got = false;
  bool slept = false;
  thread waiter(a, [&] { got = free.try_acquire_for(1h); });
  thread sleeper(a, [&] {
    this_thread::sleep_for(20ms);
    slept = true;
  });
  EXPECT_TRUE(eventually([&] { return waiter.state() == unit::state::blocked; }));
  EXPECT_TRUE(eventually([&] { return sleeper.state() >= unit::state::blocked; }));
  g.reset();
  g = serve(p, 1);
  free.release();
  waiter.join();
  sleeper.join();
  EXPECT_TRUE(got);
  EXPECT_TRUE(slept);
}

TEST_P(contract, errors) {
  auto p = kind();
  const auto invalid = std::make_error_code(std::errc::invalid_argument);
  EXPECT_EQ(error_of([] { fifo_scheduler s(std::vector<std::shared_ptr<pool>>{}); }), invalid);
  EXPECT_EQ(error_of([&] { fifo_scheduler s({p, nullptr}); }), invalid);
  EXPECT_EQ(error_of([&] { hierarchical_scheduler s({p, kind(), kind()}, {2, 1}); }), invalid);
  EXPECT_EQ(error_of([&] { hierarchical_scheduler s({p, kind()}, {}); }), invalid);
  EXPECT_EQ(error_of([&] { sched::push_scheduler(*p, nullptr); }), invalid);
  EXPECT_EQ(error_of([] {
              worker_group g({.workers = 1,
                              .pools = arrangement::custom,
                              .bind = {},
                              .primary_joins = {},
                              .make_scheduler = {}});
            }),
            invalid);
  auto g = serve(p, 1);
  EXPECT_EQ(error_of([&] { g->remove_worker(); }), std::make_error_code(std::errc::operation_not_permitted));
  EXPECT_EQ(error_of([] { sched::request_cancel(*sched::here().current); }),
            std::make_error_code(std::errc::operation_not_permitted));
  EXPECT_EQ(error_of([] { this_thread::exit(); }), std::make_error_code(std::errc::operation_not_permitted));
  EXPECT_EQ(error_of([] { thread().join(); }), invalid);
  EXPECT_EQ(error_of([] { thread().detach(); }), invalid);
  EXPECT_EQ(error_of([] { tasklet().join(); }), invalid);
  thread_attributes a;
  a.pool = p.get();
  std::atomic<bool> constructed{false}; // until then `t` is still being written
  thread t(a, [&] {
    while (!constructed)
      this_thread::yield();
    EXPECT_EQ(error_of([&] { t.join(); }), std::make_error_code(std::errc::resource_deadlock_would_occur));
    EXPECT_EQ(error_of([&] { t.try_join_for(1s); }),
              std::make_error_code(std::errc::resource_deadlock_would_occur));
  });
  constructed = true;
  t.join();
}

} // namespace
} // namespace weft::conformance
