// SPDX-License-Identifier: MIT
// Where cooperative threads leave their worker in the kernel, and where they do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/preempt/leaving_fixture.hpp"
#include "weft/os/fault.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/preempt/tick_sources.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"
#include "weft/thread_specific.hpp"

namespace weft::test {
namespace {

using namespace std::chrono_literals;

class leaving_once : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!leaves_here())
      GTEST_SKIP() << "not on this machine";
  }
  leaving_runtime runtime_;
};

TEST_F(leaving_once, by_default_where_two_workers_steal) {
  runtime_.start(sched::arrangement::stealing, 2, sched::leave_when::automatic);
  const a_pipe p, q;
  thread reader([&] { p.read_one(); });
  thread writer([&] {
    p.write_one();
    q.write_one();
  });
  q.read_one();
  reader.join();
  writer.join();
}

TEST_F(leaving_once, by_default_not_on_one_worker) {
  runtime_.start(sched::arrangement::stealing, 1, sched::leave_when::automatic);
  const a_pipe p;
  std::thread later([&] {
    std::this_thread::sleep_for(30ms);
    p.write_one();
  });
  p.read_one();
  later.join();
  EXPECT_EQ(runtime_.left(), 0U);
}

TEST_F(leaving_once, by_default_on_one_worker_while_a_preemptible_thread_lives) {
  runtime_.start(sched::arrangement::stealing, 1, sched::leave_when::automatic);
  const a_pipe p, end;
  thread_attributes a;
  a.preemption = preemption::own_tls;
  thread lives(a, [&] { end.read_one(); });
  thread writer([&] { p.write_one(); });
  p.read_one();
  end.write_one();
  lives.join();
  writer.join();
}

TEST_F(leaving_once, never_where_it_is_said) {
  runtime_.start(sched::arrangement::stealing, 2, sched::leave_when::never);
  const a_pipe p;
  thread writer([&] {
    ::usleep(20'000);
    p.write_one();
  });
  p.read_one();
  writer.join();
  EXPECT_EQ(runtime_.left(), 0U);
}

// It stands on the worker's own stack.
TEST_F(leaving_once, a_tasklet_keeps_its_worker) {
  runtime_.start(sched::arrangement::pool_per_worker, 1);
  const a_pipe p;
  std::thread later([&] {
    std::this_thread::sleep_for(30ms);
    p.write_one();
  });
  tasklet([&] { p.read_one(); }).join();
  later.join();
  EXPECT_EQ(runtime_.left(), 0U);
}

// Code of the user's that the runtime has called keeps the worker: the runtime goes on with it.
TEST_F(leaving_once, a_callback_keeps_it) {
  runtime_.start(sched::arrangement::pool_per_worker, 1);
  static a_pipe* waited_for;
  a_pipe p;
  waited_for = &p;
  std::thread later([&] {
    std::this_thread::sleep_for(30ms);
    p.write_one();
  });
  {
    thread_specific<int> at_end([](void* value) {
      waited_for->read_one();
      delete static_cast<int*>(value);
    });
    thread([&] { at_end.reset(new int(1)); }).join();
  }
  later.join();
  EXPECT_EQ(runtime_.left(), 0U);
}

// Whoever waits may be on the kernel thread of main(): that goes on elsewhere then.
TEST_F(leaving_once, main_goes_on_while_another_has_its_kernel_thread) {
  runtime_.start(sched::arrangement::stealing, 1);
  const a_pipe p;
  std::atomic<int> on{0};
  thread reader([&] {
    on = ::gettid();
    p.read_one();
  });
  while (on == 0)
    this_thread::yield(); // main() waits, and the reader runs where it was
  for (int i = 0; i < 100; ++i)
    this_thread::yield();
  p.write_one();
  reader.join();
  for (int i = 0; i < 3; ++i)
    this_thread::yield();
  if (on == ::getpid()) {
    EXPECT_EQ(::gettid(), ::getpid()) << "and comes back to it";
  }
}

TEST_F(leaving_once, a_worker_leaves_the_group_once_its_kernel_thread_is_free) {
  runtime_.start(sched::arrangement::stealing, 2);
  const a_pipe p;
  thread reader([&] { p.read_one(); });
  while (runtime_.left() == 0)
    this_thread::yield();
  std::thread later([&] {
    std::this_thread::sleep_for(20ms);
    p.write_one();
  });
  runtime::set_worker_count(1);
  reader.join();
  later.join();
  EXPECT_EQ(runtime::worker_count(), 1U);
}

TEST_F(leaving_once, main_may_stop_the_runtime_while_it_is_away) {
  runtime_.start(sched::arrangement::stealing, 2);
  const a_pipe p;
  thread writer([&] { p.write_one(); });
  p.read_one();
  writer.join();
  const a_pipe q;
  std::thread later([&] {
    runtime_.await_left(1);
    q.write_one();
  });
  q.read_one(); // away from here on
  runtime_.stop();
  later.join();
}

// What a thread leaves is used again.
TEST_F(leaving_once, spares_do_not_pile_up) {
  runtime_.start(sched::arrangement::pool_per_worker, 1);
  for (int i = 0; i < 60; ++i) {
    const a_pipe p;
    thread writer([&] { p.write_one(); });
    p.read_one();
    writer.join();
  }
  EXPECT_GE(runtime_.left(), 60U);
  EXPECT_LE(preempt::spare_count(), 8U);
}

// A signal would cut them short.
TEST_F(leaving_once, a_write_and_a_recv_of_all_are_whole) {
  runtime_.start(sched::arrangement::stealing, 2);
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const std::vector<char> sent(4 << 20, 'x');
  std::vector<char> got(sent.size());
  std::thread reader([&] {
    std::this_thread::sleep_for(20ms);
    std::size_t have = 0;
    while (have < got.size()) {
      const std::size_t most = std::min<std::size_t>(got.size() - have, 1 << 16);
      const ssize_t n = ::recv(ends[1], got.data() + have, most, 0);
      if (n <= 0)
        break;
      have += static_cast<std::size_t>(n);
      std::this_thread::sleep_for(500us);
    }
  });
  EXPECT_EQ(::write(ends[0], sent.data(), sent.size()), static_cast<ssize_t>(sent.size()));
  reader.join();
  std::thread writer([&] {
    for (int i = 0; i < 4; ++i) {
      std::this_thread::sleep_for(5ms);
      EXPECT_EQ(::write(ends[1], sent.data(), 1000), 1000);
    }
  });
  EXPECT_EQ(::recv(ends[0], got.data(), 4000, MSG_WAITALL), 4000);
  writer.join();
  ::close(ends[0]);
  ::close(ends[1]);
}

// Ticks that come while the handler goes on with a call do not end it, nor make it longer or shorter.
TEST_F(leaving_once, a_call_that_is_ticked_again_and_again) {
  runtime_.start(sched::arrangement::stealing, 2);
  const std::size_t left = times_left();
  const int mine = os::this_kernel_thread_id();
  std::atomic<bool> over{false};
  std::thread ticks([&] {
    while (times_left() == left && !over)
      std::this_thread::yield();
    while (!over) {
      preempt::send_tick(mine, SIGURG);
      std::this_thread::sleep_for(1ms);
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  pollfd nothing{-1, 0, 0};
  EXPECT_EQ(::poll(&nothing, 1, 60), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 60ms);
  over = true;
  ticks.join();
}

// Calls that a signal would end are gone on with.
TEST_F(leaving_once, a_poll_is_not_interrupted) {
  runtime_.start(sched::arrangement::stealing, 2);
  const std::size_t failed = preempt::counts().calls_failed;
  pollfd nothing{-1, 0, 0};
  EXPECT_EQ(::poll(&nothing, 1, 30), 0);
  thread([&] {
    pollfd also_nothing{-1, 0, 0};
    EXPECT_EQ(::poll(&also_nothing, 1, 30), 0);
  }).join();
  EXPECT_EQ(preempt::counts().calls_failed, failed);
}

// What the monitor did since it began: times that it slept.
std::size_t times_monitor_slept() {
  std::size_t switches = 0;
  for (const auto& kernel_thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(kernel_thread.path() / "status");
    bool is_monitor = false;
    for (std::string line; std::getline(status, line);) {
      is_monitor = is_monitor || line == "Name:\tweft-monitor";
      unsigned long n = 0;
      if (is_monitor && std::sscanf(line.c_str(), "voluntary_ctxt_switches: %lu", &n) == 1)
        switches = n;
    }
  }
  return switches;
}

TEST_F(leaving_once, an_idle_process_stays_idle) {
  runtime_.start(sched::arrangement::stealing, 2);
  const a_pipe p, q;
  std::size_t before = 0, after = 0;
  std::thread looks([&] {
    std::this_thread::sleep_for(100ms); // all workers sleep by then
    before = times_monitor_slept();
    std::this_thread::sleep_for(300ms);
    after = times_monitor_slept();
    q.write_one();
  });
  thread([&] { q.read_one(); }).join();
  looks.join();
  EXPECT_GT(before, 0U);
  EXPECT_LE(after - before, 3U);
}

TEST_F(leaving_once, without_a_kernel_thread_to_go_to_it_keeps_the_worker) {
  runtime_.start(sched::arrangement::pool_per_worker, 1);
  const a_pipe p;
  std::thread later([&] {
    std::this_thread::sleep_for(100ms);
    p.write_one();
  });
  {
    os::fail_after(os::fault_site::thread_create, 0, EAGAIN);
    p.read_one();
    os::disarm_faults();
  }
  later.join();
  // And leaves it when there is one.
  const a_pipe q;
  thread writer([&] { q.write_one(); });
  q.read_one();
  writer.join();
  EXPECT_GE(runtime_.left(), 1U);
}

} // namespace
} // namespace weft::test
