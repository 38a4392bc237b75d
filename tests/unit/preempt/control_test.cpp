// SPDX-License-Identifier: MIT
// What is preempted when: ticks by hand, on one worker, so that nothing depends on time.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/unit/census_check.hpp"
#include "tests/unit/preempt/fixture.hpp"
#include "weft/arch/user_mode.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/memory/annotate.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/preempt/spares.hpp"
#include "weft/preemption.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

class preemption_control : public ::testing::TestWithParam<preemption> {
 protected:
  void SetUp() override {
    if (!can_preempt(GetParam()))
      GTEST_SKIP() << "not on this machine";
    start_ticking(sched::arrangement::pool_per_worker, 1, std::chrono::seconds(1)); // the monitor keeps still
    census_.begin();
  }
  void TearDown() override {
    if (IsSkipped())
      return;
    census_.end();
    EXPECT_TRUE(runtime::stop());
  }
  static thread_attributes attributes() {
    thread_attributes a;
    a.preemption = GetParam();
    return a;
  }
  // Calls f() on a preemptible thread, with another one ready that adds one to `others`.
  template <class F>
  void beside_another(F f) {
    thread one(attributes(), f);
    thread other([this] { ++others; });
    one.join();
    other.join();
  }

  std::atomic<int> others{0};

 private:
  census_check census_;
};

INSTANTIATE_TEST_SUITE_P(each, preemption_control,
                         ::testing::Values(preemption::signal_yield, preemption::own_tls,
                                           preemption::own_kernel_thread, preemption::bound_tls),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(preemption_control, a_tick_makes_it_leave) {
  beside_another([this] {
    EXPECT_EQ(others, 0);
    preempt::tick_self();
    EXPECT_EQ(others, 1);
  });
}

TEST_P(preemption_control, a_tick_is_remembered_where_it_must_not) {
  beside_another([this] {
    {
      const no_preemption here;
      preempt::tick_self();
      EXPECT_EQ(others, 0);
      {
        const no_preemption nested;
      }
      EXPECT_EQ(others, 0);
    }
    EXPECT_EQ(others, 1);
  });
}

thread_local int of_the_block = 0;

// Not inlined: compilers keep the addresses of variables of the kernel thread across calls.
[[gnu::noinline]] int& variable_here() {
  asm volatile("" ::: "memory");
  return of_the_block;
}

// Who is not preempted is not moved, neither to the runtime nor elsewhere.
TEST_P(preemption_control, what_it_has_stays_its_own_where_it_is_not_preempted) {
  pthread_mutexattr_t recursive;
  ASSERT_EQ(::pthread_mutexattr_init(&recursive), 0);
  ASSERT_EQ(::pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE), 0);
  pthread_mutex_t lock;
  ASSERT_EQ(::pthread_mutex_init(&lock, &recursive), 0);
  ASSERT_EQ(::pthread_mutexattr_destroy(&recursive), 0);
  beside_another([&] {
    variable_here() = 42;
    errno = 7;
    EXPECT_EQ(::pthread_mutex_lock(&lock), 0);
    {
      const no_preemption here;
      EXPECT_EQ(errno, 7);
      EXPECT_EQ(variable_here(), 42);
      EXPECT_EQ(::pthread_mutex_trylock(&lock), 0);
      preempt::tick_self();
      EXPECT_EQ(others, 0);
      variable_here() = 43;
      EXPECT_EQ(::pthread_mutex_unlock(&lock), 0);
    }
    EXPECT_EQ(others, 1);
    if (GetParam() != preemption::signal_yield) { // which goes on as whoever the kernel thread is now
      EXPECT_EQ(variable_here(), 43);
    }
    EXPECT_EQ(::pthread_mutex_unlock(&lock), 0);
  });
  EXPECT_EQ(::pthread_mutex_destroy(&lock), 0);
}

// It waits in the kernel for one that was preempted on the only worker; malloc's locks are such ones.
TEST_P(preemption_control, who_waits_in_the_kernel_lets_others_run_although_it_is_not_preempted) {
  preempt::set_interval(std::chrono::microseconds(200));
  std::mutex lock;
  bool locked = false;
  thread owner(attributes(), [&] {
    const std::scoped_lock held(lock);
    locked = true;
    preempt::tick_self();
  });
  thread waits(attributes(), [&] {
    ASSERT_TRUE(locked);
    const no_preemption here;
    const std::scoped_lock held(lock);
  });
  owner.join();
  waits.join();
}

TEST_P(preemption_control, ticks_do_nothing_to_cooperative_threads_and_tasklets) {
  thread keeps_monitor(attributes(), [] { this_thread::suspend(); });
  this_thread::yield();
  thread other([this] { ++others; });
  preempt::tick_self();
  EXPECT_EQ(others, 0);
  tasklet light([this] {
    preempt::tick_self();
    EXPECT_EQ(others, 0);
  });
  light.join();
  other.join();
  keeps_monitor.resume();
  keeps_monitor.join();
}

TEST_P(preemption_control, sched_yield_lets_others_run) {
  beside_another([this] {
    EXPECT_EQ(sched_yield(), 0);
    EXPECT_EQ(others, 1);
  });
  thread cooperative([this] {
    thread other([this] { ++others; });
    EXPECT_EQ(sched_yield(), 0); // the kernel's
    EXPECT_EQ(others, 1);
    other.join();
  });
  cooperative.join();
  EXPECT_EQ(others, 2);
}

#if defined(__x86_64__)
constexpr greg_t trap_flag = 0x100;
int ticks_on_the_way;
std::size_t preempted_on_the_way;

// After each instruction in user mode; a tick for each of those that enter the runtime.
void step(int, siginfo_t*, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (!sched::here().attention.any_relaxed(sched::user_code)) {
    registers[REG_EFL] &= ~trap_flag;
    return;
  }
  registers[REG_EFL] |= trap_flag;
  constexpr greg_t longest = 32;
  const auto stands_in = [registers](auto* function) {
    const auto start = reinterpret_cast<greg_t>(function);
    return registers[REG_RIP] >= start && registers[REG_RIP] < start + longest;
  };
  if (!stands_in(&arch::weft_enter_runtime) && !stands_in(&arch::weft_enter_runtime_from_block))
    return;
  const std::size_t before = preempt::counts().preemptions;
  preempt::tick_self();
  ++ticks_on_the_way;
  preempted_on_the_way += preempt::counts().preemptions - before;
}

TEST(sched_yield, of_a_cooperative_thread_that_asked_for_it) {
  ASSERT_TRUE(runtime::start({.workers = 1}));
  int others = 0;
  thread asks([&others] {
    thread other([&others] {
      for (int i = 0; i < 4; ++i) {
        ++others;
        this_thread::yield();
      }
    });
    EXPECT_FALSE(this_thread::let_sched_yield_switch(true));
    EXPECT_EQ(::sched_yield(), 0);
    EXPECT_EQ(others, 1);
    base::backend::yield_kernel_thread(); // a spin lock of the runtime's
    EXPECT_EQ(others, 1);
    EXPECT_TRUE(this_thread::let_sched_yield_switch(false));
    EXPECT_EQ(::sched_yield(), 0);
    EXPECT_EQ(others, 1);
    other.join();
  });
  asks.join();
  thread_attributes a;
  a.preemption = preemption::signal_yield;
  if (can_preempt(a.preemption))
    thread(a, [] { EXPECT_TRUE(this_thread::let_sched_yield_switch(false)); }).join();
  tasklet([] { EXPECT_THROW(this_thread::let_sched_yield_switch(true), std::system_error); }).join();
  std::thread([] { EXPECT_THROW(this_thread::let_sched_yield_switch(true), std::system_error); }).join();
  EXPECT_TRUE(runtime::stop());
}

// The tick interrupts that handler then, and not the way that the handler has interrupted.
TEST_P(preemption_control, a_tick_on_the_way_into_the_runtime_is_remembered_in_any_handler) {
  ticks_on_the_way = 0;
  preempted_on_the_way = 0;
  struct sigaction stepping = {};
  struct sigaction before = {};
  stepping.sa_sigaction = &step;
  stepping.sa_flags = SA_SIGINFO;
  ASSERT_EQ(::sigaction(SIGTRAP, &stepping, &before), 0);
  beside_another([this] {
    ::raise(SIGTRAP); // and after each instruction from here on
    this_thread::yield();
    EXPECT_EQ(others, 1);
  });
  ASSERT_EQ(::sigaction(SIGTRAP, &before, nullptr), 0);
  EXPECT_GE(ticks_on_the_way, 3);
  EXPECT_EQ(preempted_on_the_way, 0U);
}
#endif

// Where pools are the scheduler's own affair, one that was alone at its last tick is seldom ticked.
TEST_P(preemption_control, a_tick_tells_whether_others_wait) {
  EXPECT_TRUE(runtime::stop());
  start_ticking(sched::arrangement::packing, 2, std::chrono::seconds(1));
  runtime::set_active_workers(1);
  const auto others = [] { return runtime::default_group().member(0).preemption.others_wait.load_relaxed(); };
  thread alone(attributes(), [&] {
    preempt::tick_self();
    EXPECT_EQ(others(), sched::waiting::nobody_known);
    std::atomic<bool> done{false};
    thread other([&] {
      while (!done)
        this_thread::yield();
    });
    preempt::tick_self();
    EXPECT_EQ(others(), sched::waiting::somebody);
    done = true;
    other.join();
    preempt::tick_self();
    EXPECT_EQ(others(), sched::waiting::nobody_known);
  });
  alone.join();
}

// Asserted wherever a tick or a call of Weft takes one for its worker's.
TEST_P(preemption_control, another_kernel_thread_than_its_workers_is_noticed) {
  // On a block the thread would go to the variables that are named here before anything is asserted.
  const bool on_a_block = GetParam() == preemption::own_tls || GetParam() == preemption::bound_tls;
  if (base::assert_level == 0 || on_a_block)
    return;
  thread one(attributes(), [] {
    auto& pointer = runtime::default_group().member(0).carried.own_thread_pointer;
    const auto as_if_elsewhere = [&pointer](auto call) {
      const no_preemption here; // or the assertion of a tick of the monitor's could be first
      pointer.store_relaxed(nullptr);
      call();
    };
    const auto yield = [] { this_thread::yield(); };
    const auto wait = [] { this_thread::sleep_for(std::chrono::milliseconds(1)); };
    EXPECT_DEATH(as_if_elsewhere(yield), "another kernel thread");
    EXPECT_DEATH(as_if_elsewhere(wait), "another kernel thread");
  });
  one.join();
}

TEST_P(preemption_control, exit_and_exceptions_leave_user_mode) {
  bool unwound = false;
  struct marks {
    bool& done;
    ~marks() { done = true; }
  };
  thread leaves(attributes(), [&unwound] {
    const marks at_end{unwound};
    preempt::tick_self();
    this_thread::exit();
  });
  leaves.join();
  EXPECT_TRUE(unwound);
  thread catches(attributes(), [] {
    try {
      throw std::runtime_error("x");
    } catch (const std::runtime_error&) {
      preempt::tick_self();
      this_thread::yield();
      EXPECT_THROW(throw, std::runtime_error);
    }
  });
  catches.join();
}

TEST_P(preemption_control, cancelled_before_it_starts_and_while_it_is_preempted) {
  thread never(attributes(), [] { FAIL(); });
  never.cancel();
  never.join();
  bool went_on = false;
  thread later(attributes(), [&went_on] {
    preempt::tick_self();
    went_on = true; // a preemption is no scheduling point of its own
    this_thread::yield();
    FAIL();
  });
  this_thread::yield();
  later.cancel();
  later.join();
  EXPECT_TRUE(went_on);
}

TEST_P(preemption_control, others_signals_of_that_number_go_to_their_handler) {
  static std::atomic<int> theirs;
  theirs = 0;
  EXPECT_TRUE(runtime::stop());
  struct sigaction before = {}, mine = {};
  mine.sa_handler = [](int) { ++theirs; };
  ASSERT_EQ(sigaction(SIGURG, &mine, &before), 0);
  start_ticking(sched::arrangement::pool_per_worker, 1, std::chrono::seconds(1)); // the monitor keeps still
  beside_another([this] {
    raise(SIGURG);
    EXPECT_EQ(others, 0);
    preempt::tick_self();
    EXPECT_EQ(others, 1);
  });
  EXPECT_EQ(theirs, 1);
  EXPECT_TRUE(runtime::stop());
  struct sigaction now = {};
  ASSERT_EQ(sigaction(SIGURG, &before, &now), 0);
  EXPECT_EQ(now.sa_handler, mine.sa_handler);                                     // given back
  start_ticking(sched::arrangement::pool_per_worker, 1, std::chrono::seconds(1)); // the monitor keeps still
}

// As in an old kernel or CPU (qemu has both: unit_preempt_under.old_cpu).
TEST(own_variables, are_refused_where_no_thread_pointer_can_be_set) {
  if (arch::can_set_thread_pointer() || memory::annotate::runs_in_valgrind())
    GTEST_SKIP() << "not on this machine";
  start_ticking(sched::arrangement::pool_per_worker, 1, std::chrono::seconds(1));
  for (const preemption kind : {preemption::own_tls, preemption::bound_tls}) {
    EXPECT_FALSE(can_preempt(kind));
    thread_attributes a;
    a.preemption = kind;
    try {
      thread(a, [] {}).join();
      ADD_FAILURE() << "not refused";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::not_supported);
    }
  }
  bool ran = false;
  thread([&] { ran = true; }).join();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(runtime::stop());
}

TEST_P(preemption_control, what_is_no_kind_is_refused) {
  thread_attributes a;
  a.preemption = static_cast<preemption>(77);
  EXPECT_THROW(thread(a, [] {}), std::system_error);
  EXPECT_THROW(tasklet(attributes(), [] {}), std::system_error);
  EXPECT_THROW(preempt::set_interval(std::chrono::microseconds(1)), std::system_error);
}

// --- what only some kinds have ---

std::string name_of_hand_off(preempt::hand_off how) {
  constexpr const char* names[] = {"direct", "local", "global", "sigsuspend"};
  return names[static_cast<unsigned>(how)];
}

class hand_offs : public ::testing::TestWithParam<preempt::hand_off> {};
INSTANTIATE_TEST_SUITE_P(each, hand_offs,
                         ::testing::Values(preempt::hand_off::direct, preempt::hand_off::local,
                                           preempt::hand_off::global, preempt::hand_off::sigsuspend),
                         [](const auto& info) { return name_of_hand_off(info.param); });

// Each looks whether the other has run since, so every tick passes the worker on.
TEST_P(hand_offs, pass_the_worker_on_at_each_tick) {
  if (!can_preempt(preemption::own_kernel_thread))
    GTEST_SKIP() << "not on this machine";
  preempt::choose_hand_off(GetParam());
  start_ticking(sched::arrangement::pool_per_worker, 1, std::chrono::seconds(1));
  thread_attributes a;
  a.preemption = preemption::own_kernel_thread;
  std::array<int, 2> turns{};
  std::array<int, 2> kernel_threads{};
  std::vector<thread> both;
  for (unsigned me = 0; me < 2; ++me) {
    both.emplace_back(a, [&, me] {
      kernel_threads[me] = os::this_kernel_thread_id();
      for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(turns[me], turns[1 - me] + (me == 0 ? 0 : -1));
        ++turns[me];
        preempt::tick_self();
        EXPECT_EQ(kernel_threads[me], os::this_kernel_thread_id());
      }
    });
  }
  for (thread& t : both)
    t.join();
  EXPECT_NE(kernel_threads[0], kernel_threads[1]);
  EXPECT_TRUE(runtime::stop());
  preempt::choose_hand_off(preempt::hand_off::direct);
}

// What it was interrupted in may hold addresses of the kernel thread's own variables.
TEST(signal_yield, moves_only_when_it_calls_although_it_is_asked_while_preempted) {
  if (!can_preempt(preemption::signal_yield))
    GTEST_SKIP() << "not on this machine";
  start_ticking(sched::arrangement::pool_per_worker, 2, std::chrono::seconds(1)); // the monitor keeps still
  pool& there = main_pool_of(1);
  thread_attributes a;
  a.preemption = preemption::signal_yield;
  std::atomic<thread*> self{nullptr};
  thread one(a, [&] {
    thread other([&] { self.load()->migrate_to(there); });
    const int before = os::this_kernel_thread_id();
    preempt::tick_self();
    EXPECT_EQ(os::this_kernel_thread_id(), before);
    this_thread::yield();
    EXPECT_NE(os::this_kernel_thread_id(), before);
    other.join();
  });
  self = &one;
  one.join();
  EXPECT_TRUE(runtime::stop());
}

// Not inlined: compilers keep its address across calls.
[[gnu::noinline]] int read_errno() {
  asm volatile("" ::: "memory");
  return errno;
}

// Its worker has gone on on another kernel thread, which one of own_kernel_thread wanted.
TEST(signal_yield, takes_errno_along_with_its_worker) {
  if (!can_preempt(preemption::signal_yield) || !can_preempt(preemption::own_kernel_thread))
    GTEST_SKIP() << "not on this machine";
  start_ticking(sched::arrangement::pool_per_worker, 1, std::chrono::seconds(1)); // the monitor keeps still
  thread_attributes a;
  a.preemption = preemption::signal_yield;
  thread one(a, [] {
    thread_attributes b;
    b.preemption = preemption::own_kernel_thread;
    thread other(b, [] { this_thread::yield(); });
    const int before = os::this_kernel_thread_id();
    errno = 1234;
    preempt::tick_self();
    EXPECT_EQ(read_errno(), 1234);
    EXPECT_NE(os::this_kernel_thread_id(), before);
    other.join();
  });
  one.join();
  EXPECT_TRUE(runtime::stop());
}

std::atomic<int> ended;
struct counted_end {
  int value = 7;
  ~counted_end() { ended += value; }
};
thread_local counted_end mine;

// A thread-local is the thread's from its start to its end, whichever worker it is on, and ends with it.
TEST(bound_tls, is_the_threads_own_for_life) {
  if (!can_preempt(preemption::bound_tls))
    GTEST_SKIP() << "not on this machine";
  ended = 0;
  start_ticking(sched::arrangement::stealing, 2, std::chrono::microseconds(200));
  thread_attributes a;
  a.preemption = preemption::bound_tls;
  std::vector<thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back(a, [t] {
      ASSERT_EQ(mine.value, 7); // nobody's before
      mine.value = t;
      for (int i = 0; i < 200; ++i) {
        this_thread::yield();
        ASSERT_EQ(mine.value, t);
      }
    });
  }
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(ended, 0 + 1 + 2 + 3 + 4 + 5 + 6 + 7);
  EXPECT_TRUE(runtime::stop());
}

} // namespace
} // namespace weft::test
