// SPDX-License-Identifier: MIT
// Whatever is joined, waited for or closed has destroyed what it was given by then: captures commonly refer
// to what the waiter takes down afterwards.
#include "tests/unit/api/fixture.hpp"
#include "weft/blocking.hpp"
#include "weft/delegator.hpp"
#include "weft/fork_join.hpp"
#include "weft/future.hpp"
#include "weft/light.hpp"
#include "weft/parallel.hpp"
#include "weft/suspend.hpp"
#include "weft/task_group.hpp"
#include "weft/techniques.hpp"
#include "weft/thread.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <utility>

namespace weft::test {
namespace {

WEFT_API_SUITE(captures_test);

/// Whose destructor lets all others run first, if it may.
class resource {
 public:
  explicit resource(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
  resource(const resource&) = delete;
  ~resource() {
    if (sched::on_worker() && sched::here().current->kind() == unit::kind_thread) {
      for (int i = 0; i < 20; ++i)
        this_thread::yield();
    }
    --alive_;
  }

 private:
  std::atomic<int>& alive_;
};

/// A callable that shares a resource with its copies, and is as large as asked for.
template <std::size_t Padding>
struct holder {
  std::shared_ptr<resource> held;
  char padding[Padding] = {};
  void operator()() const {}
};

class captures {
 public:
  ~captures() { EXPECT_EQ(alive_, 0); }
  template <std::size_t Padding = 1>
  holder<Padding> give() {
    return {std::make_shared<resource>(alive_)};
  }
  void expect_gone(const char* after) { EXPECT_EQ(alive_, 0) << "after " << after; }

 private:
  std::atomic<int> alive_ = 0;
};

TEST_P(captures_test, task_group) {
  for (int round = 0; round < 20; ++round) {
    captures c;
    {
      weft::task_group group;
      for (int i = 0; i < 3; ++i) {
        group.run(c.give());
        group.run(c.give<100>()); // on the heap
        group.run([held = c.give()] { this_thread::yield(); });
      }
      group.run([held = c.give()] { this_thread::exit(); });
      group.wait();
      c.expect_gone("wait()");
      group.run([held = c.give()] { throw std::runtime_error("told"); });
      EXPECT_THROW(group.wait(), std::runtime_error);
      c.expect_gone("wait() that throws");
      group.run(c.give());
      while (!group.wait_for(std::chrono::microseconds(50))) {
      }
      c.expect_gone("wait_for()");
      group.run(c.give());
    }
    c.expect_gone("the destructor");
  }
}

struct throws_when_copied {
  explicit throws_when_copied(std::shared_ptr<resource> h) : held(std::move(h)) {}
  throws_when_copied(const throws_when_copied&) { throw std::runtime_error("copy"); }
  void operator()() const {}
  std::shared_ptr<resource> held;
};

TEST_P(captures_test, a_copy_that_throws_leaves_the_group_as_it_was) {
  captures c;
  weft::task_group group;
  const throws_when_copied f(c.give().held);
  EXPECT_THROW(group.run(f), std::runtime_error);
  group.wait(); // for nobody
}

template <class Thread>
void expect_gone_after_join(const char* what) {
  captures c;
  Thread small(c.give());
  small.join();
  c.expect_gone(what);
  Thread large(c.give<100>());
  large.join();
  c.expect_gone(what);
}

TEST_P(captures_test, threads_and_tasklets) {
  for (int round = 0; round < 10; ++round) {
    expect_gone_after_join<thread>("thread::join()");
    expect_gone_after_join<light::thread>("light::thread::join()");
    expect_gone_after_join<thread_of<technique_id::sc>>("thread_of::join()");
    expect_gone_after_join<thread_of<technique_id::c_full>>("thread_of::join()");
    expect_gone_after_join<tasklet>("tasklet::join()");
    captures c;
    {
      const jthread t(c.give());
    }
    c.expect_gone("~jthread()");
    thread with_arguments([](const holder<1>&, int) {}, c.give(), 3);
    while (!with_arguments.try_join_for(std::chrono::milliseconds(1))) {
    }
    c.expect_gone("try_join_for()");
    thread never_starts(c.give());
    never_starts.cancel();
    never_starts.join();
    c.expect_gone("the end of a thread that was cancelled");
  }
}

TEST_P(captures_test, forks_and_loops) {
  for (int round = 0; round < 10; ++round) {
    captures c;
    {
      auto forked = fork(c.give());
      this_thread::yield();
      forked.join();
    }
    c.expect_gone("a fork");
    {
      auto forgotten = fork([held = c.give()] { return held; }); // the result holds it too
    }
    c.expect_gone("a fork that nobody joined");
    parallel_for(0, 64, [held = c.give()](int) { const auto copy = held; }, 1);
    c.expect_gone("parallel_for()");
    const auto both = [](std::shared_ptr<resource> a, const std::shared_ptr<resource>& b) {
      return b != nullptr ? b : a;
    };
    parallel_reduce(0, 64, std::shared_ptr<resource>(), [&](int) { return c.give().held; }, both, 1);
    c.expect_gone("parallel_reduce()");
  }
}

TEST_P(captures_test, delegators) {
  for (int round = 0; round < 10; ++round) {
    captures c;
    captures of_main; // whose post may be under way when the other thread looks
    {
      delegator<> d;
      d.start_consumer();
      thread other([&] {
        for (int i = 0; i < 10; ++i) {
          d.post(c.give());
          d.post(c.give<100>());
        }
        d.execute_or_delegate(c.give());
        c.expect_gone("a function that was executed behind those that were posted");
      });
      d.post(of_main.give());
      other.join();
      d.post(c.give());
      d.stop_consumer();
      c.expect_gone("stop_consumer()");
      of_main.expect_gone("stop_consumer()");
      d.post(c.give());
    }
    c.expect_gone("~delegator()");
    {
      delegator<function_consumer, request_ring<4>> d;
      for (int i = 0; i < 10; ++i)
        d.post(c.give());
    }
    c.expect_gone("~delegator() of a ring");
  }
}

TEST_P(captures_test, blocking_calls_and_callbacks) {
  captures c;
  blocking([held = c.give()] {});
  c.expect_gone("blocking()");
  EXPECT_EQ(blocking([held = c.give()] { return 3; }), 3);
  c.expect_gone("blocking() with a result");
  EXPECT_THROW(blocking([held = c.give()] { throw std::runtime_error("told"); }), std::runtime_error);
  c.expect_gone("blocking() that throws");
  sync::suspend([held = c.give()](auto handle) { handle(); });
  c.expect_gone("suspend()");
  {
    packaged_task<int()> task([held = c.give()] { return 7; });
    future<int> result = task.get_future();
    thread([t = std::move(task)]() mutable { t(); }).join();
    EXPECT_EQ(result.get(), 7);
  }
  c.expect_gone("a thread that called a task");
}

} // namespace
} // namespace weft::test
