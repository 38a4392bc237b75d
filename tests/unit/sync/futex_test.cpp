// SPDX-License-Identifier: MIT
// The futex of user level: by threads, by kernel threads, and from handlers of signals.
#include "weft/sync/futex.hpp"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <pthread.h>

#include "tests/unit/sync/fixture.hpp"
#include "weft/arch/arch.hpp"
#include "weft/preemption.hpp"
#include "weft/sync/sleep.hpp"

namespace weft::testing {
namespace {

using sync::futex_wait;
using sync::futex_wake;
using sync::futex_word;

class futex_test : public sync_fixture {
 protected:
  void TearDown() override {
    EXPECT_TRUE(sync::futex_table_valid());
    EXPECT_TRUE(sync::futex_table_empty());
    sync_fixture::TearDown();
  }
};
INSTANTIATE_TEST_SUITE_P(workers, futex_test, worker_counts, worker_count_name);

std::timespec in_ms(clockid_t clock, long ms) {
  std::timespec t{};
  ::clock_gettime(clock, &t);
  const long ns = t.tv_nsec + ms * 1'000'000;
  return {t.tv_sec + ns / 1'000'000'000, ns % 1'000'000'000};
}

// The lock that glibc has: 0 free, 1 taken, 2 taken and waited for.
class lock_of_three {
 public:
  void lock() {
    std::uint32_t seen = 0;
    if (word_.cas_strong_acquire(seen, 1))
      return;
    while (word_.exchange_acquire(2) != 0)
      futex_wait(word_, 2);
  }
  void unlock() {
    if (word_.exchange_release(0) == 2)
      futex_wake(&word_, 1);
  }

 private:
  futex_word word_{0};
};

// A semaphore whose post() may be called anywhere.
class tokens {
 public:
  void post() noexcept {
    count_.fetch_add_release(1);
    sync::futex_wake_anywhere(&count_, 1);
  }
  void take() noexcept {
    for (;;) {
      std::uint32_t seen = count_.load_relaxed();
      if (seen == 0)
        futex_wait(count_, 0);
      else if (count_.cas_strong_acquire(seen, seen - 1))
        return;
    }
  }

 private:
  futex_word count_{0};
};

TEST_P(futex_test, does_not_wait_for_another_value_or_for_nothing) {
  const futex_word word{1};
  const std::timespec wrong{0, 1'000'000'000};
  const auto tries = [&](int) {
    EXPECT_EQ(futex_wait(word, 2), EAGAIN);
    EXPECT_EQ(futex_wait(word, 1, {.bits = 0}), EINVAL);
    EXPECT_EQ(futex_wait(word, 1, {.until = &wrong}), EINVAL);
    EXPECT_EQ(futex_wake(&word, 1), 0U);
  };
  crowd c;
  c.weft_threads(1, tries);
  c.kernel_threads(1, tries);
}

TEST_P(futex_test, a_limit_on_either_clock_ends_a_wait) {
  const futex_word word{0};
  const auto waits = [&](int) {
    for (const clockid_t clock : {CLOCK_MONOTONIC, CLOCK_REALTIME}) {
      const std::timespec until = in_ms(clock, 20), past{1, 0};
      EXPECT_EQ(futex_wait(word, 0, {.until = &until, .clock = clock}), ETIMEDOUT);
      std::timespec now{};
      ::clock_gettime(clock, &now);
      EXPECT_GE(now.tv_sec * 1'000'000'000 + now.tv_nsec, until.tv_sec * 1'000'000'000 + until.tv_nsec);
      EXPECT_EQ(futex_wait(word, 0, {.until = &past, .clock = clock}), ETIMEDOUT);
    }
  };
  crowd c;
  c.weft_threads(2, waits);
  c.kernel_threads(1, waits);
}

TEST_P(futex_test, threads_wake_in_order_and_by_their_bits) {
  futex_word word{0};
  std::atomic<int> there{0}, woken{0};
  std::vector<int> order;
  lock_of_three lock;
  std::vector<weft::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([&, i] {
      ++there;
      EXPECT_EQ(futex_wait(word, 0, {.bits = i % 2 == 0 ? 1U : 2U}), 0);
      lock.lock();
      order.push_back(i);
      lock.unlock();
      ++woken;
    });
    while (there != i + 1)
      this_thread::yield();
    sync::sleep_until_deadline(sync::deadline_of(5ms), {}); // it stands in the queue by then
  }
  const auto expect_woken = [&](unsigned most, std::uint32_t bits, unsigned expected) {
    const int before = woken;
    EXPECT_EQ(futex_wake(&word, most, bits), expected);
    while (woken != before + static_cast<int>(expected))
      this_thread::yield();
  };
  expect_woken(1, 2, 1); // 1
  expect_woken(9, 4, 0);
  expect_woken(1, 1, 1); // 0
  expect_woken(1, sync::any_futex_bit, 1);
  expect_woken(9, sync::any_futex_bit, 1);
  for (auto& t : all)
    t.join();
  EXPECT_EQ(order, (std::vector<int>{1, 0, 2, 3}));
}

TEST_P(futex_test, some_wake_and_others_move) {
  futex_word from{0}, to{0};
  std::atomic<int> there{0}, woken{0};
  const auto waits = [&](int) {
    ++there;
    while (from.load_acquire() == 0)
      futex_wait(from, 0);
    ++woken;
  };
  crowd c;
  c.weft_threads(6, waits);
  while (there != 6)
    this_thread::yield();
  sync::sleep_until_deadline(sync::deadline_of(10ms), {});
  const std::uint32_t wrong = 7, right = 1;
  from.store_release(1);
  EXPECT_EQ(sync::futex_requeue(from, &wrong, 1, &to, 9).error, EAGAIN);
  const auto m = sync::futex_requeue(from, &right, 1, &to, 3);
  EXPECT_EQ(m.error, 0);
  EXPECT_EQ(m.woken, 1U);
  EXPECT_EQ(m.requeued, 3U);
  EXPECT_EQ(futex_wake(&from, 9), 2U);
  EXPECT_EQ(futex_wake(&to, 1), 1U);
  EXPECT_EQ(futex_wake(&to, 9), 2U);
  c.join();
  EXPECT_EQ(woken, 6);
}

TEST_P(futex_test, a_wait_is_called_off) {
  futex_word word{0}, off{0};
  weft::thread waits([&] {
    while (off.load_acquire() == 0)
      futex_wait(word, 0, {.call_off = &off});
    EXPECT_EQ(futex_wait(word, 0, {.call_off = &off}), ECANCELED);
  });
  sync::sleep_until_deadline(sync::deadline_of(2ms), {});
  off.store_release(1);
  futex_wake(&word, sync::all_futex_waiters);
  waits.join();
}

// Kernel threads and threads, who lock, give up, and move: nobody is forgotten and nothing is left.
TEST_P(futex_test, all_kinds_at_once) {
  constexpr int rounds = 200;
  lock_of_three lock;
  long count = 0;
  tokens token;
  const futex_word never{0};
  const auto works = [&](int i) {
    std::mt19937 random(static_cast<unsigned>(seed) + static_cast<unsigned>(i));
    for (int round = 0; round < rounds; ++round) {
      lock.lock();
      ++count;
      lock.unlock();
      if (random() % 8 == 0) {
        const std::timespec until = in_ms(CLOCK_MONOTONIC, 0);
        EXPECT_EQ(futex_wait(never, 0, {.until = &until}), ETIMEDOUT);
      }
      token.post();
      token.take();
    }
  };
  crowd c;
  c.weft_threads(8, works);
  c.kernel_threads(3, [&](int i) { works(100 + i); });
  c.join();
  EXPECT_EQ(count, 11L * rounds);
}

// --- handlers ---

constinit std::atomic<tokens*> handler_posts{nullptr};
constinit std::atomic<long> posted{0};

void post_in_handler(int /*signal*/) {
  const int kept = errno;
  if (tokens* const to = handler_posts.load()) {
    to->post();
    ++posted;
  }
  errno = kept;
}

class handler_of_usr1 {
 public:
  handler_of_usr1() {
    struct sigaction wanted{};
    wanted.sa_handler = &post_in_handler;
    wanted.sa_flags = SA_RESTART;
    ::sigaction(SIGUSR1, &wanted, &before_);
  }
  ~handler_of_usr1() { ::sigaction(SIGUSR1, &before_, nullptr); }

 private:
  struct sigaction before_{};
};

// Signals that come wherever kernel threads are, workers too: in the middle of a wake, of a wait, of user
// code. Each token that a handler has posted is taken.
void post_from_handlers(unsigned workers, bool preemptible) {
  ASSERT_EQ(sync::prepare_futex_wakes_in_handlers(), 0);
  const handler_of_usr1 handler;
  tokens from_handlers, others;
  handler_posts = &from_handlers;
  posted = 0;
  constexpr long wanted = 200;
  std::atomic<long> taken{0};
  std::atomic<bool> done{false};
  weft::thread_attributes kind;
  if (preemptible)
    kind.preemption = preemption::bound_tls;
  std::vector<weft::thread> all;
  for (unsigned i = 0; i < 2 * workers; ++i) {
    all.emplace_back(kind, [&] {
      while (!done) {
        others.post();
        others.take();
        this_thread::yield();
      }
    });
  }
  weft::thread takes(kind, [&] {
    while (taken < wanted) {
      from_handlers.take();
      ++taken;
    }
  });
  std::thread foreign([&] { // interrupted in its own waits and wakes
    while (!done) {
      others.post();
      others.take();
    }
  });
  std::thread sends([&] {
    while (taken < wanted) {
      ::pthread_kill(foreign.native_handle(), SIGUSR1);
      ::kill(::getpid(), SIGUSR1); // to whichever kernel thread
      std::this_thread::sleep_for(100us);
    }
    done = true;
  });
  takes.join();
  while (!done)
    this_thread::yield();
  sends.join();
  foreign.join();
  for (auto& t : all)
    t.join();
  EXPECT_GE(posted, wanted);
  handler_posts = nullptr;
}

TEST_P(futex_test, handlers_post_to_cooperative_threads) {
  if (arch::sanitizer::watches_frames)
    GTEST_SKIP() << "sanitizers put handlers off";
  post_from_handlers(GetParam(), false);
}

TEST_P(futex_test, handlers_post_to_preemptible_threads) {
  if (!can_preempt(preemption::bound_tls))
    GTEST_SKIP() << "nothing is preempted here";
  post_from_handlers(GetParam(), true);
}

} // namespace
} // namespace weft::testing
