// SPDX-License-Identifier: MIT
// Primitives in bytes that are zero and that nobody constructs.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include "weft/door/condition.hpp"
#include "weft/door/mutex.hpp"
#include "weft/door/section.hpp"
#include "weft/door/zeroed.hpp"
#include "weft/thread.hpp"

namespace {

using weft::door::condition;
using weft::door::lock_word;
using weft::door::no_deadline;
using weft::door::recursion;

// Memory of a program in C: zeros, as badly aligned as may be.
template <class T>
class given {
  alignas(8) std::byte bytes_[sizeof(T) + 4] = {};

 public:
  T& operator*() noexcept { return *reinterpret_cast<T*>(bytes_ + 4); }
  T* operator->() noexcept { return &**this; }
};

constexpr auto silently = [] { return 0; };

class holding {
 public:
  explicit holding(lock_word& word) : word_(word) {
    const weft::door::runtime_section in_runtime;
    word_.lock(no_deadline, lock_word::free, silently);
  }
  holding(const holding&) = delete;
  holding& operator=(const holding&) = delete;
  ~holding() {
    const weft::door::runtime_section in_runtime;
    word_.release();
  }

 private:
  lock_word& word_;
};

struct numbers {
  std::int64_t first = 1;
  std::int64_t second = 2;
};

TEST(door_zeroed, is_made_when_it_is_first_needed) {
  given<weft::door::zeroed<numbers>> memory;
  EXPECT_EQ(memory->look(), nullptr);
  EXPECT_EQ(memory->get().second, 2);
  EXPECT_EQ(memory->look(), &memory->get());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->look()) % alignof(numbers), 0U);
  EXPECT_LE(reinterpret_cast<std::byte*>(memory->look() + 1), reinterpret_cast<std::byte*>(&*memory + 1));
}

TEST(door_mutex, is_taken_and_given_back) {
  given<lock_word> word;
  EXPECT_TRUE(lock_word::is_free(word->take()));
  EXPECT_FALSE(word->try_lock());
  EXPECT_EQ(word->release(), 0);
  EXPECT_TRUE(word->try_lock());
  EXPECT_EQ(word->release(), 0);
}

TEST(door_mutex, a_wait_ends_by_the_clock) {
  given<lock_word> word;
  ASSERT_TRUE(word->try_lock());
  bool got = true;
  int announced = 0;
  weft::thread([&] {
    const weft::door::runtime_section in_runtime;
    got = word->lock(weft::door::deadline_in(0.001), lock_word::free, [&] { return ++announced; });
  }).join();
  EXPECT_FALSE(got);
  EXPECT_EQ(announced, 1);
  weft::tasklet([&] { got = word->lock(weft::door::deadline_in(0.001), lock_word::free, silently); }).join();
  EXPECT_FALSE(got);
  word->release();
}

TEST(door_mutex, excludes_threads_tasklets_and_kernel_threads) {
  given<lock_word> word;
  constexpr int rounds = 2000;
  int count = 0; // guarded
  const auto body = [&] {
    for (int i = 0; i < rounds; ++i) {
      const holding held(*word);
      ++count;
    }
  };
  std::vector<weft::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(body);
  weft::tasklet tasklet(body);
  std::thread foreign(body);
  foreign.join();
  tasklet.join();
  for (weft::thread& t : threads)
    t.join();
  EXPECT_EQ(count, 6 * rounds);
}

TEST(door_recursion, counts_what_one_caller_enters) {
  given<lock_word> word;
  given<recursion> inside;
  const auto take = [&] { return word->try_lock(); };
  ASSERT_TRUE(inside->enter(take));
  EXPECT_TRUE(inside->enter(take));
  bool other = true;
  std::thread([&] { other = inside->enter(take); }).join();
  EXPECT_FALSE(other);
  EXPECT_FALSE(inside->leave());
  EXPECT_TRUE(inside->leave());
  word->release();
  std::thread([&] {
    other = inside->enter(take) && inside->leave();
    word->release();
  }).join();
  EXPECT_TRUE(other);
}

TEST(door_recursion, is_set_aside_for_a_wait) {
  given<recursion> inside;
  const auto take = [] { return true; };
  inside->enter(take);
  inside->enter(take);
  const std::uint32_t depth = inside->set_aside();
  EXPECT_EQ(depth, 2U);
  EXPECT_TRUE(inside->leave());
  inside->enter(take);
  inside->restore(depth);
  EXPECT_FALSE(inside->leave());
  EXPECT_TRUE(inside->leave());
}

// Gives the mutex back while it lives.
struct away {
  explicit away(lock_word& w) : word(w) { word.release(); }
  ~away() { word.lock(no_deadline, lock_word::free, silently); }
  away(const away&) = delete;
  away& operator=(const away&) = delete;
  lock_word& word;
};

condition::outcome wait(condition& c, lock_word& word, weft::door::deadline until) {
  const weft::door::runtime_section in_runtime;
  return c.wait(&word, until, {}, [&] { return away(word); });
}

TEST(door_condition, a_signal_that_comes_after_the_mutex_was_given_back_is_not_missed) {
  given<lock_word> word;
  given<condition> c;
  bool ready = false; // guarded
  int woken = 0;      // guarded
  const auto body = [&] {
    const holding held(*word);
    while (!ready)
      EXPECT_EQ(wait(*c, *word, no_deadline), condition::outcome::notified);
    ++woken;
  };
  weft::thread first(body);
  weft::thread second(body);
  std::thread foreign(body);
  {
    const holding held(*word);
    ready = true;
    c->notify(true);
  }
  first.join();
  second.join();
  foreign.join();
  EXPECT_EQ(woken, 3);
  EXPECT_FALSE(c->is_waited_for());
  c->drain();
}

TEST(door_condition, a_wait_ends_by_the_clock_with_the_mutex_held) {
  given<lock_word> word;
  given<condition> c;
  weft::thread([&] {
    const holding held(*word);
    EXPECT_EQ(wait(*c, *word, 0), condition::outcome::timed_out);
    EXPECT_EQ(wait(*c, *word, weft::door::deadline_in(0.001)), condition::outcome::timed_out);
    EXPECT_FALSE(word->try_lock());
  }).join();
}

TEST(door_condition, refuses_another_mutex_while_somebody_waits) {
  given<lock_word> word;
  given<lock_word> other;
  given<condition> c;
  bool done = false; // guarded
  weft::thread waiter([&] {
    const holding held(*word);
    while (!done)
      wait(*c, *word, no_deadline);
  });
  for (bool waits = false; !waits; waits = c->is_waited_for())
    weft::this_thread::yield();
  {
    const holding held(*other);
    EXPECT_EQ(wait(*c, *other, no_deadline), condition::outcome::other_mutex);
    EXPECT_FALSE(other->try_lock());
  }
  {
    const holding held(*word);
    done = true;
    c->notify(false);
  }
  waiter.join();
}

} // namespace
