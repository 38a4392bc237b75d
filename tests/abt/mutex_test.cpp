// SPDX-License-Identifier: MIT
// Mutexes of all kinds: made, static and recursive; each way to lock and each way to unlock.
#include "sync.hpp"

using namespace abt_test;

namespace {

using operation = int (*)(ABT_mutex);

// A mutex with the given attribute, freed at the end of the scope.
class mutex {
 public:
  explicit mutex(bool recursive = false) {
    ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
    EXPECT_OK(ABT_mutex_attr_create(&attr));
    EXPECT_OK(ABT_mutex_attr_set_recursive(attr, recursive ? ABT_TRUE : ABT_FALSE));
    EXPECT_OK(ABT_mutex_create_with_attr(attr, &handle_));
    EXPECT_OK(ABT_mutex_attr_free(&attr)); // the mutex keeps what it needs
  }
  ~mutex() { EXPECT_OK(ABT_mutex_free(&handle_)); }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  operator ABT_mutex() const { return handle_; }

 private:
  ABT_mutex handle_ = ABT_MUTEX_NULL;
};

// What another ULT of this stream gets from ABT_mutex_trylock(); it gives a lock back.
int tried_by_another(ABT_mutex m) {
  int code = ABT_ERR_OTHER;
  in_thread([&] {
    code = ABT_mutex_trylock(m);
    if (code == ABT_SUCCESS) {
      EXPECT_OK(ABT_mutex_unlock(m));
    }
  });
  return code;
}

void expect_waits_for_owner(operation lock, operation unlock) {
  const runtime rt;
  const mutex m;
  bool got = false;
  EXPECT_OK(lock(m));
  crowd c;
  c.ults(1, [&] {
    EXPECT_OK(lock(m));
    got = true;
    EXPECT_OK(unlock(m));
  });
  until_blocked(c.ult(0));
  EXPECT_FALSE(got);
  EXPECT_OK(unlock(m));
  c.join();
  EXPECT_TRUE(got);
  EXPECT_ABT(ABT_SUCCESS, tried_by_another(m));
}

// ULTs of three streams and kernel threads; the yield lets the others meet a taken mutex.
void expect_excludes(operation lock, operation unlock, bool recursive = false) {
  constexpr int rounds = 100;
  const runtime rt;
  const streams es(2);
  const mutex m(recursive);
  long count = 0;
  crowd c;
  const body add = [&] {
    for (int i = 0; i < rounds; ++i) {
      EXPECT_OK(lock(m));
      const long before = count;
      ABT_thread_yield();
      count = before + 1;
      EXPECT_OK(unlock(m));
    }
  };
  c.ults(2, add);
  c.ults(2, add, es.pool(0));
  c.ults(2, add, es.pool(1));
  c.kernel_threads(2, add);
  c.join();
  EXPECT_EQ(count, 8 * rounds);
}

void expect_counts_recursion(operation lock, operation unlock) {
  const runtime rt;
  const mutex m(true);
  const body nested = [&] {
    for (int i = 0; i < 3; ++i)
      EXPECT_OK(lock(m));
    for (int i = 0; i < 3; ++i) {
      EXPECT_ABT(ABT_ERR_MUTEX_LOCKED, tried_by_another(m)); // the owner is the ULT, not its stream
      EXPECT_OK(unlock(m));
    }
    EXPECT_ABT(ABT_SUCCESS, tried_by_another(m));
  };
  nested();
  in_thread(nested);
}

void expect_refuses_null(operation f) {
  const runtime rt;
  for (const ABT_mutex null : nulls(ABT_MUTEX_NULL)) {
    EXPECT_ABT(ABT_ERR_INV_MUTEX, f(null));
    in_kernel_thread([=] { EXPECT_ABT(ABT_ERR_INV_MUTEX, f(null)); });
  }
}

TEST(ABT_mutex_create, makes_a_free_mutex) {
  const runtime rt;
  ABT_mutex m = ABT_MUTEX_NULL;
  ASSERT_OK(ABT_mutex_create(&m));
  EXPECT_NE(m, ABT_MUTEX_NULL);
  EXPECT_OK(ABT_mutex_trylock(m));
  EXPECT_ABT(ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(m)); // not recursive
  EXPECT_OK(ABT_mutex_unlock(m));
  EXPECT_OK(ABT_mutex_free(&m));
}

TEST(ABT_mutex_create_with_attr, null_is_the_default) {
  const runtime rt;
  for (const ABT_mutex_attr null : nulls(ABT_MUTEX_ATTR_NULL)) {
    ABT_mutex m = ABT_MUTEX_NULL;
    ASSERT_OK(ABT_mutex_create_with_attr(null, &m));
    EXPECT_OK(ABT_mutex_lock(m));
    EXPECT_ABT(ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(m));
    EXPECT_OK(ABT_mutex_unlock(m));
    EXPECT_OK(ABT_mutex_free(&m));
  }
}

TEST(ABT_mutex_create_with_attr, makes_what_the_attribute_says) {
  const runtime rt;
  for (const bool recursive : {false, true}) {
    const mutex m(recursive);
    EXPECT_OK(ABT_mutex_lock(m));
    EXPECT_ABT(recursive ? ABT_SUCCESS : ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(m));
    EXPECT_OK(ABT_mutex_unlock(m));
    if (recursive) {
      EXPECT_OK(ABT_mutex_unlock(m));
    }
    EXPECT_ABT(ABT_SUCCESS, tried_by_another(m));
  }
}

TEST(ABT_mutex_free, takes_the_handle_away) {
  const runtime rt;
  ABT_mutex m = ABT_MUTEX_NULL;
  ASSERT_OK(ABT_mutex_create(&m));
  EXPECT_OK(ABT_mutex_free(&m));
  EXPECT_EQ(m, ABT_MUTEX_NULL);
}

TEST(ABT_mutex_free, frees_a_locked_mutex) {
  const runtime rt;
  ABT_mutex m = ABT_MUTEX_NULL;
  ASSERT_OK(ABT_mutex_create(&m));
  EXPECT_OK(ABT_mutex_lock(m));
  EXPECT_OK(ABT_mutex_free(&m));
  EXPECT_EQ(m, ABT_MUTEX_NULL);
}

TEST(ABT_mutex_free, refuses_null_handle) {
  const runtime rt;
  for (ABT_mutex null : nulls(ABT_MUTEX_NULL))
    EXPECT_ABT(ABT_ERR_INV_MUTEX, ABT_mutex_free(&null));
}

TEST(ABT_mutex_lock, waits_for_owner) {
  expect_waits_for_owner(ABT_mutex_lock, ABT_mutex_unlock);
}
TEST(ABT_mutex_lock, excludes) {
  expect_excludes(ABT_mutex_lock, ABT_mutex_unlock);
}
TEST(ABT_mutex_lock, excludes_when_recursive) {
  expect_excludes(ABT_mutex_lock, ABT_mutex_unlock, true);
}
TEST(ABT_mutex_lock, counts_recursion) {
  expect_counts_recursion(ABT_mutex_lock, ABT_mutex_unlock);
}
TEST(ABT_mutex_lock, refuses_null_handle) {
  expect_refuses_null(ABT_mutex_lock);
}

TEST(ABT_mutex_lock, counts_recursion_of_kernel_threads) {
  const runtime rt;
  const mutex m(true);
  in_kernel_thread([&] {
    EXPECT_OK(ABT_mutex_lock(m));
    EXPECT_OK(ABT_mutex_lock(m));
    for (int i = 0; i < 2; ++i) {
      std::thread([&] { EXPECT_ABT(ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(m)); }).join();
      EXPECT_OK(ABT_mutex_unlock(m));
    }
  });
  EXPECT_ABT(ABT_SUCCESS, tried_by_another(m));
}

TEST(ABT_mutex_lock, works_in_tasklets) {
  const runtime rt;
  for (const bool recursive : {false, true}) {
    const mutex m(recursive);
    in_tasklet([&] {
      EXPECT_OK(ABT_mutex_lock(m));
      EXPECT_ABT(recursive ? ABT_SUCCESS : ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(m));
      if (recursive) {
        EXPECT_OK(ABT_mutex_unlock(m));
      }
      EXPECT_OK(ABT_mutex_unlock(m));
    });
    EXPECT_ABT(ABT_SUCCESS, tried_by_another(m));
  }
}

// A tasklet cannot be switched out: it stops its stream until the mutex is free.
TEST(ABT_mutex_lock, stops_a_tasklet) {
  const runtime rt;
  const streams es(1);
  const mutex m;
  std::atomic<bool> entered = false;
  std::atomic<bool> got = false;
  EXPECT_OK(ABT_mutex_lock(m));
  body f = [&] {
    entered = true;
    EXPECT_OK(ABT_mutex_lock(m));
    got = true;
    EXPECT_OK(ABT_mutex_unlock(m));
  };
  ABT_task t = ABT_TASK_NULL;
  ASSERT_OK(ABT_task_create(es.pool(0), run_function, &f, &t));
  yield_until([&] { return entered.load(); });
  EXPECT_FALSE(got);
  EXPECT_OK(ABT_mutex_unlock(m));
  EXPECT_OK(ABT_task_free(&t));
  EXPECT_TRUE(got);
}

ABT_mutex_memory plain_memory = ABT_MUTEX_INITIALIZER;
ABT_mutex_memory recursive_memory = ABT_RECURSIVE_MUTEX_INITIALIZER;

void use_static_mutexes() {
  const ABT_mutex plain = ABT_MUTEX_MEMORY_GET_HANDLE(&plain_memory);
  const ABT_mutex recursive = ABT_MUTEX_MEMORY_GET_HANDLE(&recursive_memory);
  EXPECT_OK(ABT_mutex_lock(plain));
  EXPECT_ABT(ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(plain));
  EXPECT_OK(ABT_mutex_unlock(plain));
  EXPECT_OK(ABT_mutex_lock(recursive));
  EXPECT_OK(ABT_mutex_lock(recursive));
  EXPECT_OK(ABT_mutex_trylock(recursive));
  EXPECT_OK(ABT_mutex_unlock(recursive));
  EXPECT_OK(ABT_mutex_unlock(recursive));
  std::thread([=] { EXPECT_ABT(ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(recursive)); }).join();
  EXPECT_OK(ABT_mutex_unlock(recursive));
  std::thread([=] {
    EXPECT_OK(ABT_mutex_trylock(recursive));
    EXPECT_OK(ABT_mutex_unlock(recursive));
  }).join();
}

TEST(ABT_mutex_lock, takes_static_mutexes_at_any_time) {
  use_static_mutexes();
  {
    const runtime rt;
    use_static_mutexes();
    in_thread(use_static_mutexes);
  }
  use_static_mutexes();
}

TEST(ABT_mutex_lock, excludes_without_a_runtime) {
  constexpr int rounds = 10000;
  for (ABT_mutex_memory* memory : {&plain_memory, &recursive_memory}) {
    const ABT_mutex m = ABT_MUTEX_MEMORY_GET_HANDLE(memory);
    long count = 0;
    std::vector<std::thread> all;
    for (int i = 0; i < 3; ++i) {
      all.emplace_back([&] {
        for (int n = 0; n < rounds; ++n) {
          EXPECT_EQ(ABT_SUCCESS, ABT_mutex_lock(m));
          ++count;
          EXPECT_EQ(ABT_SUCCESS, ABT_mutex_unlock(m));
        }
      });
    }
    for (std::thread& t : all)
      t.join();
    EXPECT_EQ(count, 3 * rounds);
  }
}

TEST(ABT_mutex_lock_high, waits_for_owner) {
  expect_waits_for_owner(ABT_mutex_lock_high, ABT_mutex_unlock);
}
TEST(ABT_mutex_lock_high, excludes) {
  expect_excludes(ABT_mutex_lock_high, ABT_mutex_unlock);
}
TEST(ABT_mutex_lock_high, counts_recursion) {
  expect_counts_recursion(ABT_mutex_lock_high, ABT_mutex_unlock);
}
TEST(ABT_mutex_lock_high, refuses_null_handle) {
  expect_refuses_null(ABT_mutex_lock_high);
}

TEST(ABT_mutex_lock_low, waits_for_owner) {
  expect_waits_for_owner(ABT_mutex_lock_low, ABT_mutex_unlock);
}
TEST(ABT_mutex_lock_low, excludes) {
  expect_excludes(ABT_mutex_lock_low, ABT_mutex_unlock);
}
TEST(ABT_mutex_lock_low, counts_recursion) {
  expect_counts_recursion(ABT_mutex_lock_low, ABT_mutex_unlock);
}
TEST(ABT_mutex_lock_low, refuses_null_handle) {
  expect_refuses_null(ABT_mutex_lock_low);
}

TEST(ABT_mutex_trylock, takes_a_free_mutex_always) {
  const runtime rt;
  const mutex m;
  for (int i = 0; i < 10000; ++i) {
    ASSERT_EQ(ABT_SUCCESS, ABT_mutex_trylock(m)); // strong: no failure out of nothing
    ASSERT_EQ(ABT_SUCCESS, ABT_mutex_unlock(m));
  }
}

// What trylock took excludes and is handed on like any other lock.
TEST(ABT_mutex_trylock, excludes) {
  expect_excludes(
      [](ABT_mutex m) {
        int code;
        while ((code = ABT_mutex_trylock(m)) == ABT_ERR_MUTEX_LOCKED)
          ABT_thread_yield();
        return code;
      },
      ABT_mutex_unlock);
}
TEST(ABT_mutex_trylock, counts_recursion) {
  expect_counts_recursion(ABT_mutex_trylock, ABT_mutex_unlock);
}
TEST(ABT_mutex_trylock, refuses_null_handle) {
  expect_refuses_null(ABT_mutex_trylock);
}

TEST(ABT_mutex_trylock, refuses_taken_mutex) {
  const runtime rt;
  for (const bool recursive : {false, true}) {
    const mutex m(recursive);
    EXPECT_OK(ABT_mutex_lock(m));
    const body in_vain = [&] { EXPECT_ABT(ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(m)); };
    in_thread(in_vain);
    in_tasklet(in_vain);
    in_kernel_thread(in_vain);
    EXPECT_OK(ABT_mutex_unlock(m));
    EXPECT_ABT(ABT_SUCCESS, tried_by_another(m));
  }
}

TEST(ABT_mutex_spinlock, takes_a_free_mutex) {
  const runtime rt;
  const mutex m;
  EXPECT_OK(ABT_mutex_spinlock(m));
  EXPECT_ABT(ABT_ERR_MUTEX_LOCKED, tried_by_another(m));
  EXPECT_OK(ABT_mutex_unlock(m));
  EXPECT_ABT(ABT_SUCCESS, tried_by_another(m));
}

// It keeps its kernel thread busy, so that the owner has to run on another one.
TEST(ABT_mutex_spinlock, waits_for_owner) {
  const runtime rt;
  const streams es(1);
  const mutex m;
  std::atomic<int> entered = 0;
  std::atomic<int> got = 0;
  EXPECT_OK(ABT_mutex_lock(m));
  crowd c;
  const body spin = [&] {
    ++entered;
    EXPECT_OK(ABT_mutex_spinlock(m));
    ++got;
    EXPECT_OK(ABT_mutex_unlock(m));
  };
  c.ults(1, spin, es.pool(0));
  c.kernel_threads(1, spin);
  yield_until([&] { return entered == 2; });
  EXPECT_EQ(got, 0);
  EXPECT_OK(ABT_mutex_unlock(m));
  c.join();
  EXPECT_EQ(got, 2);
}

TEST(ABT_mutex_spinlock, counts_recursion) {
  expect_counts_recursion(ABT_mutex_spinlock, ABT_mutex_unlock);
}
TEST(ABT_mutex_spinlock, refuses_null_handle) {
  expect_refuses_null(ABT_mutex_spinlock);
}

// A mutex that is not recursive has no owner: whoever comes may give it back.
void expect_unlocks_for_another(operation unlock) {
  const runtime rt;
  const mutex m;
  for (auto* in : {+[](body f) { in_thread(std::move(f)); }, +[](body f) { in_tasklet(std::move(f)); },
                   +[](body f) { in_kernel_thread(std::move(f)); }}) {
    EXPECT_OK(ABT_mutex_lock(m));
    in([&] { EXPECT_OK(unlock(m)); });
    EXPECT_ABT(ABT_SUCCESS, tried_by_another(m));
  }
}

TEST(ABT_mutex_unlock, unlocks_for_another) {
  expect_unlocks_for_another(ABT_mutex_unlock);
}
TEST(ABT_mutex_unlock, refuses_null_handle) {
  expect_refuses_null(ABT_mutex_unlock);
}

TEST(ABT_mutex_unlock, lets_every_waiter_in) {
  const runtime rt;
  const mutex m;
  int got = 0;
  EXPECT_OK(ABT_mutex_lock(m));
  crowd c;
  c.ults(20, [&] {
    EXPECT_OK(ABT_mutex_lock(m));
    ++got;
    EXPECT_OK(ABT_mutex_unlock(m));
  });
  for (std::size_t i = 0; i < 20; ++i)
    until_blocked(c.ult(i));
  EXPECT_OK(ABT_mutex_unlock(m)); // once: each hands it to the next
  c.join();
  EXPECT_EQ(got, 20);
}

TEST(ABT_mutex_unlock_se, unlocks_for_another) {
  expect_unlocks_for_another(ABT_mutex_unlock_se);
}
TEST(ABT_mutex_unlock_se, lets_the_waiter_in) {
  expect_waits_for_owner(ABT_mutex_lock, ABT_mutex_unlock_se);
}
TEST(ABT_mutex_unlock_se, excludes) {
  expect_excludes(ABT_mutex_lock, ABT_mutex_unlock_se);
}
TEST(ABT_mutex_unlock_se, counts_recursion) {
  expect_counts_recursion(ABT_mutex_lock, ABT_mutex_unlock_se);
}
TEST(ABT_mutex_unlock_se, refuses_null_handle) {
  expect_refuses_null(ABT_mutex_unlock_se);
}

TEST(ABT_mutex_unlock_de, unlocks_for_another) {
  expect_unlocks_for_another(ABT_mutex_unlock_de);
}
TEST(ABT_mutex_unlock_de, lets_the_waiter_in) {
  expect_waits_for_owner(ABT_mutex_lock, ABT_mutex_unlock_de);
}
TEST(ABT_mutex_unlock_de, excludes) {
  expect_excludes(ABT_mutex_lock, ABT_mutex_unlock_de);
}
TEST(ABT_mutex_unlock_de, counts_recursion) {
  expect_counts_recursion(ABT_mutex_lock, ABT_mutex_unlock_de);
}
TEST(ABT_mutex_unlock_de, refuses_null_handle) {
  expect_refuses_null(ABT_mutex_unlock_de);
}

TEST(ABT_mutex_equal, compares_handles) {
  const runtime rt;
  const mutex a;
  const mutex b;
  ABT_bool same = ABT_FALSE;
  EXPECT_OK(ABT_mutex_equal(a, a, &same));
  EXPECT_EQ(same, ABT_TRUE);
  EXPECT_OK(ABT_mutex_equal(a, b, &same));
  EXPECT_EQ(same, ABT_FALSE);
  EXPECT_OK(ABT_mutex_equal(ABT_MUTEX_NULL, ABT_MUTEX_NULL, &same));
  EXPECT_EQ(same, ABT_TRUE);
  EXPECT_OK(ABT_mutex_equal(a, ABT_MUTEX_NULL, &same));
  EXPECT_EQ(same, ABT_FALSE);
}

TEST(ABT_mutex_get_attr, tells_what_the_mutex_is) {
  const runtime rt;
  const auto expect_recursive = [](ABT_mutex m, ABT_bool recursive) {
    ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
    ASSERT_OK(ABT_mutex_get_attr(m, &attr));
    ABT_bool got = !recursive;
    EXPECT_OK(ABT_mutex_attr_get_recursive(attr, &got));
    EXPECT_EQ(got, recursive);
    // The caller's own: what is done to it does not reach the mutex.
    EXPECT_OK(ABT_mutex_attr_set_recursive(attr, !recursive));
    EXPECT_OK(ABT_mutex_attr_free(&attr));
    EXPECT_OK(ABT_mutex_lock(m));
    EXPECT_ABT(recursive ? ABT_SUCCESS : ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(m));
    EXPECT_OK(ABT_mutex_unlock(m));
    if (recursive) {
      EXPECT_OK(ABT_mutex_unlock(m));
    }
  };
  expect_recursive(mutex(false), ABT_FALSE);
  expect_recursive(mutex(true), ABT_TRUE);
  expect_recursive(ABT_MUTEX_MEMORY_GET_HANDLE(&plain_memory), ABT_FALSE);
  expect_recursive(ABT_MUTEX_MEMORY_GET_HANDLE(&recursive_memory), ABT_TRUE);
}

TEST(ABT_mutex_get_attr, refuses_null_handle) {
  const runtime rt;
  ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
  for (const ABT_mutex null : nulls(ABT_MUTEX_NULL))
    EXPECT_ABT(ABT_ERR_INV_MUTEX, ABT_mutex_get_attr(null, &attr));
}

TEST(ABT_mutex_attr_create, is_not_recursive) {
  const runtime rt;
  ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
  ASSERT_OK(ABT_mutex_attr_create(&attr));
  EXPECT_NE(attr, ABT_MUTEX_ATTR_NULL);
  ABT_bool recursive = ABT_TRUE;
  EXPECT_OK(ABT_mutex_attr_get_recursive(attr, &recursive));
  EXPECT_EQ(recursive, ABT_FALSE);
  EXPECT_OK(ABT_mutex_attr_free(&attr));
}

TEST(ABT_mutex_attr_free, takes_the_handle_away) {
  const runtime rt;
  ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
  ASSERT_OK(ABT_mutex_attr_create(&attr));
  EXPECT_OK(ABT_mutex_attr_free(&attr));
  EXPECT_EQ(attr, ABT_MUTEX_ATTR_NULL);
}

TEST(ABT_mutex_attr_free, refuses_null_handle) {
  const runtime rt;
  for (ABT_mutex_attr null : nulls(ABT_MUTEX_ATTR_NULL))
    EXPECT_ABT(ABT_ERR_INV_MUTEX_ATTR, ABT_mutex_attr_free(&null));
}

TEST(ABT_mutex_attr_set_recursive, sets_and_resets) {
  const runtime rt;
  ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
  ASSERT_OK(ABT_mutex_attr_create(&attr));
  for (const ABT_bool wanted : {ABT_TRUE, ABT_FALSE, ABT_TRUE}) {
    EXPECT_OK(ABT_mutex_attr_set_recursive(attr, wanted));
    ABT_bool recursive = !wanted;
    EXPECT_OK(ABT_mutex_attr_get_recursive(attr, &recursive));
    EXPECT_EQ(recursive, wanted);
  }
  EXPECT_OK(ABT_mutex_attr_free(&attr));
}

TEST(ABT_mutex_attr_set_recursive, refuses_null_handle) {
  const runtime rt;
  for (const ABT_mutex_attr null : nulls(ABT_MUTEX_ATTR_NULL))
    EXPECT_ABT(ABT_ERR_INV_MUTEX_ATTR, ABT_mutex_attr_set_recursive(null, ABT_TRUE));
}

// Two attributes: what one says is not said by the other.
TEST(ABT_mutex_attr_get_recursive, tells_of_its_attribute) {
  const runtime rt;
  ABT_mutex_attr a = ABT_MUTEX_ATTR_NULL;
  ABT_mutex_attr b = ABT_MUTEX_ATTR_NULL;
  ASSERT_OK(ABT_mutex_attr_create(&a));
  ASSERT_OK(ABT_mutex_attr_create(&b));
  EXPECT_OK(ABT_mutex_attr_set_recursive(a, ABT_TRUE));
  ABT_bool recursive = ABT_FALSE;
  EXPECT_OK(ABT_mutex_attr_get_recursive(a, &recursive));
  EXPECT_EQ(recursive, ABT_TRUE);
  EXPECT_OK(ABT_mutex_attr_get_recursive(b, &recursive));
  EXPECT_EQ(recursive, ABT_FALSE);
  EXPECT_OK(ABT_mutex_attr_free(&a));
  EXPECT_OK(ABT_mutex_attr_free(&b));
}

TEST(ABT_mutex_attr_get_recursive, refuses_null_handle) {
  const runtime rt;
  ABT_bool recursive = ABT_FALSE;
  for (const ABT_mutex_attr null : nulls(ABT_MUTEX_ATTR_NULL))
    EXPECT_ABT(ABT_ERR_INV_MUTEX_ATTR, ABT_mutex_attr_get_recursive(null, &recursive));
}

} // namespace
