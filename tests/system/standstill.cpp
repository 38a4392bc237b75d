// SPDX-License-Identifier: MIT
// Programs in which all threads wait; tests/system/standstill says which are told so. In the first ones
// nobody will ever wake anybody; in the others somebody does, whom Weft cannot know of: they print "done" and
// end.
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "weft/events/event_source.hpp"
#include "weft/sched/default_group.hpp"
#include "weft/weft.hpp"
#include "weft/workers/group.hpp"

namespace {

using namespace std::chrono_literals;

constexpr auto a_while = 700ms; // longer than workers take to look

weft::mutex first, second;
weft::binary_semaphore gate(0);

// --- nobody will wake them ---

void mutexes() {
  weft::latch both(2);
  const auto take = [&both](weft::mutex& one, weft::mutex& other) {
    const std::scoped_lock mine(one);
    both.arrive_and_wait();
    const std::scoped_lock theirs(other);
  };
  weft::thread left({.name = "left"}, [&] { take(first, second); });
  weft::thread right({.name = "right"}, [&] { take(second, first); });
  left.join();
}
void semaphore() {
  gate.acquire();
}
void future() {
  weft::promise<int> never;
  never.get_future().get();
}
void channel() {
  weft::channel<int> nothing(1);
  static_cast<void>(nothing.receive());
}
void suspended() {
  weft::thread t([] { weft::this_thread::suspend(); });
  t.join();
}
// What could have woken somebody is over.
void after_all_else() {
  std::thread([] {}).join();
  int ends[2];
  if (::pipe(ends) != 0 || ::write(ends[1], "x", 1) != 1)
    std::abort();
  char byte;
  weft::io::read(ends[0], &byte, 1);
  weft::this_thread::sleep_for(1ms);
  gate.acquire();
}
// A spare kernel thread is idle, and ends after some seconds.
void after_a_blocking_call() {
  weft::blocking([] {});
  gate.acquire();
}

// --- somebody does ---

void kernel_thread() {
  std::thread other([] {
    std::this_thread::sleep_for(a_while);
    gate.release();
  });
  gate.acquire();
  other.join();
}
void timer() {
  static_cast<void>(gate.try_acquire_for(a_while));
}
void input() {
  int ends[2];
  if (::pipe(ends) != 0)
    std::abort();
  if (::fork() == 0) { // another process
    ::usleep(700'000);
    ::_exit(::write(ends[1], "x", 1) == 1 ? 0 : 1);
  }
  char byte;
  weft::io::read(ends[0], &byte, 1);
}
// The forked call, which no slab holds, waits for input, and its creator for something else.
void forked_input() {
  int ends[2];
  if (::pipe(ends) != 0)
    std::abort();
  if (::fork() == 0) {
    ::usleep(700'000);
    ::_exit(::write(ends[1], "x", 1) == 1 ? 0 : 1);
  }
  auto call = weft::fork([&ends] {
    char byte;
    weft::io::read(ends[0], &byte, 1);
    gate.release();
  });
  gate.acquire();
  call.join();
}
void blocking_call() {
  weft::thread other([] {
    weft::blocking([] { std::this_thread::sleep_for(a_while); });
    gate.release();
  });
  gate.acquire();
  other.join();
}
struct late_source final : weft::sched::event_source {
  const std::chrono::steady_clock::time_point due = std::chrono::steady_clock::now() + a_while;
  bool is_done = false;
  int poll() override {
    if (is_done || std::chrono::steady_clock::now() < due)
      return 0;
    is_done = true;
    gate.release();
    return 1;
  }
  [[nodiscard]] std::chrono::nanoseconds patience() const override { return 50ms; }
};
void event_source() {
  weft::runtime::start();
  auto& group = weft::sched::default_group();
  const auto source = std::make_shared<late_source>();
  group.add_event_source(source);
  gate.acquire();
  group.remove_event_source(*source);
}
// Its handler ends the program.
void handler() {
  struct sigaction action{};
  action.sa_handler = [](int) {
    if (::write(1, "done\n", 5) == 5)
      ::_exit(0);
  };
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval later{{0, 0}, {0, 700'000}};
  ::setitimer(ITIMER_REAL, &later, nullptr);
  gate.acquire();
}
void running() {
  std::this_thread::sleep_for(a_while); // main() is a thread that runs
}

const struct {
  const char* name;
  void (*run)();
} programs[] = {{"mutexes", mutexes},
                {"semaphore", semaphore},
                {"future", future},
                {"channel", channel},
                {"suspended", suspended},
                {"after_all_else", after_all_else},
                {"after_a_blocking_call", after_a_blocking_call},
                {"kernel_thread", kernel_thread},
                {"timer", timer},
                {"input", input},
                {"forked_input", forked_input},
                {"blocking_call", blocking_call},
                {"event_source", event_source},
                {"handler", handler},
                {"running", running}};

} // namespace

int main(int count, char** arguments) {
  for (const auto& each : programs) {
    if (count == 2 && std::strcmp(arguments[1], each.name) == 0) {
      weft::runtime::start();
      each.run();
      std::puts("done");
      return 0;
    }
  }
  return 2;
}
