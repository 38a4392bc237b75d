// SPDX-License-Identifier: MIT
// Synchronisation, time, configurations, tools and the runtime itself when memory or timers run out.
#include <ctime>
#include <functional>

#include <sys/wait.h>

#include "abtx.h"
#include "fault.hpp"
#include "sync.hpp"

namespace {

using namespace abt_test;

// --- objects ---

TEST(ABT_fault_sync, mutex_create) {
  creates(ABT_MUTEX_NULL, ABT_mutex_create, ABT_mutex_free);
}
TEST(ABT_fault_sync, mutex_create_with_attr) {
  creates(
      ABT_MUTEX_NULL, +[](ABT_mutex* m) { return ABT_mutex_create_with_attr(ABT_MUTEX_ATTR_NULL, m); },
      ABT_mutex_free);
}
TEST(ABT_fault_sync, mutex_attr_create) {
  creates(untouched<ABT_mutex_attr>(), ABT_mutex_attr_create, ABT_mutex_attr_free);
}
TEST(ABT_fault_sync, mutex_get_attr) {
  static ABT_mutex_memory memory = ABT_MUTEX_INITIALIZER;
  creates(
      untouched<ABT_mutex_attr>(),
      +[](ABT_mutex_attr* a) { return ABT_mutex_get_attr(ABT_MUTEX_MEMORY_GET_HANDLE(&memory), a); },
      ABT_mutex_attr_free);
}
TEST(ABT_fault_sync, cond_create) {
  creates(ABT_COND_NULL, ABT_cond_create, ABT_cond_free);
}
TEST(ABT_fault_sync, rwlock_create) {
  creates(ABT_RWLOCK_NULL, ABT_rwlock_create, ABT_rwlock_free);
}
TEST(ABT_fault_sync, eventual_create) {
  creates(
      untouched<ABT_eventual>(), +[](ABT_eventual* e) { return ABT_eventual_create(100, e); },
      ABT_eventual_free);
}
TEST(ABT_fault_sync, future_create) {
  creates(
      untouched<ABT_future>(), +[](ABT_future* f) { return ABT_future_create(3, nullptr, f); },
      ABT_future_free);
}
TEST(ABT_fault_sync, barrier_create) {
  creates(ABT_BARRIER_NULL, +[](ABT_barrier* b) { return ABT_barrier_create(2, b); }, ABT_barrier_free);
}
TEST(ABT_fault_sync, xstream_barrier_create) {
  creates(
      ABT_XSTREAM_BARRIER_NULL, +[](ABT_xstream_barrier* b) { return ABT_xstream_barrier_create(2, b); },
      ABT_xstream_barrier_free);
}
TEST(ABT_fault_sync, timer_create) {
  creates(ABT_TIMER_NULL, ABT_timer_create, ABT_timer_free);
}
TEST(ABT_fault_sync, sched_config_create) {
  creates(
      untouched<ABT_sched_config>(),
      +[](ABT_sched_config* c) {
        return ABT_sched_config_create(c, ABT_sched_basic_freq, 7, ABT_sched_config_automatic, 1,
                                       ABT_sched_config_var_end);
      },
      ABT_sched_config_free);
}
TEST(ABT_fault_sync, pool_config_create) {
  creates(untouched<ABT_pool_config>(), ABT_pool_config_create, ABT_pool_config_free);
}

TEST(ABT_fault_sync, timer_dup) {
  struct test : scenario {
    ABT_timer from = ABT_TIMER_NULL;
    ABT_timer to = untouched<ABT_timer>();
    test() {
      EXPECT_OK(ABT_timer_create(&from));
      EXPECT_OK(ABT_timer_start(from));
      EXPECT_OK(ABT_timer_stop(from));
    }
    ~test() { EXPECT_OK(ABT_timer_free(&from)); }
    int call() { return ABT_timer_dup(from, &to); }
    void failed() { EXPECT_EQ(to, ABT_TIMER_NULL); }
    void succeeded() { EXPECT_OK(ABT_timer_free(&to)); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_sync, sched_config_set) {
  struct test : scenario {
    ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
    int value = 5;
    test() { EXPECT_OK(ABT_sched_config_create(&config, ABT_sched_config_var_end)); }
    ~test() { EXPECT_OK(ABT_sched_config_free(&config)); }
    int call() { return ABT_sched_config_set(config, 1, ABT_SCHED_CONFIG_INT, &value); }
    void failed() { EXPECT_ABT(ABT_ERR_INV_ARG, ABT_sched_config_get(config, 1, nullptr, nullptr)); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_sync, pool_config_set) {
  struct test : scenario {
    ABT_pool_config config = ABT_POOL_CONFIG_NULL;
    int value = 5;
    test() { EXPECT_OK(ABT_pool_config_create(&config)); }
    ~test() { EXPECT_OK(ABT_pool_config_free(&config)); }
    int call() { return ABT_pool_config_set(config, 1, ABT_POOL_CONFIG_INT, &value); }
    void failed() { EXPECT_ABT(ABT_ERR_INV_ARG, ABT_pool_config_get(config, 1, nullptr, nullptr)); }
  };
  fails_cleanly<test>();
}

// --- waits with a limit: what has no timer does not wait ---

struct limited : scenario {
  timespec at{};
  void wait_at_most() {
    ::clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += 2'000'000;
    at.tv_sec += at.tv_nsec / 1'000'000'000;
    at.tv_nsec %= 1'000'000'000;
  }
  limited() { done = ABT_ERR_COND_TIMEDOUT; }
};

TEST(ABT_fault_sync, mutex_timedlock) {
  struct test : limited {
    ABT_mutex mutex = ABT_MUTEX_NULL;
    test() {
      EXPECT_OK(ABT_mutex_create(&mutex));
      EXPECT_OK(ABT_mutex_lock(mutex));
    }
    ~test() {
      EXPECT_OK(ABT_mutex_unlock(mutex));
      EXPECT_OK(ABT_mutex_lock(mutex)); // nobody is thought to wait
      EXPECT_OK(ABT_mutex_unlock(mutex));
      EXPECT_OK(ABT_mutex_free(&mutex));
    }
    int call() {
      wait_at_most();
      return ABTX_mutex_timedlock(mutex, &at);
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_sync, cond_timedwait) {
  struct test : limited {
    ABT_mutex mutex = ABT_MUTEX_NULL;
    ABT_cond cond = ABT_COND_NULL;
    test() {
      EXPECT_OK(ABT_mutex_create(&mutex));
      EXPECT_OK(ABT_cond_create(&cond));
      EXPECT_OK(ABT_mutex_lock(mutex));
    }
    ~test() {
      EXPECT_OK(ABT_mutex_unlock(mutex));
      EXPECT_OK(ABT_cond_free(&cond)); // nobody waits any more
      EXPECT_OK(ABT_mutex_free(&mutex));
    }
    int call() {
      wait_at_most();
      return ABT_cond_timedwait(cond, mutex, &at);
    }
    void failed() { EXPECT_ABT(ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(mutex)); }
  };
  fails_cleanly<test>();
}

struct read_locked : limited {
  ABT_rwlock lock = ABT_RWLOCK_NULL;
  read_locked() { EXPECT_OK(ABT_rwlock_create(&lock)); }
  ~read_locked() {
    EXPECT_OK(ABT_rwlock_unlock(lock));
    EXPECT_OK(ABTX_rwlock_trywrlock(lock)); // nobody else has it
    EXPECT_OK(ABT_rwlock_unlock(lock));
    EXPECT_OK(ABT_rwlock_free(&lock));
  }
};

TEST(ABT_fault_sync, rwlock_timedrdlock) {
  struct test : read_locked {
    test() { EXPECT_OK(ABT_rwlock_wrlock(lock)); }
    int call() {
      wait_at_most();
      return ABTX_rwlock_timedrdlock(lock, &at);
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_sync, rwlock_timedwrlock) {
  struct test : read_locked {
    test() { EXPECT_OK(ABT_rwlock_rdlock(lock)); }
    int call() {
      wait_at_most();
      return ABTX_rwlock_timedwrlock(lock, &at);
    }
    void failed() { // readers are let in again
      EXPECT_OK(ABTX_rwlock_tryrdlock(lock));
      EXPECT_OK(ABT_rwlock_unlock(lock));
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_sync, eventual_timedwait) {
  struct test : limited {
    ABT_eventual eventual = ABT_EVENTUAL_NULL;
    void* value = this;
    test() { EXPECT_OK(ABT_eventual_create(4, &eventual)); }
    ~test() { EXPECT_OK(ABT_eventual_free(&eventual)); }
    int call() {
      wait_at_most();
      return ABT_eventual_timedwait(eventual, &value, &at);
    }
    void failed() { EXPECT_EQ(value, this); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_sync, future_timedwait) {
  struct test : limited {
    ABT_future future = ABT_FUTURE_NULL;
    test() { EXPECT_OK(ABT_future_create(1, nullptr, &future)); }
    ~test() { EXPECT_OK(ABT_future_free(&future)); }
    int call() {
      wait_at_most();
      return ABTX_future_timedwait(future, &at);
    }
  };
  fails_cleanly<test>();
}

// The arrival of who could not wait does not count.
TEST(ABT_fault_sync, barrier_timedwait) {
  struct test : limited {
    ABT_barrier barrier = ABT_BARRIER_NULL;
    test() { EXPECT_OK(ABT_barrier_create(3, &barrier)); }
    ~test() { EXPECT_OK(ABT_barrier_free(&barrier)); }
    int call() {
      wait_at_most();
      return ABTX_barrier_timedwait(barrier, &at);
    }
    void succeeded() { // one has come, and gone
      EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, call());
      EXPECT_OK(ABT_barrier_wait(barrier));
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_sync, thread_timedjoin) {
  struct test : limited {
    waiting_unit w;
    int call() {
      wait_at_most();
      return ABTX_thread_timedjoin(w.t, &at);
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_sync, self_sleep) {
  struct test : scenario {
    int call() { return ABTX_self_sleep(0.002); }
  };
  fails_cleanly<test>();
}

// --- tools ---

TEST(ABT_fault_sync, tool_register_thread_callback) {
  struct test : scenario {
    static void told(ABT_thread, ABT_xstream, uint64_t, ABT_tool_context, void*) {}
    int call() { return ABT_tool_register_thread_callback(told, ABT_TOOL_EVENT_THREAD_ALL, nullptr); }
    void succeeded() { EXPECT_OK(ABT_tool_register_thread_callback(nullptr, 0, nullptr)); }
  };
  fails_cleanly<test>();
}

// --- the runtime ---

struct initialisation : scenario {
  initialisation() {
    scarce = false;
    EXPECT_OK(ABT_finalize());
  }
  int call() { return ABT_init(0, nullptr); }
  void failed() {
    EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_initialized());
    int streams = -1;
    EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_xstream_get_num(&streams));
    EXPECT_EQ(streams, 0);
  }
};

TEST(ABT_fault_init, init) {
  fails_cleanly<initialisation>();
}

TEST(ABT_fault_init, init_with_affinity_and_sizes) {
  const environment cpus("ABT_SET_AFFINITY", "{0:2},1");
  const environment stacks("ABT_THREAD_STACKSIZE", "100000");
  fails_cleanly<initialisation>();
}

// In a process that has used nothing yet: what is allocated once may be what fails.
enum verdict : int { met_the_fault = 0, got_through = 1, wrong = 2 };

int first_init(fault_site site, std::uint64_t nth) {
  int code = ABT_SUCCESS;
  {
    const weft::fault_test::allocations_may_fail open(reach::everywhere);
    weft::os::fail_nth(site, nth, weft::fault_test::error_of(site));
    code = ABT_init(0, nullptr);
    weft::os::disarm_faults();
  }
  const bool hit = weft::os::fault_hits(site) != 0;
  if (code != ABT_SUCCESS) {
    settle_kernel_threads(1);
    const remains left = remains::now();
    if (!hit || (code != ABT_ERR_MEM && code != ABT_ERR_SYS) || ABT_initialized() != ABT_ERR_UNINITIALIZED ||
        left.kernel_threads != 1 || left.units + left.stacks + left.objects != 0 ||
        ABT_init(0, nullptr) != ABT_SUCCESS)
      return wrong;
  }
  std::atomic<int> runs{0};
  ABT_thread t = ABT_THREAD_NULL;
  ABT_xstream es = ABT_XSTREAM_NULL;
  ABT_pool pool = ABT_POOL_NULL;
  const bool works = ABT_self_get_last_pool(&pool) == ABT_SUCCESS &&
                     ABT_thread_create(pool, count, &runs, ABT_THREAD_ATTR_NULL, &t) == ABT_SUCCESS &&
                     ABT_thread_free(&t) == ABT_SUCCESS &&
                     ABT_xstream_create(ABT_SCHED_NULL, &es) == ABT_SUCCESS &&
                     ABT_xstream_free(&es) == ABT_SUCCESS && ABT_finalize() == ABT_SUCCESS && runs == 1;
  return !works ? wrong : hit ? met_the_fault : got_through;
}

TEST(ABT_fault_init, init_in_a_new_process) {
  for (const auto& [site, name] : all_sites) {
    for (std::uint64_t nth = 1;; ++nth) {
      const pid_t child = ::fork();
      if (child == 0)
        ::_exit(first_init(site, nth));
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      const int how = WIFEXITED(status) ? WEXITSTATUS(status) : wrong + WTERMSIG(status);
      if (how == got_through)
        break;
      ASSERT_EQ(how, met_the_fault) << name << " call " << nth;
      ASSERT_LT(nth, 500U);
    }
  }
}

TEST(ABT_fault_init, finalize_does_without_memory) {
  struct test : scenario {
    test() {
      can_fail = false;
      scarce = false;
      whose = reach::everywhere;
      ABT_xstream es = ABT_XSTREAM_NULL;
      EXPECT_OK(ABT_xstream_create(ABT_SCHED_NULL, &es)); // which ABT_finalize() frees
    }
    int call() { return ABT_finalize(); }
    void succeeded() { EXPECT_OK(ABT_init(0, nullptr)); }
  };
  fails_cleanly<test>();
}

} // namespace
