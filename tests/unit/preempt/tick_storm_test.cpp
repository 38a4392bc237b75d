// SPDX-License-Identifier: MIT
// The signal of ticks, all the time and to every kernel thread of the process: workers, spares, donors, the
// monitor, those that begin or end, in the runtime and out of it. Ticks of ours, and signals of somebody
// else's with the same number, which go to his handler. Nobody may be lost by it.
#include <dirent.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/mutex.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/preempt/tick_sources.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

std::atomic<long> theirs_seen{0};

// Takes SIGURG, as a program that uses it has done before Weft does.
class handler_of_theirs {
 public:
  handler_of_theirs() {
    struct sigaction counts = {};
    counts.sa_handler = [](int) { ++theirs_seen; };
    counts.sa_flags = SA_RESTART;
    EXPECT_EQ(::sigaction(SIGURG, &counts, &before_), 0);
  }
  ~handler_of_theirs() { EXPECT_EQ(::sigaction(SIGURG, &before_, nullptr), 0); }
  handler_of_theirs(const handler_of_theirs&) = delete;
  handler_of_theirs& operator=(const handler_of_theirs&) = delete;

 private:
  struct sigaction before_;
};

// From construction to destruction.
class storm {
 public:
  storm() : blows_([this] { blow(); }) {}
  ~storm() {
    over_ = true;
    blows_.join();
  }
  storm(const storm&) = delete;
  storm& operator=(const storm&) = delete;

 private:
  // The handler of one that comes before that of another has begun takes the thread to another kernel thread,
  // where that one then begins.
  static void send_ticks(std::int32_t id, unsigned count) {
    while (count-- != 0)
      preempt::send_tick(id, SIGURG);
  }
  void blow() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    const auto me = static_cast<std::int32_t>(::syscall(SYS_gettid));
    DIR* const tasks = ::opendir("/proc/self/task");
    for (unsigned round = 0; !over_; ++round) {
      ::rewinddir(tasks);
      while (const dirent* entry = ::readdir(tasks)) {
        const auto id = static_cast<std::int32_t>(std::atoi(entry->d_name)); // 0: "." and ".."
        if (id == 0 || id == me)
          continue;
        if (round % 4 == 0)
          ::syscall(SYS_tgkill, ::getpid(), id, SIGURG); // it may have ended
        else
          send_ticks(id, 1 + round % 3);
      }
      ::usleep(50);
    }
    ::closedir(tasks);
  }
  std::atomic<bool> over_{false};
  std::thread blows_;
};

// Each kernel thread has its own at all times: two that share one share what runs there.
class alternate_stacks {
 public:
  void look() {
    const no_preemption here;
    stack_t now{};
    ::sigaltstack(nullptr, &now);
    const int kernel_thread = os::this_kernel_thread_id();
    const std::scoped_lock held(lock_); // it may wait, and go on elsewhere
    const auto [place, fresh] = stack_of_.emplace(kernel_thread, now.ss_sp);
    wrong_ += place->second != now.ss_sp ? 1 : 0;
  }
  [[nodiscard]] int wrong() const { return wrong_; }

 private:
  mutex lock_;
  std::map<int, void*> stack_of_;
  int wrong_ = 0;
};

const std::vector<place> places = two_places_of_each(
    {preemption::signal_yield, preemption::own_tls, preemption::own_kernel_thread, preemption::bound_tls});

class tick_storm : public ::testing::TestWithParam<place> {
 protected:
  static constexpr int threads = 6;
  static constexpr std::int64_t length = 60'000'000; // of a life of the runtime, in ns

  void SetUp() override {
    if (!can_preempt(GetParam().kind))
      GTEST_SKIP() << "not on this machine";
    theirs_seen = 0;
  }
  void TearDown() override { runtime_.stop(); }
  static thread_attributes attributes() {
    thread_attributes a;
    a.preemption = GetParam().kind;
    return a;
  }
  // What libc and C++ keep per kernel thread; signal_yield may not use it.
  static void use_everything(int me, int round) {
    const std::string text(static_cast<std::size_t>(1 + (round * 37) % 3000), static_cast<char>('a' + me));
    EXPECT_EQ(text.find_first_not_of(static_cast<char>('a' + me)), std::string::npos);
    try {
      throw std::runtime_error(std::to_string(me * 1000 + round % 1000));
    } catch (const std::exception& e) {
      EXPECT_EQ(std::stoi(e.what()), me * 1000 + round % 1000);
    }
  }
  [[nodiscard]] bool it_has_hit() const {
    return runtime_.preemptions() != 0 &&
           (runtime_.workers_let_go() != 0 || GetParam().kind == preemption::signal_yield);
  }
  // Rounds are counted in all the ways that could lose some.
  void live_once() {
    // The monitor keeps still: all ticks are the storm's.
    runtime_.start(GetParam().pools, GetParam().workers, std::chrono::seconds(1));
    long by_mutex = 0, by_pthread_mutex = 0;
    std::atomic<long> rounds{0}, children{0};
    mutex ours;
    alternate_stacks stacks;
    pthread_mutex_t theirs = PTHREAD_MUTEX_INITIALIZER;
    const bool plain = GetParam().kind == preemption::signal_yield;
    const std::int64_t end = os::now_ns() + length;
    std::vector<thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back(attributes(), [&, end, t] {
        for (int round = 0; os::now_ns() < end || !it_has_hit(); ++round) {
          if (!plain) {
            pthread_mutex_lock(
                &theirs); // for so long that others wait in the kernel for one who is preempted
            const long seen = by_pthread_mutex;
            use_everything(t, round);
            by_pthread_mutex = seen + 1;
            pthread_mutex_unlock(&theirs);
          }
          {
            const std::scoped_lock held(ours);
            ++by_mutex;
          }
          thread child([&children] { ++children; });
          child.join();
          stacks.look();
          ++rounds;
        }
      });
    }
    for (thread& t : all)
      t.join();
    EXPECT_GT(rounds, 0);
    EXPECT_EQ(by_mutex, rounds);
    EXPECT_EQ(by_pthread_mutex, plain ? 0 : rounds.load());
    EXPECT_EQ(children, rounds);
    EXPECT_EQ(stacks.wrong(), 0);
    runtime_.stop();
  }

 private:
  ticked_runtime runtime_;
};

INSTANTIATE_TEST_SUITE_P(each, tick_storm, ::testing::ValuesIn(places), ::testing::PrintToStringParamName());

TEST_P(tick_storm, loses_nobody) {
  const handler_of_theirs installed;
  {
    const storm until_the_end;
    for (int life = 0; life < 3; ++life)
      live_once();
  }
  EXPECT_GT(theirs_seen, 0);
}

} // namespace
} // namespace weft::test
