// SPDX-License-Identifier: MIT
#include "weft/door/own_thread.hpp"

#include <gtest/gtest.h>

#include <pthread.h>

#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <thread>

#include "weft/door/process.hpp"
#include "weft/door/workers.hpp"
#include "weft/preemption.hpp"
#include "weft/suspended_thread.hpp"
#include "weft/thread.hpp"

namespace {

using namespace weft;

thread_local int own = 0; // NOLINT: what it is about

[[gnu::noinline]] int read_own() {
  return own;
}
[[gnu::noinline]] void write_own(int value) {
  own = value;
}

// A thread that sleeps in its function, with a value of its own, until it is told to end.
struct sleeper {
  suspended_thread place;
  std::atomic<bool> sleeps{false}, may_end{false};
  int found = 0;

  static void live(void* p) {
    auto& s = *static_cast<sleeper*>(p);
    write_own(7);
    while (!s.may_end.load())
      s.place.wait_with([&s] {
        s.sleeps.store(true);
        return !s.may_end.load();
      });
    s.found = read_own();
  }
};

class door_own_thread : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_preempt(preemption::bound_tls))
      GTEST_SKIP() << "not on this machine";
    door::prepare_process();
    workers_ = door::start_shared_workers(2);
  }
  door::descriptor& start(void (*f)(void*), void* argument, preemption kind = preemption::bound_tls) {
    return door::start_own_thread(workers_->next_pool(), {.preemption = kind, .workers = 2}, f, argument);
  }
  // Calls f(lender) while that one sleeps.
  template <class F>
  void beside_a_sleeper(F f) {
    sleeper s;
    door::descriptor& lender = start(&sleeper::live, &s);
    while (!s.sleeps.load())
      std::this_thread::yield();
    f(lender);
    s.may_end.store(true);
    s.place.notify();
    door::join_own_thread(lender);
    lenders_value_ = s.found;
  }
  // In a kernel thread that is no worker; the main one may be.
  template <class F>
  void in_a_kernel_thread_beside_a_sleeper(F f) {
    std::thread([&] { beside_a_sleeper(f); }).join();
  }
  // In a thread with variables of its own.
  template <class F>
  void in_a_thread_beside_a_sleeper(F f) {
    beside_a_sleeper([&](door::descriptor& lender) {
      struct call {
        F& f;
        door::descriptor& lender;
      } c{f, lender};
      door::join_own_thread(start(
          [](void* p) {
            auto& to = *static_cast<call*>(p);
            to.f(to.lender);
          },
          &c));
    });
  }
  std::unique_ptr<worker_group> workers_;
  int lenders_value_ = 0;
};

TEST_F(door_own_thread, another_ones_variables_are_used_in_scope) {
  in_a_thread_beside_a_sleeper([](door::descriptor& lender) {
    EXPECT_TRUE(door::has_own_variables(lender));
    write_own(1);
    {
      const door::on_variables_of here(lender);
      EXPECT_EQ(read_own(), 7);
      write_own(8);
    }
    EXPECT_EQ(read_own(), 1);
  });
  EXPECT_EQ(lenders_value_, 8);
}

// It takes them when it starts, once others have left some behind.
TEST_F(door_own_thread, has_variables_before_it_starts) {
  in_a_kernel_thread_beside_a_sleeper([this](door::descriptor&) {
    for (int k = 0; k < 3; ++k)
      door::join_own_thread(start([](void*) {}, nullptr));
    for (int k = 0; k < 20; ++k) {
      std::atomic<bool> may_end{false}; // at its end it has none any more
      const auto until_told = [](void* told) {
        while (!*static_cast<std::atomic<bool>*>(told))
          this_thread::yield();
      };
      door::descriptor& fresh = start(until_told, &may_end);
      EXPECT_TRUE(door::has_own_variables(fresh));
      may_end = true;
      door::join_own_thread(fresh);
    }
  });
}

TEST_F(door_own_thread, variables_stay_with_who_waits_in_scope) {
  in_a_thread_beside_a_sleeper([](door::descriptor& lender) {
    write_own(1);
    for (int k = 0; k < 100; ++k) {
      const door::on_variables_of here(lender);
      const int before = read_own();
      this_thread::yield(); // may go on on another worker
      EXPECT_EQ(read_own(), before);
      write_own(before + 1);
    }
    EXPECT_EQ(read_own(), 1);
  });
  EXPECT_EQ(lenders_value_, 107);
}

[[gnu::noinline]] void throw_and_catch() {
  try {
    throw std::runtime_error("of the lender");
  } catch (const std::runtime_error&) {
  }
}

void expect_exceptions_stay(door::descriptor& lender) {
  try {
    throw std::logic_error("of the caller");
  } catch (const std::logic_error&) {
    {
      const door::on_variables_of here(lender);
      EXPECT_EQ(std::current_exception(), nullptr);
      throw_and_catch();
    }
    EXPECT_THROW(throw, std::logic_error);
  }
}

TEST_F(door_own_thread, exceptions_stay_the_callers) {
  in_a_thread_beside_a_sleeper(&expect_exceptions_stay);
  in_a_kernel_thread_beside_a_sleeper(&expect_exceptions_stay);
}

TEST_F(door_own_thread, a_kernel_thread_uses_another_ones_variables) {
  in_a_kernel_thread_beside_a_sleeper([](door::descriptor& lender) {
    EXPECT_TRUE(door::calls_from_a_kernel_thread());
    write_own(1);
    pthread_t (*volatile self)() = &::pthread_self; // compilers keep what it says
    const pthread_t me = self();
    {
      const door::on_variables_of here(lender);
      EXPECT_EQ(read_own(), 7);
      EXPECT_NE(self(), me);
      EXPECT_TRUE(door::calls_from_a_kernel_thread());
      throw_and_catch();
      write_own(8);
    }
    EXPECT_EQ(read_own(), 1);
    EXPECT_EQ(self(), me);
  });
  EXPECT_EQ(lenders_value_, 8);
}

// It waits in the kernel there, for a thread of Weft.
TEST_F(door_own_thread, a_kernel_thread_waits_on_another_ones_variables) {
  in_a_kernel_thread_beside_a_sleeper([&](door::descriptor& lender) {
    write_own(1);
    for (int k = 0; k < 20; ++k) {
      const door::on_variables_of here(lender);
      const int before = read_own();
      door::join_own_thread(start([](void*) { this_thread::yield(); }, nullptr));
      EXPECT_EQ(read_own(), before);
      write_own(before + 1);
    }
    EXPECT_EQ(read_own(), 1);
  });
  EXPECT_EQ(lenders_value_, 27);
}

TEST_F(door_own_thread, a_kernel_threads_scopes_may_be_nested) {
  in_a_kernel_thread_beside_a_sleeper([&](door::descriptor& outer) {
    write_own(1);
    {
      const door::on_variables_of there(outer);
      beside_a_sleeper([](door::descriptor& inner) {
        {
          const door::on_variables_of here(inner);
          write_own(30);
        }
        EXPECT_EQ(read_own(), 7);
      });
      EXPECT_EQ(lenders_value_, 30);
      write_own(20);
    }
    EXPECT_EQ(read_own(), 1);
  });
  EXPECT_EQ(lenders_value_, 20);
}

TEST_F(door_own_thread, a_cooperative_thread_has_none_to_lend) {
  sleeper s;
  s.may_end.store(true);
  door::descriptor& u = start(&sleeper::live, &s, preemption::none);
  EXPECT_FALSE(door::has_own_variables(u));
  door::join_own_thread(u);
}

} // namespace
