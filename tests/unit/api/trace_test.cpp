// SPDX-License-Identifier: MIT
// What live workers record, summarised in the process itself. What files hold: tests/unit/trace.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/unit/api/fixture.hpp"
#include "weft/weft.hpp"

namespace weft::test {
namespace {

WEFT_API_SUITE(tracing);

using namespace std::chrono_literals;

// Workers are on their fast paths until their next look around; none is afterwards.
void start_and_settle() {
  trace::start();
  for (int i = 0; i < 1000; ++i)
    this_thread::yield();
}

std::uint64_t sum_of(const trace::summary& s, std::uint64_t trace::worker_summary::* field) {
  std::uint64_t sum = 0;
  for (const trace::worker_summary& w : s.workers)
    sum += w.*field;
  return sum;
}

const trace::name_summary* find_name(const trace::summary& s, const std::string& part) {
  const auto found = std::find_if(s.names.begin(), s.names.end(),
                                  [&](const auto& n) { return n.name.find(part) != std::string::npos; });
  return found != s.names.end() ? &*found : nullptr;
}

TEST_P(tracing, counts_each_thread_from_its_creation_to_its_end) {
  start_and_settle();
  constexpr int count = 100;
  std::vector<thread> all;
  for (int i = 0; i < count; ++i) {
    thread_attributes named;
    named.name = "counted";
    all.emplace_back(named, [] { this_thread::yield(); });
  }
  for (thread& t : all)
    t.join();
  const trace::summary s = trace::stop_and_summarise();
  const trace::name_summary* n = find_name(s, "counted");
  ASSERT_NE(n, nullptr) << to_text(s);
  EXPECT_EQ(n->ended, count);
  EXPECT_EQ(n->runs, 2 * count) << "each yielded once";
  EXPECT_GE(s.latency.created.count(), count);
  EXPECT_GE(s.latency.yielded.count(), count);
  EXPECT_EQ(s.dropped, 0u);
  EXPECT_EQ(trace::stop_and_summarise().events, 0u) << "nothing is left";
}

TEST_P(tracing, calls_a_unit_without_a_name_as_its_function) {
  start_and_settle();
  thread([] { this_thread::yield(); }).join();
  const trace::summary s = trace::stop_and_summarise();
  const trace::name_summary* n = find_name(s, "lambda"); // each compiler says more, in its way
  ASSERT_NE(n, nullptr) << to_text(s);
  EXPECT_EQ(n->ended, 1u);
}

TEST_P(tracing, times_a_wake_from_the_call_that_made_it) {
  start_and_settle();
  constexpr int rounds = 10;
  counting_semaphore go{0};
  counting_semaphore gone{0};
  thread woken([&] {
    for (int i = 0; i < rounds; ++i) {
      go.acquire();
      gone.release();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    this_thread::sleep_for(1ms); // it waits by then
    go.release();
    gone.acquire();
  }
  woken.join();
  const trace::summary s = trace::stop_and_summarise();
  EXPECT_GE(s.latency.woken.count(), 2u * rounds) << "the thread, and the main thread from its sleeps";
  EXPECT_GT(s.latency.woken.largest(), 0u);
}

TEST_P(tracing, hears_of_wakes_and_creations_by_other_kernel_threads) {
  start_and_settle();
  counting_semaphore go{0};
  thread waits([&go] { go.acquire(); });
  this_thread::sleep_for(1ms);
  std::atomic<bool> done{false};
  std::thread outside([&] {
    go.release();
    thread([] {}).join();
    done.store(true);
  });
  while (!done.load())
    this_thread::sleep_for(1ms);
  outside.join();
  waits.join();
  const trace::summary s = trace::stop_and_summarise();
  EXPECT_GE(s.latency.created.count(), 2u) << to_text(s);
  EXPECT_GE(s.latency.woken.count(), 1u) << to_text(s);
}

template <class Mutex>
void contend() {
  start_and_settle();
  Mutex lock;
  std::atomic<bool> held{false}, comes{false};
  thread_attributes holder;
  holder.name = "holder";
  thread holds(holder, [&] {
    const std::scoped_lock mine(lock);
    held.store(true);
    while (!comes.load()) // however slow the machine is
      this_thread::sleep_for(1ms);
    this_thread::sleep_for(5ms);
  });
  while (!held.load())
    this_thread::yield();
  thread waits([&] {
    comes.store(true);
    const std::scoped_lock mine(lock);
  });
  waits.join();
  holds.join();
  const trace::summary s = trace::stop_and_summarise();
  ASSERT_EQ(s.locks.size(), 1u) << to_text(s);
  EXPECT_EQ(s.locks[0].address, reinterpret_cast<std::uintptr_t>(&lock));
  EXPECT_EQ(s.locks[0].waits, 1u);
  EXPECT_EQ(s.locks[0].waiting, 0u);
  EXPECT_GT(s.locks[0].total_ns, 0u);
  EXPECT_EQ(s.locks[0].held_by, "holder");
}

TEST_P(tracing, names_the_lock_and_who_held_it) {
  contend<mutex>();
}

TEST_P(tracing, names_the_shared_lock_and_who_held_it) {
  contend<shared_mutex>();
}

TEST_P(tracing, names_the_fair_lock_and_who_held_it) {
  contend<mcs_mutex>();
}

TEST_P(tracing, accounts_for_all_of_the_time_of_a_worker) {
  start_and_settle();
  const auto until = std::chrono::steady_clock::now() + 20ms;
  parallel_for(0, 200, [&](int) {
    while (std::chrono::steady_clock::now() < until)
      this_thread::yield();
  });
  this_thread::sleep_for(20ms);
  const trace::summary s = trace::stop_and_summarise();
  for (const trace::worker_summary& w : s.workers) {
    if (w.dropped == 0) {
      EXPECT_EQ(w.running_ns + w.searching_ns + w.parked_ns + w.loop_ns, s.length_ns);
    }
  }
  EXPECT_GT(sum_of(s, &trace::worker_summary::running_ns), 0u);
  EXPECT_GT(sum_of(s, &trace::worker_summary::parked_ns) + sum_of(s, &trace::worker_summary::searching_ns),
            0u)
      << "all slept for a while";
}

// Each steal stands in the matrix once, and in the counters that are always kept.
TEST_P(tracing, counts_steals_by_thief_and_victim) {
  const std::uint64_t before = trace::total().steals;
  start_and_settle();
  const auto until = std::chrono::steady_clock::now() + 30ms;
  do {
    parallel_for(0, 64, [](int) {
      const auto end = std::chrono::steady_clock::now() + 20us;
      while (std::chrono::steady_clock::now() < end) {
      }
    });
  } while (std::chrono::steady_clock::now() < until);
  const trace::summary s = trace::stop_and_summarise();
  std::uint64_t in_matrix = 0;
  for (std::size_t thief = 0; thief < s.steals.size(); ++thief) {
    for (const std::uint64_t count : s.steals[thief])
      in_matrix += count;
    EXPECT_EQ(s.steals[thief][thief], 0u) << "nobody steals from himself";
  }
  EXPECT_EQ(in_matrix, sum_of(s, &trace::worker_summary::steals));
  EXPECT_LE(in_matrix, trace::total().steals - before);
  if (GetParam() == 1) {
    EXPECT_EQ(in_matrix, 0u);
  }
}

TEST_P(tracing, one_that_has_no_file_must_be_summarised) {
  trace::start();
  EXPECT_THROW(trace::start("/tmp/never-written.json"), std::system_error);
  for (int i = 0; i < 1000; ++i)
    this_thread::yield();
  EXPECT_THROW(trace::stop(), std::system_error) << "there is no path";
  EXPECT_FALSE(trace::active());
  EXPECT_THROW(trace::start(), std::system_error) << "it is kept";
  EXPECT_GT(trace::stop_and_summarise().events, 0u);
}

} // namespace
} // namespace weft::test
