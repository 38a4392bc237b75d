// SPDX-License-Identifier: MIT
// Whoever is let through destroys the primitive at once, while the others are on their way out, however
// they came and however their waits ended. All interleavings of some of it:
// tests/model/destruction_model_test.cpp.
#include "tests/unit/sync/fixture.hpp"
#include "weft/barrier.hpp"
#include "weft/channel.hpp"
#include "weft/condition_variable.hpp"
#include "weft/delegator.hpp"
#include "weft/future.hpp"
#include "weft/latch.hpp"
#include "weft/mutex.hpp"
#include "weft/recursive_mutex.hpp"
#include "weft/semaphore.hpp"
#include "weft/shared_mutex.hpp"
#include "weft/sync/mcs_mutex.hpp"
#include "weft/task_group.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace weft::testing {
namespace {

WEFT_SYNC_SUITE(destruction_test);

/// Where something lies that is destroyed before all have left it: the place is filled then, so that who
/// locks it hangs and what is written is found when the test has joined all.
template <class T>
class plot {
 public:
  template <class... Arguments>
  explicit plot(Arguments&&... arguments) {
    ::new (static_cast<void*>(bytes_)) T(std::forward<Arguments>(arguments)...);
  }
  plot(const plot&) = delete;
  ~plot() {
    EXPECT_TRUE(destroyed_);
    for (const std::byte each : bytes_) {
      EXPECT_EQ(each, fill) << "written to after the destruction";
    }
  }
  T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(bytes_)); }
  T* operator->() noexcept { return &**this; }
  void destroy() noexcept {
    std::destroy_at(&**this);
    std::memset(bytes_, static_cast<int>(fill), sizeof bytes_);
    destroyed_ = true;
  }
  /// By the first of those who come here.
  void through() noexcept {
    if (!left_.exchange(true)) {
      destroy();
    }
  }

 private:
  static constexpr std::byte fill{0xA5};
  alignas(T) std::byte bytes_[sizeof(T)];
  std::atomic<bool> left_ = false;
  bool destroyed_ = false;
};

/// Runs both at the same time, again and again, on threads of either kind.
template <class Make, class First, class Second>
void race(Make make, First first, Second second, int rounds = 60) {
  for (int round = 0; round < rounds; ++round) {
    auto shared = make();
    crowd c;
    const auto one = [&](int) { first(*shared); };
    const auto two = [&](int) { second(*shared); };
    round % 3 == 1 ? c.kernel_threads(1, one) : c.weft_threads(1, one);
    round % 3 == 2 ? c.kernel_threads(1, two) : c.weft_threads(1, two);
  }
}

template <class T, class... Arguments>
auto makes(Arguments... arguments) {
  return [=] { return std::make_unique<plot<T>>(arguments...); };
}

TEST_P(destruction_test, barrier_and_who_arrives_and_waits) {
  const auto meet = [](plot<barrier<>>& b) {
    b->arrive_and_wait();
    b.through();
  };
  race(makes<barrier<>>(2), meet, meet);
}

TEST_P(destruction_test, barrier_and_who_arrives) {
  const auto meet = [](plot<barrier<>>& b) {
    b->arrive_and_wait();
    b.through();
  };
  race(makes<barrier<>>(2), meet, [](plot<barrier<>>& b) { static_cast<void>(b->arrive()); });
  race(makes<barrier<>>(2), meet, [](plot<barrier<>>& b) { b->arrive_and_drop(); });
}

/// What the rounds below stop, at some moment.
template <class T>
struct stoppable {
  explicit stoppable(std::ptrdiff_t expected) : what(expected) {}
  plot<T> what;
  std::stop_source stop;
};

template <class T>
void race_of_three() {
  for (int round = 0; round < 60; ++round) {
    stoppable<T> all(2);
    crowd c;
    const auto waits = [&](int) {
      if (all.what->arrive_and_wait(all.stop.get_token())) {
        all.what.through();
      }
    };
    round % 2 == 0 ? c.kernel_threads(1, waits) : c.weft_threads(1, waits);
    c.weft_threads(1, [&](int) { all.stop.request_stop(); });
    c.weft_threads(1, [&](int) {
      all.what->arrive_and_wait();
      all.what.through();
    });
  }
}

TEST_P(destruction_test, barrier_and_who_is_stopped) {
  race_of_three<barrier<>>();
}
TEST_P(destruction_test, latch_and_who_is_stopped) {
  race_of_three<latch>();
}

TEST_P(destruction_test, latch_and_who_arrives_and_waits) {
  const auto meet = [](plot<latch>& l) {
    l->arrive_and_wait();
    l.through();
  };
  race(makes<latch>(2), meet, meet);
  race(makes<latch>(2), meet, [](plot<latch>& l) { l->count_down(); });
  race(
      makes<latch>(1),
      [](plot<latch>& l) {
        EXPECT_TRUE(l->wait_for(never));
        l.destroy();
      },
      [](plot<latch>& l) { l->count_down(); });
}

TEST_P(destruction_test, semaphore_and_who_acquires) {
  const auto release = [](plot<binary_semaphore>& s) { s->release(); };
  const auto acquire = [](plot<binary_semaphore>& s) {
    s->acquire();
    s.destroy();
  };
  const auto acquire_for = [](plot<binary_semaphore>& s) {
    EXPECT_TRUE(s->try_acquire_for(never));
    s.destroy();
  };
  const auto acquire_unless_stopped = [](plot<binary_semaphore>& s) {
    std::stop_source nobody;
    EXPECT_TRUE(s->acquire(nobody.get_token()));
    s.destroy();
  };
  race(makes<binary_semaphore>(0), acquire, release);
  race(makes<binary_semaphore>(0), acquire_for, release);
  race(makes<binary_semaphore>(0), acquire_unless_stopped, release);
  const auto try_in_a_loop = [](plot<binary_semaphore>& s) {
    while (!s->try_acquire()) {
      this_thread::yield();
    }
    s.destroy();
  };
  race(makes<binary_semaphore>(0), try_in_a_loop, release);
}

/// The last of two users of a lock destroys it, as the last reference to an object does.
template <class Lock>
struct counted {
  Lock lock;
  int users = 2;
};

template <class Lock, class Take>
void last_user_destroys(Take take) {
  const auto use = [take](plot<counted<Lock>>& c) {
    take(c->lock);
    const bool last = --c->users == 0;
    c->lock.unlock();
    if (last) {
      c.destroy();
    }
  };
  race(makes<counted<Lock>>(), use, use, 15); // in many forms
}

template <class Lock>
void last_user_destroys_a_lock() {
  last_user_destroys<Lock>([](Lock& l) { l.lock(); });
  last_user_destroys<Lock>([](Lock& l) {
    while (!l.try_lock()) {
      this_thread::yield();
    }
  });
}
template <class Lock>
void last_user_destroys_a_timed_lock() {
  last_user_destroys_a_lock<Lock>();
  last_user_destroys<Lock>([](Lock& l) {
    while (!l.try_lock_for(std::chrono::microseconds(5))) {
    }
  });
  last_user_destroys<Lock>([](Lock& l) {
    std::stop_source nobody;
    ASSERT_TRUE(l.lock(nobody.get_token()));
  });
}

TEST_P(destruction_test, mutexes_and_their_last_user) {
  last_user_destroys_a_timed_lock<mutex>();
  last_user_destroys_a_timed_lock<recursive_mutex>();
  last_user_destroys_a_timed_lock<sync::mcs_mutex>();
  last_user_destroys_a_timed_lock<shared_mutex>();
  last_user_destroys_a_lock<delegator<>>();
}

/// One waits, one tries in a loop, and the owner, who has let both come, takes it once more: what was offered
/// to the first is taken from it. The last of the three destroys the lock.
template <class Lock>
void last_of_three_destroys() {
  for (int round = 0; round < 60; ++round) {
    plot<counted<Lock>> c;
    c->users = 3;
    crowd others;
    const auto leave = [&] {
      const bool last = --c->users == 0;
      c->lock.unlock();
      if (last) {
        c.destroy();
      }
    };
    const auto wait = [&](int) {
      c->lock.lock();
      leave();
    };
    const auto try_in_a_loop = [&](int) {
      while (!c->lock.try_lock()) {
        this_thread::yield();
      }
      leave();
    };
    c->lock.lock();
    round % 2 == 0 ? others.kernel_threads(1, wait) : others.weft_threads(1, wait);
    round % 4 < 2 ? others.kernel_threads(1, try_in_a_loop) : others.weft_threads(1, try_in_a_loop);
    this_thread::yield();
    c->lock.unlock();
    try_in_a_loop(0);
    others.join();
  }
}

TEST_P(destruction_test, locks_and_the_last_of_three_users) {
  last_of_three_destroys<mutex>();
  last_of_three_destroys<sync::mcs_mutex>();
  last_of_three_destroys<shared_mutex>();
  last_of_three_destroys<delegator<>>();
}

TEST_P(destruction_test, condition_variable_and_who_is_notified) {
  struct state {
    mutex m; // outlives the condition variable
    std::optional<plot<condition_variable>> changed{std::in_place};
    bool set = false;
  };
  for (const bool timed : {false, true}) {
    race([] { return std::make_unique<state>(); },
         [timed](state& s) {
           std::unique_lock held(s.m);
           timed ? static_cast<void>((*s.changed)->wait_for(held, never, [&] { return s.set; }))
                 : (*s.changed)->wait(held, [&] { return s.set; });
           s.changed->destroy();
         },
         [](state& s) {
           const std::scoped_lock held(s.m);
           s.set = true;
           (*s.changed)->notify_one();
         });
  }
}

TEST_P(destruction_test, promise_and_who_has_its_result) {
  struct pair {
    plot<promise<int>> p;
    future<int> f = p->get_future();
  };
  race([] { return std::make_unique<pair>(); },
       [](pair& both) {
         EXPECT_EQ(both.f.get(), 7);
         both.p.destroy();
       },
       [](pair& both) { both.p->set_value(7); });
  race([] { return std::make_unique<pair>(); },
       [](pair& both) {
         while (!both.f.ready()) { // never in the queue
           this_thread::yield();
         }
         both.f = {};
         both.p.destroy();
       },
       [](pair& both) { both.p->set_value(7); });
}

TEST_P(destruction_test, channel_and_who_has_its_last_value) {
  race([] { return std::make_unique<plot<channel<int>>>(std::size_t{0}); },
       [](plot<channel<int>>& c) {
         EXPECT_EQ(*c->receive(), 7);
         c.destroy();
       },
       [](plot<channel<int>>& c) { EXPECT_EQ(c->send(7), channel_status::ok); });
  race([] { return std::make_unique<plot<channel<int>>>(); },
       [](plot<channel<int>>& c) {
         EXPECT_FALSE(c->receive());
         c.destroy();
       },
       [](plot<channel<int>>& c) { c->close(); });
}

TEST_P(destruction_test, delegator_and_whose_function_has_run) {
  const auto use = [](plot<counted<delegator<>>>& c) {
    c->lock.post([] {});
    if (c->lock.execute_or_delegate([&] { return --c->users == 0; })) {
      c.destroy();
    }
  };
  race(makes<counted<delegator<>>>(), use, use);
}

void await_blocked(const weft::thread& t) {
  while (t.state() != unit::state::blocked) {
    this_thread::yield();
  }
}

/// On one worker nobody else runs between the two: the destructor must not wait for the thread that was
/// stopped and has not run since.
template <class T>
void destroyed_before_the_stopped_one_runs() {
  stoppable<T> all(2);
  bool went_on = true;
  weft::thread stopped([&] { went_on = all.what->arrive_and_wait(all.stop.get_token()); });
  await_blocked(stopped);
  all.stop.request_stop();
  all.what->arrive_and_wait();
  all.what.destroy();
  stopped.join();
  EXPECT_FALSE(went_on);
}

/// The same with one to whom a permit was offered, and perhaps taken back by one that tries.
void destroyed_before_the_one_runs_to_whom_it_was_offered(bool taken) {
  plot<binary_semaphore> s(0);
  std::stop_source stop;
  bool got = !taken;
  weft::thread waits([&] { got = s->acquire(stop.get_token()); });
  await_blocked(waits);
  s->release();
  if (taken) {
    taken = s->try_acquire(); // not if it has run meanwhile, on another worker
  }
  stop.request_stop();
  if (taken) {
    s.destroy();
  }
  waits.join();
  EXPECT_EQ(got, !taken);
  if (!taken) {
    s.destroy();
  }
}

TEST_P(destruction_test, does_not_wait_for_one_to_whom_a_permit_was_offered) {
  for (const bool taken : {false, true}) {
    destroyed_before_the_one_runs_to_whom_it_was_offered(taken);
  }
}

/// What is offered when it is destroyed was handed over.
TEST_P(destruction_test, lets_one_go_to_whom_a_permit_was_offered) {
  plot<binary_semaphore> s(0);
  bool got = false;
  weft::thread waits([&] {
    s->acquire();
    got = true;
  });
  await_blocked(waits);
  s->release();
  s.destroy();
  waits.join();
  EXPECT_TRUE(got);
}

TEST_P(destruction_test, does_not_wait_for_a_thread_of_the_same_worker) {
  destroyed_before_the_stopped_one_runs<barrier<>>();
  destroyed_before_the_stopped_one_runs<latch>();
}

/// Two wait; the first to come back destroys the group, and one has the exception.
TEST_P(destruction_test, task_group_and_one_of_those_who_wait) {
  for (int round = 0; round < 60; ++round) {
    plot<task_group> group;
    std::atomic<int> errors = 0;
    std::atomic<bool> go = false;
    group->run([&] {
      while (!go) {
        this_thread::yield();
      }
      throw 1;
    });
    const auto wait = [&] {
      try {
        group->wait();
      } catch (int) {
        ++errors;
      }
      group.through();
    };
    weft::thread a(wait);
    weft::thread b(wait);
    await_blocked(a);
    await_blocked(b);
    go = true;
    a.join();
    b.join();
    EXPECT_EQ(errors, 1);
  }
}

} // namespace
} // namespace weft::testing
