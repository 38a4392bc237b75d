// SPDX-License-Identifier: MIT
// Functions of libc's that libweft.so stands in for: a thread that waits in them lets the others run on its
// worker, and for everybody they are what they were.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <thread>

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>

#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

// Before the knob is first read: threads leave single workers too.
[[maybe_unused]] const int leave_always = ::setenv("WEFT_LEAVE", "always", 1);

constexpr timespec twenty_ms{0, 20'000'000};

int poll_for_nothing() {
  pollfd nothing{-1, 0, 0};
  return ::poll(&nothing, 1, 20);
}
int ppoll_for_nothing() {
  pollfd nothing{-1, 0, 0};
  return ::ppoll(&nothing, 1, &twenty_ms, nullptr);
}
int select_for_nothing() {
  timeval limit{0, 20'000};
  return ::select(0, nullptr, nullptr, nullptr, &limit);
}
int epoll_for_nothing() {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  const int result = ::epoll_wait(epoll, &event, 1, 20);
  ::close(epoll);
  return result;
}
int sleep_to_a_moment() {
  timespec at{};
  ::clock_gettime(CLOCK_MONOTONIC, &at);
  at.tv_nsec += twenty_ms.tv_nsec;
  at.tv_sec += at.tv_nsec / 1'000'000'000;
  at.tv_nsec %= 1'000'000'000;
  return ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

struct wait {
  const char* name;
  int (*of_20_ms)();
};
void PrintTo(const wait& w, std::ostream* out) {
  *out << w.name;
}

class libc_waits : public ::testing::TestWithParam<wait> {};
INSTANTIATE_TEST_SUITE_P(each, libc_waits,
                         ::testing::Values(wait{"poll", &poll_for_nothing}, wait{"ppoll", &ppoll_for_nothing},
                                           wait{"select", &select_for_nothing},
                                           wait{"epoll_wait", &epoll_for_nothing},
                                           wait{"usleep", [] { return ::usleep(20'000); }},
                                           wait{"nanosleep", [] { return ::nanosleep(&twenty_ms, nullptr); }},
                                           wait{"clock_nanosleep", &sleep_to_a_moment},
                                           wait{"sleep_for",
                                                [] {
                                                  std::this_thread::sleep_for(20ms);
                                                  return 0;
                                                }}),
                         [](const auto& info) { return std::string(info.param.name); });

// On one worker: the others run while main waits.
TEST_P(libc_waits, let_others_run) {
  ASSERT_TRUE(weft::runtime::start({.workers = 1}));
  std::atomic<int> steps{0};
  std::atomic<bool> stop{false};
  weft::thread other([&] {
    while (!stop) {
      ++steps;
      weft::this_thread::yield();
    }
  });
  const auto begin = clock_type::now();
  const int before = steps;
  EXPECT_EQ(GetParam().of_20_ms(), 0);
  const int meanwhile = steps;
  EXPECT_GE(clock_type::now() - begin, 19ms);
  EXPECT_GT(meanwhile, before);
  stop = true;
  other.join();
  EXPECT_TRUE(weft::runtime::stop());
}

TEST_P(libc_waits, of_a_preemptible_thread_end_for_no_tick) {
  if (!weft::can_preempt(weft::preemption::own_tls))
    GTEST_SKIP() << "not on this machine";
  ASSERT_TRUE(weft::runtime::start({.workers = 1}));
  weft::thread_attributes a;
  a.preemption = weft::preemption::own_tls;
  std::atomic<bool> stop{false};
  const auto wait = GetParam().of_20_ms;
  weft::thread waits(a, [&] {
    ::usleep(200); // on its worker's home it only learns to keep away from there
    weft::this_thread::yield();
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(wait(), 0) << errno;
    stop = true;
  });
  weft::thread computes(a, [&] {
    while (!stop)
      asm volatile("");
  });
  waits.join();
  computes.join();
  EXPECT_TRUE(weft::runtime::stop());
}

TEST_P(libc_waits, of_a_foreign_kernel_thread_can_be_cancelled) {
  if (std::string(GetParam().name) == "sleep_for")
    GTEST_SKIP() << "catches EINTR, and is no place to cancel at everywhere";
  ASSERT_TRUE(weft::runtime::start({.workers = 1}));
  const auto wait = GetParam().of_20_ms;
  pthread_t other{};
  struct call {
    int (*wait)();
  } made{wait};
  ASSERT_EQ(::pthread_create(
                &other, nullptr,
                [](void* c) -> void* {
                  for (;;)
                    static_cast<call*>(c)->wait();
                },
                &made),
            0);
  ASSERT_EQ(::pthread_cancel(other), 0);
  void* result = nullptr;
  ASSERT_EQ(::pthread_join(other, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_TRUE(weft::runtime::stop());
}

// A handler of the program's ends it, on the kernel thread that the thread had.
TEST_P(libc_waits, end_for_a_signal_of_the_programs) {
  ASSERT_TRUE(weft::runtime::start({.workers = 1}));
  static std::atomic<int> handled{0};
  handled = 0;
  struct sigaction count{};
  count.sa_handler = [](int) { ++handled; };
  struct sigaction before{};
  ASSERT_EQ(::sigaction(SIGUSR1, &count, &before), 0);
  // On a busy machine the signal may come before the wait has begun, or when it is nearly over: a wait that
  // lasts as long as it should says nothing.
  const bool sleeps_on = std::string(GetParam().name) == "sleep_for";
  bool was_in_time = false;
  for (int tries = 0; tries < 200 && !was_in_time; ++tries) {
    handled = 0;
    const pthread_t mine = ::pthread_self();
    const auto begin = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point sent;
    std::thread sender([mine, &sent] {
      std::this_thread::sleep_for(5ms);
      ::pthread_kill(mine, SIGUSR1);
      sent = std::chrono::steady_clock::now();
    });
    const int result = GetParam().of_20_ms();
    const int error = errno;
    sender.join();
    EXPECT_EQ(handled, 1);
    const bool ended_by_signal = (result == -1 && error == EINTR) || result == EINTR;
    EXPECT_TRUE(ended_by_signal || result == 0) << result;
    EXPECT_FALSE(ended_by_signal && sleeps_on);
    was_in_time = sleeps_on ? sent - begin < 15ms : ended_by_signal;
  }
  EXPECT_TRUE(was_in_time);
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(weft::runtime::stop());
}

TEST(libc_waits_of, what_is_ready_is_told_at_once) {
  ASSERT_TRUE(weft::runtime::start({.workers = 1}));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  pollfd readable{ends[0], POLLIN, 0};
  EXPECT_EQ(::poll(&readable, 1, -1), 1);
  EXPECT_EQ(readable.revents, POLLIN);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  EXPECT_EQ(::select(ends[0] + 1, &set, nullptr, nullptr, nullptr), 1);
  EXPECT_TRUE(FD_ISSET(ends[0], &set));
  ::close(ends[0]);
  ::close(ends[1]);
  errno = 0;
  EXPECT_EQ(::usleep(0), 0);
  EXPECT_EQ(::sleep(0), 0U);
  const timespec bad{0, -1};
  EXPECT_EQ(::nanosleep(&bad, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_TRUE(weft::runtime::stop());
}

} // namespace
