// SPDX-License-Identifier: MIT
// Everything public that allocates, with each of its allocations failing in turn (and each other call of the
// system that it makes): a clear error, nothing left behind, and the same call succeeds once there is memory.
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/fault/fail_each.hpp"

namespace {

using namespace weft::fault_test;
using weft::arrangement;
using pools = std::vector<std::shared_ptr<weft::pool>>;

// Too large to travel in a descriptor.
struct large {
  std::array<char, 200> room{};
};

// The parameter: where units go. Two workers; the test runs on worker 0, whose kernel thread never changes.
class allocating : public ::testing::TestWithParam<arrangement> {
 protected:
  void SetUp() override {
    weft::runtime::start({.workers = 2, .pools = GetParam()});
    weft::thread([] {}).join();
  }
  void TearDown() override {
    weft::os::disarm_faults();
    EXPECT_TRUE(weft::runtime::stop());
  }

  // `operation` allocates, so it must have failed at least once for want of memory. The other sites need not
  // be reached: what they give is cached.
  template <class Operation, class Undo>
  static void fails_cleanly(Operation operation, Undo undo, reach whose = reach::this_kernel_thread) {
    for (const auto& [site, name] : all_sites) {
      const tally seen = fail_each_call(site, whose, operation, undo);
      if (site == fault_site::memory) {
        EXPECT_GT(seen.errors, 0U) << "no allocation was refused";
      }
      if (HasFailure())
        return;
    }
  }
  template <class Operation>
  static void fails_cleanly(Operation operation, reach whose = reach::this_kernel_thread) {
    fails_cleanly(operation, [] {}, whose);
  }
};

// --- threads ---

TEST_P(allocating, thread_with_a_large_closure) {
  fails_cleanly([c = large{}] { weft::thread([c] { static_cast<void>(c); }).join(); });
}

TEST_P(allocating, thread_with_attributes) {
  fails_cleanly([c = large{}] {
    weft::thread({.stack_size = 20'000, .name = "named", .level = 3}, [c] { static_cast<void>(c); }).join();
  });
}

TEST_P(allocating, tasklet_with_a_large_closure_and_a_name) {
  fails_cleanly([c = large{}] {
    weft::tasklet([c] { static_cast<void>(c); }).join();
    weft::tasklet({.name = "named"}, [] {}).join();
  });
}

TEST_P(allocating, create_to) {
  fails_cleanly(
      [c = large{}] { weft::thread::create_to({.name = "named"}, [c] { static_cast<void>(c); }).join(); });
}

TEST_P(allocating, jthread) {
  fails_cleanly([c = large{}] { weft::jthread([c] { static_cast<void>(c); }).join(); });
}

TEST_P(allocating, thread_from_a_foreign_kernel_thread) {
  // The loop runs there: the door that it opens is that kernel thread's. Meanwhile this worker runs what it
  // creates.
  weft::binary_semaphore done(0);
  std::thread foreign([&done] {
    fails_cleanly([c = large{}] { weft::thread({.name = "named"}, [c] { static_cast<void>(c); }).join(); });
    done.release();
  });
  done.acquire();
  foreign.join();
}

// On a thread of Weft, whichever kernel thread it has; its error is the operation's.
template <class F>
void on_a_thread(F f) {
  std::exception_ptr error;
  weft::thread([&] {
    try {
      f();
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error)
    std::rethrow_exception(error);
}

TEST_P(allocating, name_of_the_running_thread) {
  fails_cleanly([] { on_a_thread([] { weft::this_thread::set_name("later"); }); }, reach::everywhere);
}

TEST_P(allocating, local_storage) {
  static int value = 0; // static: a destructor has nothing but the pointer
  value = 0;
  weft::thread_specific<int> local([](void*) { ++value; });
  int set = 0;
  fails_cleanly(
      [&] {
        on_a_thread([&] {
          try {
            local.reset(&value);
          } catch (...) {
            EXPECT_EQ(local.get(), nullptr);
            throw;
          }
          ++set;
        });
      },
      [&] { EXPECT_EQ(value, set) << "each value that was set is destroyed, and no other"; },
      reach::everywhere);
}

TEST_P(allocating, request_to_migrate) {
  weft::pool& target = *weft::sched::here().main_pool.load_acquire();
  std::optional<weft::thread> asked;
  weft::binary_semaphore go(0);
  // It waits when it is asked; without a request, or with one, it must end.
  const auto begin = [&] {
    asked.emplace([&] { go.acquire(); });
    while (asked->state() != weft::unit::state::blocked)
      weft::this_thread::yield();
  };
  begin();
  fails_cleanly([&] { asked->migrate_to(target); },
                [&] {
                  go.release();
                  asked->join();
                  begin();
                });
  go.release();
  asked->join();
}

TEST_P(allocating, task_group_run) {
  std::atomic<int> ran{0};
  int accepted = 0;
  fails_cleanly(
      [&, c = large{}] {
        weft::task_group group;
        group.run([&ran, c] {
          static_cast<void>(c);
          ++ran;
        });
        ++accepted;
        group.wait();
      },
      [&] { EXPECT_EQ(ran.load(), accepted); });
}

// --- what threads wait for ---

TEST_P(allocating, promise_and_future) {
  fails_cleanly([] {
    weft::promise<int> p;
    weft::future<int> f = p.get_future();
    p.set_value(1);
    if (f.get() != 1)
      throw std::logic_error("another value");
  });
}

// The destructor of a promise may not throw, and the future must be told all the same.
TEST_P(allocating, broken_promise) {
  std::optional<weft::promise<int>> p;
  weft::future<int> f;
  const auto begin = [&] {
    p.emplace();
    f = p->get_future();
  };
  begin();
  bool told_otherwise = false;
  fails_cleanly(
      [&] {
        p.reset();
        ASSERT_TRUE(f.ready());
        try {
          f.get();
        } catch (const std::future_error&) {
        } catch (const std::bad_alloc&) {
          told_otherwise = true;
          throw;
        }
      },
      begin);
  EXPECT_TRUE(told_otherwise);
}

TEST_P(allocating, packaged_task) {
  fails_cleanly([c = large{}] {
    weft::packaged_task<int()> task([c] { return static_cast<int>(c.room.size()); });
    task();
    task.reset();
    weft::future<int> f = task.get_future();
    task();
    if (f.get() != 200)
      throw std::logic_error("another value");
  });
}

TEST_P(allocating, channel_send) {
  weft::channel<std::unique_ptr<int>> c;
  auto value = std::make_unique<int>(1);
  fails_cleanly(
      [&] {
        try {
          ASSERT_EQ(c.send(std::move(value)), weft::sync::channel_status::ok);
        } catch (const std::bad_alloc&) {
          EXPECT_NE(value, nullptr) << "a send that fails leaves the value";
          EXPECT_EQ(c.size(), 0U);
          throw;
        }
      },
      [&] {
        if (auto back = c.try_receive())
          value = std::move(*back);
      });
}

TEST_P(allocating, timed_lock_of_an_mcs_mutex) {
  weft::mcs_mutex m;
  m.lock();
  fails_cleanly(
      [&] {
        on_a_thread([&] {
          if (m.try_lock_for(std::chrono::milliseconds(1)))
            throw std::logic_error("locked twice");
        });
      },
      [&] {
        // Whoever gave up has left its node behind, which the owner takes out: m is still good.
        m.unlock();
        m.lock();
      },
      reach::everywhere);
  m.unlock();
}

struct noted_timer final : weft::sched::timer {
  void on_expiry() noexcept override { ++fired; }
  int fired = 0;
};

TEST(timer_queue, arms_or_says_so) {
  {
    // The first block of its size in a process maps memory; the others are given back blocks.
    weft::sched::timer_queue queue;
    noted_timer t;
    queue.arm(t, 1);
    EXPECT_EQ(queue.expire(2), 1);
  }
  std::uint64_t refused = 0;
  for (const auto& [site, name] : all_sites) {
    weft::sched::timer_queue queue;
    noted_timer t;
    const auto arm = [&] { queue.arm(t, 1); };
    if (attempt(site, 1, reach::this_kernel_thread, arm) != nullptr) {
      ++refused;
      EXPECT_EQ(queue.size(), 0U) << name;
      EXPECT_FALSE(weft::sched::timer_queue::disarm(t)) << name;
      EXPECT_NO_THROW(arm()) << name;
    }
    EXPECT_EQ(queue.expire(2), 1) << name;
    EXPECT_EQ(t.fired, 1) << name;
  }
  EXPECT_EQ(refused, 2U) << "timer_create and memory";
}

// A worker leaves: its timers are waits, and none may be lost. The only refusal is the first allocation, so
// the second attempt has memory.
TEST(timer_queue, moves_all_timers_once_there_is_memory) {
  weft::sched::timer_queue from, to;
  noted_timer moved, present;
  from.arm(moved, 1);
  to.arm(present, 1);
  const auto move = [&] { from.move_to(to); };
  EXPECT_EQ(attempt(fault_site::memory, 1, reach::this_kernel_thread, move), nullptr);
  EXPECT_EQ(weft::os::fault_hits(fault_site::memory), 1U);
  EXPECT_EQ(from.size(), 0U);
  EXPECT_EQ(to.expire(2), 2);
  EXPECT_EQ(moved.fired + present.fired, 2);
}

// --- pools, schedulers, workers ---

TEST_P(allocating, pools) {
  fails_cleanly([] {
    for (const weft::order o : {weft::order::fifo, weft::order::lifo, weft::order::priority}) {
      weft::make_pool(o, weft::access::mpsc);
      weft::make_pool(o, weft::access::mpmc);
    }
    std::make_shared<weft::deque_pool>();
  });
}

TEST_P(allocating, schedulers) {
  fails_cleanly([] {
    const pools some{weft::make_pool(weft::order::fifo, weft::access::mpmc),
                     weft::make_pool(weft::order::fifo, weft::access::mpmc)};
    std::make_shared<weft::fifo_scheduler>(some);
    std::make_shared<weft::priority_scheduler>(some);
    std::make_shared<weft::random_stealing_scheduler>(some);
    std::make_shared<weft::hierarchical_scheduler>(some, std::vector{1});
  });
}

// A pool outlives the workers that failed to start with it, and those that did.
TEST_P(allocating, group_on_a_pool_that_stays) {
  const std::shared_ptr<weft::pool> shared = weft::make_pool(weft::order::fifo, weft::access::mpmc);
  fails_cleanly(
      [&] {
        weft::group_options o;
        o.workers = 2;
        o.pools = arrangement::custom;
        o.make_scheduler = [&](unsigned) { return std::make_shared<weft::fifo_scheduler>(pools{shared}); };
        const weft::worker_group g(std::move(o));
      },
      [&] {
        // Whoever is still attached is looked at for whom to wake.
        EXPECT_EQ(shared->owner(), nullptr);
        shared->announce();
      },
      reach::everywhere);
}

TEST_P(allocating, group_starts_and_stops) {
  for (const bool bind : {false, true}) {
    fails_cleanly(
        [bind] {
          weft::group_options o;
          o.workers = 3;
          o.pools = GetParam();
          o.bind = bind;
          const weft::worker_group g(std::move(o));
        },
        reach::everywhere);
  }
}

// Never has an event, and never wants to be asked.
class silent : public weft::event_source {
 public:
  int poll() noexcept override { return 0; }
  std::chrono::nanoseconds patience() const noexcept override { return std::chrono::nanoseconds::max(); }
};

TEST_P(allocating, event_source) {
  weft::worker_group& group = weft::sched::here().owner_group;
  std::shared_ptr<silent> added;
  fails_cleanly(
      [&] {
        added = std::make_shared<silent>();
        group.add_event_source(added);
      },
      [&] {
        if (added != nullptr)
          group.remove_event_source(*added);
        EXPECT_LE(added.use_count(), 1) << "a source that was not added is not kept";
        added = nullptr;
      });
}

TEST_P(allocating, trace) {
  const std::string path = ::testing::TempDir() + "weft_fault_injection_trace_" + std::to_string(::getpid());
  fails_cleanly(
      [&] {
        try {
          weft::trace::start(path);
        } catch (...) {
          EXPECT_FALSE(weft::trace::active()) << "a recording that could not be started";
          throw;
        }
        weft::thread([] {}).join();
      },
      [&] {
        if (weft::trace::active())
          weft::trace::stop();
        ::unlink(path.c_str());
      },
      reach::everywhere);
}

// A group beside the runtime's. Its workers take a change in at their next decision.
class resized : public allocating {
 protected:
  void SetUp() override {
    allocating::SetUp();
    start_group();
  }
  void TearDown() override {
    group_.reset();
    allocating::TearDown();
  }

  void start_group() {
    group_.reset();
    weft::group_options o;
    o.workers = 2;
    o.pools = GetParam();
    group_.emplace(std::move(o));
  }
  // The group works: each of its workers' pools has a thread run.
  void expect_it_works() {
    for (unsigned i = 0; i < group_->size(); ++i) {
      std::atomic<bool> ran{false};
      weft::thread({.pool = &group_->next_pool()}, [&] { ran = true; }).join();
      EXPECT_TRUE(ran.load());
    }
  }

  static bool nobody_may_leave() {
    return GetParam() == arrangement::pool_per_worker || GetParam() == arrangement::priorities;
  }

  std::optional<weft::worker_group> group_;
};

TEST_P(resized, add_worker) {
  fails_cleanly(
      [&] {
        try {
          group_->add_worker();
        } catch (...) {
          EXPECT_EQ(group_->size(), 2U) << "a worker that could not be had";
          throw;
        }
        EXPECT_EQ(group_->size(), 3U);
      },
      [&] {
        expect_it_works();
        if (nobody_may_leave()) {
          start_group();
        } else {
          group_->resize(2);
        }
      });
}

TEST_P(resized, remove_worker) {
  if (nobody_may_leave())
    GTEST_SKIP() << "nobody may leave there";
  fails_cleanly(
      [&] {
        try {
          group_->remove_worker();
        } catch (...) {
          EXPECT_EQ(group_->size(), 2U) << "a worker that could not leave";
          throw;
        }
        EXPECT_EQ(group_->size(), 1U);
      },
      [&] {
        expect_it_works();
        group_->resize(2);
        expect_it_works();
      });
}

// The worker that takes the new scheduler in has nobody to tell of an error: it goes on with the old one
// until there is memory. The pool stays, and tells when it is served.
TEST_P(resized, set_scheduler) {
  const std::shared_ptr<weft::pool> served = weft::make_pool(weft::order::fifo, weft::access::mpmc);
  std::shared_ptr<weft::pool> fresh;
  fails_cleanly(
      [&] {
        fresh = weft::make_pool(weft::order::fifo, weft::access::mpmc);
        group_->set_scheduler(group_->member(0), std::make_shared<weft::fifo_scheduler>(pools{fresh}));
        while (fresh->owner() == nullptr) // or the fault would find the worker after the test has looked away
          weft::this_thread::yield();
      },
      [&] {
        if (fresh->owner() == nullptr)
          return;
        std::atomic<bool> ran{false};
        weft::thread({.pool = fresh.get()}, [&] { ran = true; }).join();
        EXPECT_TRUE(ran.load());
        // Nothing is left in it, so it may go: the worker leaves it for another one.
        group_->set_scheduler(group_->member(0), std::make_shared<weft::fifo_scheduler>(pools{served}));
        while (fresh->owner() != nullptr)
          weft::this_thread::yield();
      },
      reach::everywhere);
}

INSTANTIATE_TEST_SUITE_P(arrangements, allocating,
                         ::testing::Values(arrangement::stealing, arrangement::hierarchical,
                                           arrangement::one_pool, arrangement::pool_per_worker,
                                           arrangement::priorities));
INSTANTIATE_TEST_SUITE_P(arrangements, resized,
                         ::testing::Values(arrangement::stealing, arrangement::hierarchical,
                                           arrangement::one_pool, arrangement::pool_per_worker,
                                           arrangement::priorities));

} // namespace
