// SPDX-License-Identifier: MIT
// What a thread may do although it runs on its joiner's stack: wait, move, end early, be somebody of its own.
#include <array>
#include <atomic>
#include <cfenv>
#include <exception>
#include <functional>
#include <stdexcept>

#include "tests/unit/api/inline_join.hpp"
#include "weft/mutex.hpp"
#include "weft/sleep.hpp"
#include "weft/thread_specific.hpp"

namespace weft::test {
namespace {

WEFT_INLINE_JOIN_SUITE(inlined, private_1, private_2, private_4, stealing_1, stealing_2, stealing_4);

// Counts those that are destroyed.
struct mark {
  explicit mark(std::atomic<int>& c) : counter(c) {}
  ~mark() { ++counter; }
  mark(const mark&) = delete;
  std::atomic<int>& counter;
};

TEST_P(inlined, has_an_identity_of_its_own) {
  from_main_and_a_thread([] {
    const thread::id mine = this_thread::get_id();
    const unit::descriptor& joiner = self();
    thread::id seen;
    const memory::stack_record* stack = nullptr;
    thread t([&] {
      stack = stack_here();
      seen = this_thread::get_id();
      if (joiner.stack == stack) {
        EXPECT_EQ(joiner.state.load(), unit::state::blocked);
      }
      EXPECT_EQ(self().state.load(), unit::state::running);
    });
    const thread::id id = t.get_id();
    expect_inlined(shares_stack_with(stack, [&t] { t.join(); }));
    EXPECT_EQ(seen, id);
    EXPECT_NE(seen, mine);
    EXPECT_EQ(this_thread::get_id(), mine);
    EXPECT_EQ(joiner.state.load(), unit::state::running);
  });
}

TEST_P(inlined, yields) {
  from_main_and_a_thread([] {
    std::atomic<bool> stop = false;
    std::atomic<int> turns = 0;
    thread other([&] {
      while (!stop) {
        ++turns;
        this_thread::yield();
      }
    });
    for (int round = 0; round < 20; ++round) {
      const unsigned home = worker_here();
      expect_inlined(join_inline([&] {
        for (const int until = turns + 3; turns < until;)
          this_thread::yield();
      }));
      if (has_other_pools()) {
        EXPECT_EQ(worker_here(), home);
      }
    }
    stop = true;
    other.join();
  });
}

// The joiner is `blocked` and in no pool, whoever looks.
TEST_P(inlined, suspends) {
  from_main_and_a_thread([] {
    const unit::descriptor& joiner = self();
    for (int round = 0; round < 20; ++round) {
      std::atomic<unit::descriptor*> sleeper = nullptr;
      std::atomic<int> seen = -1;
      thread waker([&] {
        while (sleeper == nullptr)
          this_thread::yield();
        seen = static_cast<int>(joiner.state.load());
        sched::resume(*sleeper);
      });
      const bool shared = join_inline([&] {
        sleeper = &self();
        this_thread::suspend();
      });
      expect_inlined(shared);
      if (shared) {
        EXPECT_EQ(seen, static_cast<int>(unit::state::blocked));
      }
      waker.join();
    }
  });
}

TEST_P(inlined, sleeps) {
  from_main_and_a_thread([] {
    for (int round = 0; round < 5; ++round) {
      const auto before = std::chrono::steady_clock::now();
      expect_inlined(join_inline([] { this_thread::sleep_for(1ms); }));
      EXPECT_GE(std::chrono::steady_clock::now() - before, 1ms);
    }
  });
}

TEST_P(inlined, waits_for_a_mutex) {
  from_main_and_a_thread([] {
    for (int round = 0; round < 20; ++round) {
      mutex lock;
      std::atomic<bool> locked = false;
      std::atomic<bool> wanted = false;
      bool released = false; // under the lock
      thread holder([&] {
        lock.lock();
        locked = true;
        while (!wanted)
          this_thread::yield();
        this_thread::yield(); // to where it waits
        released = true;
        lock.unlock();
      });
      while (!locked)
        this_thread::yield();
      expect_inlined(join_inline([&] {
        wanted = true;
        lock.lock();
        EXPECT_TRUE(released);
        lock.unlock();
      }));
      holder.join();
    }
  });
}

TEST_P(inlined, moves_and_the_joiner_comes_back) {
  if (!has_other_pools())
    GTEST_SKIP() << "nowhere to go";
  from_main_and_a_thread([] {
    pool& away = main_pool_of(1);
    pool& back = *self().own_pool;
    const unsigned home = worker_here();
    const unsigned there = sched::default_group().member(1).number;
    for (int round = 0; round < 30; ++round) {
      expect_inlined(join_inline([&] {
        this_thread::migrate_to(away);
        EXPECT_EQ(worker_here(), there);
        if (round % 3 == 0) {
          this_thread::migrate_to(back);
          EXPECT_EQ(worker_here(), home);
        } else if (round % 3 == 1) {
          expect_inlined(join_inline([] { this_thread::yield(); })); // of its own, there
          EXPECT_EQ(worker_here(), there);
        }
      }));
      EXPECT_EQ(worker_here(), home);
      EXPECT_EQ(self().own_pool.get(), &back);
    }
  });
}

TEST_P(inlined, moves_and_exits) {
  if (!has_other_pools())
    GTEST_SKIP() << "nowhere to go";
  from_main_and_a_thread([] {
    const unsigned home = worker_here();
    std::atomic<int> destroyed = 0;
    expect_inlined(join_inline([&] {
      const mark m(destroyed);
      this_thread::migrate_to(main_pool_of(1));
      this_thread::exit();
    }));
    EXPECT_EQ(destroyed, 1);
    EXPECT_EQ(worker_here(), home);
  });
}

[[gnu::noinline]] int exit_below(int frames, std::atomic<int>& destroyed) {
  const mark m(destroyed);
  if (frames == 0 && destroyed == 0) // always, but the compiler does not know
    this_thread::exit();
  return frames == 0 ? 0 : exit_below(frames - 1, destroyed) + 1;
}

TEST_P(inlined, exits_from_nested_frames) {
  from_main_and_a_thread([] {
    for (const bool yields : {false, true}) {
      std::atomic<int> destroyed = 0;
      bool survived = false;
      expect_inlined(join_inline([&] {
        if (yields)
          this_thread::yield();
        exit_below(9, destroyed);
        survived = true;
      }));
      EXPECT_EQ(destroyed, 10);
      EXPECT_FALSE(survived);
    }
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    EXPECT_EQ(std::current_exception(), nullptr);
  });
}

TEST_P(inlined, is_cancelled) {
  from_main_and_a_thread([] {
    std::atomic<unit::descriptor*> victim = nullptr;
    std::atomic<int> destroyed = 0;
    thread killer([&] {
      while (victim == nullptr)
        this_thread::yield();
      sched::request_cancel(*victim);
    });
    expect_inlined(join_inline([&] {
      const mark m(destroyed);
      victim = &self();
      for (;;)
        this_thread::yield();
    }));
    EXPECT_EQ(destroyed, 1);
    killer.join();
  });
}

TEST_P(inlined, goes_on_though_its_joiner_is_cancelled) {
  std::atomic<bool> started = false;
  std::atomic<bool> asked = false;
  std::atomic<int> step = 0;
  thread joiner(own_stack(), [&] {
    join_inline([&] {
      started = true;
      while (!asked)
        this_thread::yield();
      this_thread::yield();
      step = 1; // of the unit
    });
    step += step == 1 ? 1 : 0; // the request waits for a scheduling point
    this_thread::yield();
    step = -1;
  });
  while (!started)
    this_thread::yield();
  joiner.cancel();
  asked = true;
  joiner.join();
  EXPECT_EQ(step, 2);
}

TEST_P(inlined, goes_on_though_its_joiner_is_asked_to_move) {
  if (!has_other_pools())
    GTEST_SKIP() << "nowhere to go";
  std::atomic<bool> started = false;
  std::atomic<bool> asked = false;
  const unsigned there = sched::default_group().member(1).number;
  const unsigned home = worker_here();
  thread joiner(own_stack(), [&] {
    expect_inlined(join_inline([&] {
      started = true;
      while (!asked)
        this_thread::yield();
      EXPECT_EQ(worker_here(), home);
    }));
    this_thread::yield();
    EXPECT_EQ(worker_here(), there);
  });
  while (!started)
    this_thread::yield();
  joiner.migrate_to(main_pool_of(1));
  asked = true;
  joiner.join();
}

// A unit that ends without a scheduling point never moves: who waits for that must learn that it has ended.
TEST_P(inlined, ends_before_it_moves) {
  if (!has_other_pools())
    GTEST_SKIP() << "nobody could ask meanwhile";
  std::atomic<bool> done = false;
  std::atomic<bool> running = false;
  thread t([&] {
    running = true;
    while (!self().has(unit::migration_requested)) { // no scheduling point
    }
  });
  thread asker(in_pool_of(1), [&] {
    while (!running)
      this_thread::yield();
    t.migrate_to_and_wait(main_pool_of(1));
    done = true;
  });
  renew_budget();
  t.join();
  const auto give_up = std::chrono::steady_clock::now() + 5s;
  while (!done && std::chrono::steady_clock::now() < give_up)
    this_thread::yield();
  EXPECT_TRUE(done) << "it waits for a thread that has been joined";
  while (!done)
    join_inline([] {}); // its descriptor again, with nothing asked of it
  asker.join();
}

TEST_P(inlined, catches_what_it_throws) {
  from_main_and_a_thread([] {
    std::atomic<bool> stop = false;
    thread other([&] {
      while (!stop) {
        EXPECT_EQ(std::current_exception(), nullptr);
        this_thread::yield();
      }
    });
    for (int round = 0; round < 20; ++round) {
      bool caught = false;
      expect_inlined(join_inline([&] {
        try {
          throw std::runtime_error("inside");
        } catch (const std::runtime_error& e) {
          this_thread::yield();
          EXPECT_FALSE(join_inline([] {}));
          caught = std::string_view(e.what()) == "inside" && std::current_exception() != nullptr;
        }
      }));
      EXPECT_TRUE(caught);
      EXPECT_EQ(std::current_exception(), nullptr);
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
    stop = true;
    other.join();
  });
}

TEST_P(inlined, has_local_storage_of_its_own) {
  static std::atomic<int> destroyed;
  thread_specific<int> value([](void*) {
    this_thread::yield(); // a destructor may
    ++destroyed;
  });
  from_main_and_a_thread([&value] {
    destroyed = 0;
    int of_joiner = 1;
    int of_unit = 2;
    value.reset(&of_joiner);
    for (int round = 1; round <= 10; ++round) {
      expect_inlined(join_inline([&] {
        EXPECT_EQ(value.get(), nullptr);
        value.reset(&of_unit);
        this_thread::set_name("inlined");
        this_thread::yield();
        EXPECT_EQ(value.get(), &of_unit);
        EXPECT_STREQ(this_thread::name(), "inlined");
      }));
      EXPECT_EQ(destroyed, round) << "at its end";
      EXPECT_EQ(value.get(), &of_joiner);
      EXPECT_STREQ(this_thread::name(), "");
    }
    EXPECT_EQ(value.reset(), &of_joiner);
  });
}

// As the processor rounds, by x87's control word and by MXCSR.
[[gnu::noinline]] double third() {
  volatile double one = 1;
  volatile double three = 3;
  return one / three;
}

TEST_P(inlined, has_the_joiners_rounding_mode_and_keeps_its_own_to_itself) {
  from_main_and_a_thread([] {
    const double nearest = third();
    for (const bool yields : {false, true}) {
      ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
      const double up = third();
      const bool obeys = up > nearest; // memcheck rounds to nearest, whatever is set
      int mode = -1;
      double seen = 0;
      double seen_down = 0;
      const bool shared = join_inline([&] {
        mode = std::fegetround();
        seen = third();
        std::fesetround(FE_DOWNWARD);
        if (yields)
          this_thread::yield();
        EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
        seen_down = third();
      });
      EXPECT_EQ(std::fegetround(), FE_UPWARD);
      EXPECT_EQ(third(), up);
      std::fesetround(FE_TONEAREST);
      if (obeys) {
        EXPECT_LT(seen_down, up);
      }
      expect_inlined(shared);
      if (shared) {
        EXPECT_EQ(mode, FE_UPWARD);
        EXPECT_EQ(seen, up);
      }
    }
  });
}

TEST_P(inlined, exits_with_another_rounding_mode) {
  from_main_and_a_thread([] {
    expect_inlined(join_inline([] {
      std::fesetround(FE_UPWARD);
      this_thread::exit();
    }));
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  });
}

TEST_P(inlined, in_another_that_is_inlined) {
  from_main_and_a_thread([] {
    const std::function<void(int)> nest = [&nest](int depth) {
      if (depth == 0)
        return;
      const thread::id mine = this_thread::get_id();
      join_inline([&] {
        this_thread::yield();
        nest(depth - 1);
        this_thread::yield();
        if (depth % 3 == 0)
          this_thread::exit();
      });
      EXPECT_EQ(this_thread::get_id(), mine);
    };
    for (int round = 0; round < 20; ++round)
      nest(30);
  });
}

// A tree whose threads deviate here and there, each in the midst of the others' stacks.
long tree(int depth, unsigned seed, mutex& lock) {
  if (depth == 0)
    return 1;
  struct call {
    int depth;
    unsigned seed;
    mutex& lock;
    long result;
  } left{depth - 1, seed * 1664525U + 1013904223U, lock, 0};
  thread t([&left] { left.result = tree(left.depth, left.seed, left.lock); });
  switch ((seed >> 16) % 8) {
  case 0:
    this_thread::yield();
    break;
  case 1:
    if (depth == 5)
      this_thread::sleep_for(10us);
    break;
  case 2:
    lock.lock();
    this_thread::yield();
    lock.unlock();
    break;
  case 3:
    try {
      throw depth;
    } catch (int thrown) {
      this_thread::yield();
      EXPECT_EQ(thrown, depth);
    }
    break;
  default:
    break;
  }
  const long right = tree(depth - 1, seed * 22695477U + 1U, lock);
  t.join();
  return left.result + right;
}

TEST_P(inlined, in_a_tree_that_waits_everywhere) {
  const int depth = slow_build() ? 8 : 12;
  from_main_and_a_thread([depth] {
    mutex lock;
    for (unsigned seed = 1; seed <= 5; ++seed)
      EXPECT_EQ(tree(depth, seed * 7919U, lock), 1L << depth);
  });
}

} // namespace
} // namespace weft::test
