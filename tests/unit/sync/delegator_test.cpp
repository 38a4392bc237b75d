// SPDX-License-Identifier: MIT
// The contract of delegators, with both queues.
#include "weft/delegator.hpp"

#include "tests/unit/sync/fixture.hpp"
#include "weft/latch.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>

namespace weft::testing {
namespace {

static_assert(consumer<function_consumer>);
static_assert(!std::is_copy_constructible_v<delegator<>> &&
              std::is_nothrow_default_constructible_v<delegator<>>);

WEFT_SYNC_SUITE(delegator_test);

using small_ring = request_ring<4>; // so that its overflow is used

/// Runs `body.operator()<Queue>()` for every kind of queue.
template <class Body>
void for_each_queue(Body body) {
  body.template operator()<request_list>();
  body.template operator()<request_ring<>>();
  body.template operator()<small_ring>();
}

/// The same with a delegator of functions, without and with its consumer.
template <class Body>
void for_each_delegator(Body body) {
  for_each_queue([&]<class Queue>() {
    for (const bool started : {false, true}) {
      delegator<function_consumer, Queue> d;
      if (started) {
        d.start_consumer();
        d.execute_or_delegate([] {}); // it has begun, and answers before it lets go
        d.lock();                     // it owns the delegator no longer
        d.unlock();
      }
      body(d);
    }
  });
}

TEST_P(delegator_test, is_a_lock) {
  for_each_delegator([](auto& d) {
    {
      const std::scoped_lock held(d);
      weft::thread([&] { EXPECT_FALSE(d.try_lock()); }).join();
    }
    std::unique_lock lock(d, std::try_to_lock);
    EXPECT_TRUE(lock.owns_lock());
  });
}

TEST_P(delegator_test, excludes_threads_of_both_kinds_by_all_entry_points) {
  for_each_delegator([](auto& d) {
    constexpr int rounds = 500;
    long count = 0;
    int inside = 0;
    const auto add = [&] {
      EXPECT_EQ(++inside, 1);
      ++count;
      --inside;
    };
    crowd c;
    const auto work = [&](int id) {
      for (int i = 0; i < rounds; ++i) {
        switch ((id + i) % 4) {
        case 0: {
          const std::scoped_lock held(d);
          add();
          if (i % 64 == 0) {
            this_thread::yield(); // the others meet an owned delegator, also with one worker
          }
          break;
        }
        case 1:
          d.execute_or_delegate(add);
          break;
        case 2:
          d.post(add);
          break;
        default:
          EXPECT_EQ(d.execute_or_delegate([&] {
            add();
            return i;
          }),
                    i);
          break;
        }
      }
    };
    c.kernel_threads(2, work);
    c.weft_threads(6, work);
    c.join();
    EXPECT_EQ(d.execute_or_delegate([&] { return count; }), 8 * rounds);
  });
}

TEST_P(delegator_test, serves_in_order) {
  for_each_delegator([](auto& d) {
    std::vector<int> order;
    d.lock();
    for (int i = 0; i < 100; ++i) {
      d.post([&order, i] { order.push_back(i); });
    }
    EXPECT_TRUE(order.empty());
    d.unlock();
    EXPECT_EQ(d.execute_or_delegate([&] { return order.size(); }), 100U);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    }
  });
}

/// What one caller posts stays in order, also when others fill the ring meanwhile.
TEST_P(delegator_test, keeps_the_order_of_each_caller) {
  for_each_delegator([](auto& d) {
    constexpr int callers = 6;
    std::array<int, callers> last{};
    crowd c;
    const auto post = [&](int id) {
      int& mine = last[static_cast<std::size_t>(id)];
      for (int i = 1; i <= 300; ++i) {
        d.post([&mine, i] { EXPECT_EQ(std::exchange(mine, i), i - 1); });
      }
      d.execute_or_delegate([&mine] { EXPECT_EQ(mine, 300); });
    };
    c.weft_threads(4, post);
    c.kernel_threads(2, [&](int id) { post(4 + id); });
    c.join();
  });
}

TEST_P(delegator_test, lock_waits_in_the_order_of_the_requests) {
  const bool one_worker = GetParam() == 1;
  for_each_delegator([one_worker](auto& d) {
    std::vector<int> order;
    d.lock();
    std::vector<weft::thread> threads;
    for (int i = 0; i < 4; ++i) {
      std::atomic<bool> started = false;
      threads.emplace_back([&, i] {
        started = true;
        const std::scoped_lock held(d);
        order.push_back(i);
      });
      while (!started) {
        this_thread::yield();
      }
      if (one_worker) {
        d.post([&order, i] { order.push_back(10 + i); });
      }
    }
    d.unlock();
    for (auto& t : threads) {
      t.join();
    }
    if (one_worker) {
      EXPECT_EQ(order, (std::vector<int>{0, 10, 1, 11, 2, 12, 3, 13}));
    }
  });
}

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST_P(delegator_test, exceptions_reach_who_waits) {
  for_each_delegator([](auto& d) {
    const auto fail = [] { throw failure("here or elsewhere"); };
    EXPECT_THROW(d.execute_or_delegate(fail), failure);
    d.lock();
    crowd c;
    std::atomic<int> caught = 0;
    const auto fail_elsewhere = [&](int) {
      try {
        d.execute_or_delegate(fail);
      } catch (const failure&) {
        ++caught;
      }
    };
    c.weft_threads(3, fail_elsewhere);
    c.kernel_threads(1, fail_elsewhere);
    this_thread::yield();
    d.unlock();
    c.join();
    EXPECT_EQ(caught, 4);
    EXPECT_TRUE(d.try_lock()); // it was given back
    d.unlock();
  });
}

TEST_P(delegator_test, an_exception_of_a_posted_function_ends_the_process) {
  if (GetParam() != 1) {
    GTEST_SKIP() << "once is enough";
  }
  delegator<> d;
  EXPECT_DEATH(d.post([] { throw failure("nobody waits"); }), "nobody waits");
  EXPECT_DEATH(
      {
        d.lock();
        d.post([] { throw failure("nobody waits"); });
        d.unlock();
      },
      "nobody waits");
}

TEST_P(delegator_test, results_and_large_closures) {
  for_each_delegator([](auto& d) {
    d.lock();
    std::unique_ptr<int> got;
    const auto shared = std::make_shared<int>(7);
    weft::thread waiting([&] { got = d.execute_or_delegate([] { return std::make_unique<int>(3); }); });
    while (waiting.state() != unit::state::blocked) {
      this_thread::yield();
    }
    std::array<long, 40> large{};
    large.back() = 5;
    long sum = 0;
    d.post([large, shared, &sum] { sum += large.back() + *shared; });
    d.post([shared, &sum] { sum += *shared; });
    EXPECT_EQ(shared.use_count(), 3);
    d.unlock();
    waiting.join();
    EXPECT_EQ(*got, 3);
    EXPECT_EQ(d.execute_or_delegate([&] { return sum; }), 19);
    d.lock(); // the last one is gone, closure and all
    d.unlock();
    EXPECT_EQ(shared.use_count(), 1);
  });
}

TEST_P(delegator_test, a_tasklet_may_post_but_not_wait) {
  for_each_delegator([](auto& d) {
    int executed = 0;
    weft::tasklet([&] {
      d.lock();
      d.unlock();
      d.execute_or_delegate([&] { ++executed; });
    }).join();
    EXPECT_EQ(executed, 1);
    d.lock();
    bool refused = false;
    weft::tasklet([&] {
      refused = is_refused([&] { d.lock(); }) && is_refused([&] { d.execute_or_delegate([] {}); });
      for (int i = 0; i < 100; ++i) {
        d.post([&] { ++executed; });
      }
    }).join();
    EXPECT_TRUE(refused);
    EXPECT_EQ(executed, 1);
    d.unlock();
    d.execute_or_delegate([&] { EXPECT_EQ(executed, 101); });
  });
}

/// A delegated function may post; what it posts is served by the same owner.
TEST_P(delegator_test, delegated_functions_may_post) {
  for_each_delegator([](auto& d) {
    int executed = 0;
    const auto post_many = [&] {
      for (int i = 0; i < 100; ++i) {
        d.post([&] { ++executed; });
      }
    };
    d.execute_or_delegate(post_many);
    d.lock();
    d.post(post_many);
    d.unlock();
    weft::thread([&] {
      while (d.execute_or_delegate([&] { return executed; }) != 200) {
        this_thread::yield();
      }
    }).join();
  });
}

TEST_P(delegator_test, unlock_and_wait_is_atomic) {
  for_each_delegator([](auto& d) {
    sync::suspended_thread place;
    bool inside = false;
    long served = 0;
    for (int i = 0; i < 60; ++i) {
      crowd c;
      const auto wake = [&](int) {
        for (bool done = false; !done;) {
          d.post([&] { ++served; });
          done = d.execute_or_delegate([&] {
            if (!std::exchange(inside, false)) {
              return false;
            }
            EXPECT_TRUE(place.notify());
            return true;
          });
          this_thread::yield();
        }
      };
      if (i % 4 == 0) {
        c.kernel_threads(1, wake);
      } else {
        c.weft_threads(1, wake);
      }
      d.lock();
      inside = true;
      d.unlock_and_wait(place);
      d.execute_or_delegate([&] { EXPECT_FALSE(inside); });
    }
    d.execute_or_delegate([&] { EXPECT_GE(served, 60); });
  });
}

/// Who gets it last destroys it: the one before may still be on its way out.
TEST_P(delegator_test, may_be_destroyed_by_the_next_owner) {
  for_each_queue([]<class Queue>() {
    struct shared {
      delegator<function_consumer, Queue> d;
      int users = 2;
    };
    for (int round = 0; round < 60; ++round) {
      auto s = std::make_unique<shared>();
      const auto leave = [](shared* s) {
        if (s->d.execute_or_delegate([s] { return --s->users == 0; })) {
          delete s;
        }
      };
      crowd c;
      const auto use = [&leave, s = s.get()](int) { leave(s); };
      if (round % 2 == 0) {
        c.kernel_threads(1, use);
      } else {
        c.weft_threads(1, use);
      }
      leave(s.release());
    }
  });
}

// --- the consumer ---

/// Executes what is delegated when a ticket is there; progress() makes one. Notifies who waits in the
/// request.
struct ticket_consumer {
  struct delegated_func_type {
    int number = 0;
    sync::suspended_thread waits;
  };
  std::tuple<bool, sync::suspended_thread> execute(delegated_func_type& f) {
    if (tickets == 0) {
      ++refused;
      wanted = true;
      return {false, sync::suspended_thread()};
    }
    --tickets;
    sum += f.number;
    return {true, std::move(f.waits)};
  }
  sync::suspended_thread progress() {
    ++progressed;
    ++tickets;
    wanted = false;
    return {};
  }
  [[nodiscard]] bool is_active() const { return wanted; }

  int tickets = 0;
  int refused = 0;
  int progressed = 0;
  bool wanted = false;
  long sum = 0;
};
static_assert(consumer<ticket_consumer>);

TEST_P(delegator_test, the_consumer_retries_what_it_put_off) {
  for_each_queue([]<class Queue>() {
    ticket_consumer c;
    delegator<ticket_consumer, Queue> d;
    d.start_consumer(c);
    d.lock();
    crowd many;
    const auto delegate = [&](int id) {
      const bool locked = d.lock_or_delegate([&](ticket_consumer::delegated_func_type& f) {
        f.number = id;
        return &f.waits;
      });
      if (locked) {
        c.sum += id;
        d.unlock();
      }
    };
    many.weft_threads(10, delegate);
    many.kernel_threads(2, [&](int id) { delegate(10 + id); });
    weft::tasklet([&] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_FALSE(
            d.lock_or_delegate([i](ticket_consumer::delegated_func_type& f) -> sync::suspended_thread* {
              f.number = 100 + i;
              return nullptr;
            }));
      }
    }).join();
    d.unlock();
    many.join();
    d.stop_consumer();
    EXPECT_EQ(c.sum, 11 * 12 / 2 + 20 * 100 + 19 * 20 / 2);
    EXPECT_GE(c.progressed, 20);
    EXPECT_GE(c.refused, 20);
  });
}

/// The paper's use: whoever finds it free starts the operation himself, and waits for it in the consumer.
TEST_P(delegator_test, execute_or_delegate_waits_either_way) {
  struct waiting_room {
    struct delegated_func_type {
      sync::suspended_thread waits;
    };
    std::tuple<bool, sync::suspended_thread> execute(delegated_func_type& f) {
      pending.push_back(std::make_unique<sync::suspended_thread>(std::move(f.waits)));
      return {true, sync::suspended_thread()};
    }
    sync::suspended_thread progress() {
      sync::suspended_thread first;
      for (auto& p : pending) {
        if (first) {
          p->notify();
        } else {
          first = std::move(*p);
        }
      }
      pending.clear();
      return first;
    }
    [[nodiscard]] bool is_active() const { return !pending.empty(); }

    std::vector<std::unique_ptr<sync::suspended_thread>> pending;
  };
  for_each_queue([]<class Queue>() {
    waiting_room room;
    delegator<waiting_room, Queue> d;
    d.start_consumer(room);
    std::atomic<int> here = 0;
    std::atomic<int> through = 0;
    crowd c;
    const auto wait = [&](int) {
      for (int i = 0; i < 50; ++i) {
        here += d.execute_or_delegate(
            [&] { return room.pending.emplace_back(std::make_unique<sync::suspended_thread>()).get(); },
            [](typename waiting_room::delegated_func_type& f) { return &f.waits; });
        ++through;
      }
    };
    c.weft_threads(8, wait);
    c.kernel_threads(1, wait);
    c.join();
    EXPECT_EQ(through, 450);
    d.lock(); // the consumer is through with them
    d.unlock();
    EXPECT_TRUE(d.execute_or_delegate([] {}, [](auto&) -> sync::suspended_thread* { return nullptr; }));
    EXPECT_THROW(d.execute_or_delegate([] { throw failure("run"); },
                                       [](auto&) -> sync::suspended_thread* { return nullptr; }),
                 failure);
    d.stop_consumer();
    EXPECT_FALSE(room.is_active());
  });
}

TEST_P(delegator_test, stop_executes_what_is_pending) {
  for_each_queue([]<class Queue>() {
    delegator<function_consumer, Queue> d;
    int executed = 0;
    for (int round = 0; round < 20; ++round) {
      d.start_consumer();
      d.lock();
      for (int i = 0; i < 100; ++i) { // more than a releasing thread does for others
        d.post([&] { ++executed; });
      }
      d.unlock();
      d.stop_consumer();
      EXPECT_EQ(executed, (round + 1) * 100);
    }
  });
}

TEST_P(delegator_test, starting_and_stopping_under_load) {
  for_each_queue([]<class Queue>() {
    delegator<function_consumer, Queue> d;
    std::atomic<bool> done = false;
    long executed = 0;
    std::atomic<long> wanted = 0;
    crowd c;
    const auto work = [&](int) {
      do {
        d.post([&] { ++executed; });
        d.execute_or_delegate([&] { ++executed; });
        wanted += 2;
        this_thread::yield();
      } while (!done);
    };
    c.weft_threads(4, work);
    c.kernel_threads(1, work);
    for (int round = 0; round < 20; ++round) {
      d.start_consumer();
      EXPECT_THROW(d.start_consumer(), std::system_error);
      this_thread::yield();
      d.stop_consumer();
      EXPECT_THROW(d.stop_consumer(), std::system_error);
    }
    done = true;
    c.join();
    EXPECT_EQ(d.execute_or_delegate([&] { return executed; }), wanted);
  });
}

TEST_P(delegator_test, misuse_is_diagnosed) {
  if (GetParam() != 1) {
    GTEST_SKIP() << "once is enough";
  }
  delegator<> d;
  EXPECT_DEATH(
      {
        d.lock();
        weft::tasklet([&] {
          static_cast<void>(d.lock_or_delegate([](auto&) -> sync::suspended_thread* { return nullptr; }));
        }).join();
        d.unlock();
      },
      "that has none");
}

} // namespace
} // namespace weft::testing
