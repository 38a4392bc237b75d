// SPDX-License-Identifier: MIT
// Threads of bound_tls on TLS blocks that no kernel thread stands behind: to libc each is a kernel thread.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <locale.h>
#include <malloc.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/barrier.hpp"
#include "weft/latch.hpp"
#include "weft/mutex.hpp"
#include "weft/os/clock.hpp"
#include "weft/preempt/made_blocks.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

class made_blocks : public ::testing::Test {
 protected:
  void SetUp() override { start(sched::arrangement::stealing, 2); }
  void start(sched::arrangement pools, unsigned workers) {
    if (!can_preempt(preemption::bound_tls))
      GTEST_SKIP() << "not on this machine";
    runtime_.start(pools, workers, std::chrono::microseconds(100));
    thread(bound(), [] {}).join();
    if (!preempt::blocks_are_made())
      GTEST_SKIP() << preempt::why_no_blocks_are_made();
  }
  void TearDown() override { runtime_.stop(); }

  static thread_attributes bound() {
    thread_attributes a;
    a.preemption = preemption::bound_tls;
    return a;
  }

  ticked_runtime runtime_;
};

// Where the next thread has the block of the last one.
class made_blocks_of_one_worker : public made_blocks {
 protected:
  void SetUp() override { start(sched::arrangement::pool_per_worker, 1); }

  template <class First, class Second>
  static void one_after_the_other(First first, Second second) {
    pthread_t of_first{}, of_second{};
    thread(bound(), [&] {
      of_first = ::pthread_self();
      first();
    }).join();
    thread(bound(), [&] {
      of_second = ::pthread_self();
      second();
    }).join();
    EXPECT_TRUE(::pthread_equal(of_first, of_second)) << "the second would have found a new block";
  }
};

thread_local int begins_with_seven = 7;
thread_local std::array<int, 100> begins_with_zeros{};
thread_local std::string is_constructed = "fresh";

// --- each its own ---

int compare(const void* a, const void* b) {
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

void use_libc(int me) {
  std::array<int, 50> numbers{};
  for (int k = 0; k < 50; ++k)
    numbers[static_cast<std::size_t>(k)] = (k * 37 + me) % 50;
  std::qsort(numbers.data(), numbers.size(), sizeof(int), &compare);
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  std::string words = "one two " + std::to_string(me);
  char* rest = nullptr;
  EXPECT_STREQ(::strtok_r(words.data(), " ", &rest), "one");
  EXPECT_STREQ(::strtok_r(nullptr, " ", &rest), "two");
  EXPECT_EQ(std::stoi(::strtok_r(nullptr, " ", &rest)), me);
  EXPECT_NE(std::string(::strerror(100'000 + me)).find(std::to_string(100'000 + me)), std::string::npos);
  EXPECT_NE(std::getenv("PATH"), nullptr);
  EXPECT_EQ(std::strtod("1.5", nullptr), 1.5);
  EXPECT_TRUE(std::isalpha('a') != 0 && std::toupper('b') == 'B');
  std::array<char, 40> text{};
  EXPECT_EQ(std::snprintf(text.data(), text.size(), "%d %.1f", me, 0.5),
            static_cast<int>(std::to_string(me).size()) + 4);
  std::vector<std::string> some(20, std::string(100, 'x'));
}

TEST_F(made_blocks, have_libcs_state_of_their_own_on_every_worker) {
  constexpr int threads = 16, rounds = 40;
  const locale_t another = ::newlocale(LC_ALL_MASK, "C", nullptr);
  std::vector<thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back(bound(), [t, another] {
      EXPECT_EQ(errno, 0);
      EXPECT_EQ(begins_with_seven, 7);
      EXPECT_EQ(is_constructed, "fresh");
      if (t % 2 == 0)
        ::uselocale(another);
      begins_with_seven = t;
      is_constructed = std::to_string(t);
      for (int round = 0; round < rounds; ++round) {
        errno = 1000 + t;
        const std::int64_t end = os::now_ns() + 50'000;
        while (os::now_ns() < end) {
        }
        this_thread::yield();
        EXPECT_EQ(errno, 1000 + t);
        EXPECT_EQ(::uselocale(nullptr), t % 2 == 0 ? another : LC_GLOBAL_LOCALE);
        EXPECT_EQ(begins_with_seven, t);
        EXPECT_EQ(is_constructed, std::to_string(t));
        use_libc(t);
      }
      ::uselocale(LC_GLOBAL_LOCALE);
    });
  }
  for (thread& t : all)
    t.join();
  ::freelocale(another);
}

// Owners of mutexes are told by it, in this process and in others.
TEST_F(made_blocks, have_ids_of_their_own) {
  constexpr int threads = 200;
  std::array<pthread_mutex_t, threads> mutexes;
  std::set<int> owners;
  std::set<pthread_t> selves;
  barrier all_hold(threads);
  mutex guards;
  std::vector<thread> all;
  for (pthread_mutex_t& m : mutexes) {
    pthread_mutexattr_t recursive;
    ::pthread_mutexattr_init(&recursive);
    ::pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    ::pthread_mutex_init(&m, &recursive);
    all.emplace_back(bound(), [&] {
      EXPECT_EQ(::pthread_mutex_lock(&m), 0);
      all_hold.arrive_and_wait();
      EXPECT_EQ(::pthread_mutex_lock(&m), 0);
      {
        const std::scoped_lock held(guards);
        owners.insert(m.__data.__owner);
        selves.insert(::pthread_self());
      }
      EXPECT_EQ(::pthread_mutex_unlock(&m), 0);
      EXPECT_EQ(::pthread_mutex_unlock(&m), 0);
    });
  }
  for (thread& t : all)
    t.join();
  EXPECT_EQ(owners.size(), std::size_t{threads});
  EXPECT_EQ(selves.size(), std::size_t{threads});
  constexpr int most_of_kernel = 1 << 22; // pid_max
  EXPECT_GT(*owners.begin(), most_of_kernel);
}

// It is none of libc's threads: what would reach a kernel thread by its id fails, rather than reach another.
TEST_F(made_blocks, are_no_threads_of_libcs) {
  std::atomic<pthread_t> one{};
  std::atomic<bool> asked{false};
  thread t(bound(), [&] {
    one = ::pthread_self();
    pthread_attr_t attributes;
    EXPECT_EQ(::pthread_getattr_np(::pthread_self(), &attributes), ESRCH);
    while (!asked) {
    }
  });
  while (one == pthread_t{})
    this_thread::yield();
  EXPECT_EQ(::pthread_kill(one, 0), ESRCH);
  EXPECT_EQ(::pthread_join(one, nullptr), EINVAL);
  EXPECT_EQ(::pthread_detach(one), EINVAL);
  asked = true;
  t.join();
}

// --- as new for the next ---

TEST_F(made_blocks_of_one_worker, are_as_new_for_the_next_thread) {
  pthread_key_t key;
  ASSERT_EQ(::pthread_key_create(&key, nullptr), 0);
  const locale_t another = ::newlocale(LC_ALL_MASK, "C", nullptr);
  one_after_the_other(
      [&] {
        begins_with_seven = 8;
        begins_with_zeros.fill(1);
        is_constructed = "used";
        ::pthread_setspecific(key, &key);
        ::uselocale(another);
        ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
        ::pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
        EXPECT_EQ(::dlopen("no such library", RTLD_NOW), nullptr);
        h_errno = HOST_NOT_FOUND;
        errno = EDOM;
      },
      [&] {
        EXPECT_EQ(errno, 0);
        EXPECT_EQ(h_errno, 0);
        EXPECT_EQ(begins_with_seven, 7);
        EXPECT_TRUE(
            std::all_of(begins_with_zeros.begin(), begins_with_zeros.end(), [](int n) { return n == 0; }));
        EXPECT_EQ(is_constructed, "fresh");
        EXPECT_EQ(::pthread_getspecific(key), nullptr);
        EXPECT_EQ(::uselocale(nullptr), LC_GLOBAL_LOCALE);
        EXPECT_EQ(::dlerror(), nullptr);
        int state = 0, type = 0;
        ::pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
        ::pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
        EXPECT_EQ(state, PTHREAD_CANCEL_ENABLE);
        EXPECT_EQ(type, PTHREAD_CANCEL_DEFERRED);
      });
  ::freelocale(another);
  ::pthread_key_delete(key);
}

// What malloc keeps for a thread is for the next one: no number of threads makes the program grow.
TEST_F(made_blocks_of_one_worker, keep_what_malloc_has_there) {
  const auto threads = [](int count) {
    for (int k = 0; k < count; ++k) {
      thread(bound(), [] {
        std::array<void*, 40> all{};
        for (std::size_t i = 0; i != all.size(); ++i)
          all[i] = std::malloc(24 + 16 * i);
        for (void* one : all)
          std::free(one);
      }).join();
    }
  };
  threads(500);
  const std::size_t blocks = preempt::made_block_count(), used = ::mallinfo2().uordblks;
  threads(5000);
  EXPECT_LE(preempt::made_block_count(), blocks + 8);
  EXPECT_LE(::mallinfo2().uordblks, used + (256 << 10)); // of 5,000 threads: 50 bytes each
}

// --- ends ---

std::atomic<int> destroyed{0};

struct counted {
  int lives = 1;
  ~counted() {
    this_thread::yield(); // it may switch, as all of the thread's code
    destroyed += lives;
  }
};
thread_local counted counted_of_thread;

TEST_F(made_blocks, have_run_their_destructors_when_a_join_returns) {
  constexpr int threads = 50;
  destroyed = 0;
  for (int t = 1; t <= threads; ++t) {
    thread(bound(), [] { counted_of_thread.lives = 1; }).join();
    EXPECT_EQ(destroyed, t);
  }
  thread(bound(), [] {
    counted_of_thread.lives = 1;
    this_thread::exit();
  }).join();
  EXPECT_EQ(destroyed, threads + 1);
  thread never_uses_it(bound(), [] {});
  never_uses_it.join();
  EXPECT_EQ(destroyed, threads + 1);
}

constexpr std::size_t many_keys = 200; // more than libc keeps in the block itself
std::array<pthread_key_t, many_keys> keys;

// Sets its value again, as often as POSIX bears with it, but in the first key.
void destroy_value(void* value) {
  ++destroyed;
  const auto which = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(value)) - 1;
  if (which != 0)
    ::pthread_setspecific(keys[which], value);
}

TEST_F(made_blocks_of_one_worker, have_run_keys_destructors_when_a_join_returns) {
  for (pthread_key_t& k : keys)
    ASSERT_EQ(::pthread_key_create(&k, &destroy_value), 0);
  for (int round = 0; round < 2; ++round) {
    destroyed = 0;
    one_after_the_other(
        [] {
          for (std::size_t k = 0; k != many_keys; ++k)
            ::pthread_setspecific(keys[k], reinterpret_cast<void*>(k + 1));
        },
        [] {
          EXPECT_EQ(destroyed, 1 + static_cast<int>(many_keys - 1) * PTHREAD_DESTRUCTOR_ITERATIONS);
          for (const pthread_key_t k : keys)
            EXPECT_EQ(::pthread_getspecific(k), nullptr);
        });
  }
  // A dead key's value is nobody's.
  destroyed = 0;
  thread(bound(), [] {
    ::pthread_setspecific(keys[1], &keys);
    ::pthread_key_delete(keys[1]);
  }).join();
  EXPECT_EQ(destroyed, 0);
  for (const pthread_key_t& k : keys)
    ::pthread_key_delete(k);
}

// --- libraries that come ---

struct library {
  void* handle;
  explicit library(const char* path) : handle(::dlopen(path, RTLD_NOW)) {
    EXPECT_NE(handle, nullptr) << ::dlerror();
  }
  ~library() { ::dlclose(handle); }
  library(const library&) = delete;
  [[nodiscard]] int* of_caller(const char* name) const {
    const auto function = reinterpret_cast<int* (*)()>(::dlsym(handle, name));
    return function != nullptr ? function() : nullptr;
  }
};

void expect_to_begin_and_stay(const library& of, int mine) {
  int* const variable = of.of_caller("weft_mine_of_caller");
  int* const zeros = of.of_caller("weft_too_of_caller");
  EXPECT_EQ(*variable, 42);
  EXPECT_EQ(zeros[0] + zeros[1] + zeros[2] + zeros[3], 0);
  for (int round = 0; round < 20; ++round) {
    *variable = zeros[round % 4] = mine + round;
    this_thread::yield();
    EXPECT_EQ(of.of_caller("weft_mine_of_caller"), variable);
    EXPECT_EQ(*variable, mine + round);
    EXPECT_EQ(zeros[round % 4], mine + round);
  }
}

TEST_F(made_blocks, have_variables_of_libraries_that_are_loaded_later) {
  constexpr int threads = 8;
  std::atomic<const library*> loaded{nullptr}, loaded_second{nullptr};
  std::vector<thread> lived_before;
  for (int t = 0; t < threads; ++t) {
    lived_before.emplace_back(bound(), [&, t] {
      while (loaded == nullptr)
        this_thread::yield();
      expect_to_begin_and_stay(*loaded, 100 * t);
      while (loaded_second == nullptr)
        this_thread::yield();
      expect_to_begin_and_stay(*loaded_second, 200 * t);
    });
  }
  const library dynamic(WEFT_TLS_LIBRARY "dynamic.so");
  loaded = &dynamic;
  const library fixed(WEFT_TLS_LIBRARY "fixed.so"); // whose variables are part of each block
  loaded_second = &fixed;
  for (thread& t : lived_before)
    t.join();
  for (int t = 0; t < threads; ++t) {
    thread(bound(), [&] {
      expect_to_begin_and_stay(fixed, 100 * t);
      expect_to_begin_and_stay(dynamic, 100 * t);
    }).join();
  }
}

TEST_F(made_blocks, are_made_while_libraries_come_and_go) {
  std::vector<thread> all;
  for (int t = 0; t < 4; ++t) {
    all.emplace_back(bound(), [t] {
      for (int round = 0; round < 20; ++round) {
        const library mine(t % 2 == 0 ? WEFT_TLS_LIBRARY "dynamic.so" : WEFT_TLS_LIBRARY "dynamic_too.so");
        thread(bound(), [&] { expect_to_begin_and_stay(mine, t); }).join();
      }
    });
  }
  for (thread& t : all)
    t.join();
}

// --- many ---

TEST_F(made_blocks, are_as_many_as_threads_are_alive) {
  constexpr int threads = 2000; // more than kernel threads ever lent
  const std::size_t before = preempt::counts().nowhere_to_go;
  latch have_begun(threads), may_end(1);
  std::atomic<int> right{0};
  std::vector<thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back(bound(), [&, t] {
      begins_with_seven += t;
      have_begun.count_down();
      may_end.wait();
      right += begins_with_seven == 7 + t ? 1 : 0;
    });
  }
  have_begun.wait();
  may_end.count_down();
  for (thread& t : all)
    t.join();
  EXPECT_EQ(right, threads);
  EXPECT_GE(preempt::made_block_count(), std::size_t{threads});
  EXPECT_EQ(preempt::counts().nowhere_to_go, before);
}

// Those that have not begun need none: where threads come and go the next one has the block of the last.
TEST_F(made_blocks_of_one_worker, are_as_many_as_threads_have_begun) {
  constexpr int threads = 500;
  const std::size_t before = preempt::made_block_count();
  std::vector<thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back(bound(), [] {});
  for (thread& t : all)
    t.join();
  EXPECT_LE(preempt::made_block_count(),
            before + 64); // what the creator makes beyond those that are waited for
}

} // namespace
} // namespace weft::test
