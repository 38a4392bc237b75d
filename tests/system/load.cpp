// SPDX-License-Identifier: MIT
#include "tests/system/load.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/system/scenario.hpp"
#include "weft/preemption.hpp"
#include "weft/weft.hpp"

namespace weft::tests {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

enum work { transfers, handshakes, sleeps, timeouts, children, pipes, spare_calls, from_outside, preempted };
constexpr int kinds_of_work = 9;

class load {
 public:
  explicit load(const load_options& options) : options_(options), end_(clock::now() + options.length) {}

  long run() {
    start(&load::transfer, 4);
    start(&load::answer, 1);
    start(&load::ask, 1);
    start(&load::sleep, 3);
    start(&load::time_out, 2);
    start(&load::bear_children, 2);
    start(&load::read_pipe, 2);
    if (options_.kernel_threads) {
      start(&load::block, 2);
      outside_ = std::thread([this] { live_outside(); });
    }
    if (options_.preempted) {
      start(&load::compute, 2, preemption::own_tls);
      start(&load::compute, 2, preemption::own_kernel_thread);
    }
    for (thread& t : all_)
      t.join();
    if (outside_.joinable()) {
      outside_ended_.acquire(); // join() alone would block worker 0, which the other may wait for
      outside_.join();
    }
    return check();
  }

 private:
  void start(void (load::*body)(), int count, preemption kind = preemption::none) {
    if (!can_preempt(kind) && kind != preemption::none)
      return;
    thread_attributes a;
    a.preemption = kind;
    for (int i = 0; i < count; ++i)
      all_.emplace_back(a, [this, body] { (this->*body)(); });
  }
  [[nodiscard]] bool over() const { return clock::now() >= end_; }
  void step(work w) { steps_[w].fetch_add(1, std::memory_order_relaxed); }

  void transfer() {
    for (unsigned n = 0; !over(); ++n, step(transfers)) {
      const std::scoped_lock held(lock_);
      require(!std::exchange(inside_, true), "one thread in the critical section");
      ++account_[n % 4];
      if (n % 8 == 0)
        this_thread::yield();
      --account_[n % 4];
      inside_ = false;
    }
  }

  // Whoever asks is the one to end it.
  void ask() {
    for (; !over(); step(handshakes)) {
      std::unique_lock held(turn_lock_);
      question_ = true;
      turned_.notify_all();
      turned_.wait(held, [this] { return !question_; });
    }
    const std::scoped_lock held(turn_lock_);
    no_more_ = true;
    turned_.notify_all();
  }
  void answer() {
    std::unique_lock held(turn_lock_);
    for (;;) {
      turned_.wait(held, [this] { return question_ || no_more_; });
      if (!std::exchange(question_, false))
        return;
      turned_.notify_all();
    }
  }

  void sleep() {
    for (; !over(); step(sleeps)) {
      const auto begin = clock::now();
      this_thread::sleep_for(700us);
      require(clock::now() - begin >= 700us, "slept as long as it should");
    }
  }
  void time_out() {
    for (; !over(); step(timeouts)) {
      const auto begin = clock::now();
      require(!never_.try_acquire_for(1ms), "nobody released this");
      require(clock::now() - begin >= 1ms, "waited as long as it should");
    }
  }

  void bear_children() {
    for (; !over(); step(children)) {
      std::atomic<int> born{0};
      thread child[4];
      for (thread& c : child)
        c = thread([&born] { born.fetch_add(1); });
      for (thread& c : child)
        c.join();
      auto half = fork([] { return 20; });
      require(half.join() + born.load() == 24, "all children lived");
    }
  }

  void read_pipe() {
    for (; !over(); step(pipes)) {
      int ends[2];
      require(::pipe(ends) == 0, "a pipe");
      thread writer([&] {
        this_thread::sleep_for(300us);
        require(io::write(ends[1], "four", 4, 60s) == 4, "a write to a pipe");
      });
      char text[4];
      require(io::read(ends[0], text, 4, 60s) == 4, "a read from a pipe");
      writer.join();
      io::close(ends[0]);
      io::close(ends[1]);
    }
  }

  void block() {
    for (; !over(); step(spare_calls))
      require(blocking([] { return ::usleep(200), 7; }) == 7, "a call on a spare kernel thread");
  }
  void live_outside() {
    for (; !over(); step(from_outside)) {
      int answer = 0;
      thread([&answer] { answer = 42; }).join();
      require(answer == 42, "a thread made outside");
      require(!never_.try_acquire_for(500us), "nobody released this");
    }
    outside_ended_.release();
  }

  void compute() {
    while (!over()) {
      double x = 1;
      for (int i = 0; i < 20'000; ++i)
        x = x * 1.0000001 + 1e-9;
      require(x > 1 && x < 2, "a sum");
      std::vector<int> some(17, 3);
      require(some[16] == 3, "what malloc gave");
      step(preempted);
    }
  }

  long check() {
    long sum = 0;
    bool stuck = false;
    for (int w = 0; w < kinds_of_work; ++w) {
      const long n = steps_[w].load();
      sum += n;
      const bool wanted = w == preempted ? options_.preempted && can_preempt(preemption::own_tls)
                                         : options_.kernel_threads || (w != spare_calls && w != from_outside);
      stuck = stuck || (wanted && n == 0);
    }
    if (stuck) {
      for (const auto& n : steps_)
        std::fprintf(stderr, "%ld ", n.load());
    }
    require(!stuck, "each kind of work gets on");
    for (const long a : account_)
      require(a == 0, "transfers keep the sum");
    return sum;
  }

  const load_options options_;
  const clock::time_point end_;
  std::vector<thread> all_;
  std::thread outside_;
  counting_semaphore<> outside_ended_{0}, never_{0};
  mutex lock_, turn_lock_;
  condition_variable turned_;
  long account_[4] = {};
  bool inside_ = false, question_ = false, no_more_ = false;
  std::atomic<long> steps_[kinds_of_work] = {};
};

} // namespace

long run_load(const load_options& options) {
  runtime::start({.workers = options.workers});
  thread([] {}).join();
  const auto before = runtime::count();
  const long steps = load(options).run();
  const auto left_over = [&before] {
    const auto now = runtime::count();
    return now.units != before.units || now.stacks != before.stacks || now.timers != 0;
  };
  // What ended detached gives its stack back a moment later.
  for (int looks = 0; left_over() && looks < 2000; ++looks)
    this_thread::sleep_for(1ms);
  require(!left_over(), "no unit, stack or timer is left");
  require(runtime::stop(), "the runtime stops");
  return steps;
}

std::chrono::milliseconds load_length() {
  const char* seconds = std::getenv("WEFT_SOAK");
  return seconds != nullptr ? std::chrono::milliseconds(1000 * std::max(1, std::atoi(seconds))) : 700ms;
}

bool soaking() {
  return std::getenv("WEFT_SOAK") != nullptr;
}

} // namespace weft::tests
