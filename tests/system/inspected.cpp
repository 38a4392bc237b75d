// SPDX-License-Identifier: MIT
// What `weft ps` and the gdb commands look at: one thread in each state, or a deadlock. Prints "ready" when
// all stand where they belong, and then does not change until it is killed. An argument says which.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "weft/sync/mcs_mutex.hpp"
#include "weft/sync/wait_slot.hpp"
#include "weft/unit/wait_record.hpp"
#include "weft/weft.hpp"

namespace {

// A frame that a backtrace must show, in each thread.
template <class F>
[[gnu::noinline]] void inspected_body(F f) {
  f();
  asm volatile("" ::: "memory"); // something is left to do here, so the call is one
}

template <class F>
weft::thread start(const char* name, F f) {
  return weft::thread({.name = name}, [f] { inspected_body(f); });
}

void let_others_come(int rounds = 200) {
  for (int i = 0; i < rounds; ++i) {
    weft::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

// Whether every other kernel thread of the process sleeps.
bool others_sleep() {
  bool sleep = true;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string id = task.path().filename().string();
    std::string line;
    std::getline(std::ifstream(task.path() / "stat"), line);
    const std::size_t state = line.rfind(')') + 2; // behind the name
    if (id != std::to_string(::gettid()) && state < line.size())
      sleep = sleep && line[state] == 'S';
  }
  return sleep;
}

// Workers that found no more to do. Several looks: one that was told of work may not have begun.
void let_others_fall_asleep() {
  for (int looks = 0; looks < 10; looks = others_sleep() ? looks + 1 : 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

[[noreturn]] void stay() {
  std::puts("ready");
  std::fflush(stdout);
  for (;;)
    std::this_thread::sleep_for(std::chrono::hours(1)); // the kernel thread: main() counts as running
}

// One thread a state and a reason.
void states() {
  weft::runtime::start({.workers = 1, .pools = weft::sched::arrangement::pool_per_worker});
  static weft::mutex held;
  static weft::sync::mcs_mutex fair;
  static weft::shared_mutex shared, read;
  static weft::condition_variable condition;
  static weft::mutex condition_mutex;
  static weft::counting_semaphore<> none(0);
  static weft::latch latch(1);
  static weft::barrier barrier(2);
  static weft::promise<int> promise;
  static weft::channel<int> channel(1);
  static weft::suspended_thread place;
  static weft::future<int> future = promise.get_future();
  held.lock();
  fair.lock();
  shared.lock();
  read.lock_shared();
  std::vector<weft::thread> t;
  t.push_back(start("at-mutex", [] { held.lock(); }));
  t.push_back(start("at-mcs", [] { fair.lock(); }));
  t.push_back(start("at-shared", [] { shared.lock_shared(); }));
  t.push_back(start("at-read", [] { read.lock(); }));
  t.push_back(start("at-condition", [] {
    std::unique_lock lock(condition_mutex);
    condition.wait(lock);
  }));
  t.push_back(start("at-semaphore", [] { none.acquire(); }));
  t.push_back(start("at-latch", [] { latch.wait(); }));
  t.push_back(start("at-barrier", [] { barrier.arrive_and_wait(); }));
  t.push_back(start("at-future", [] { future.wait(); }));
  t.push_back(start("at-channel", [] { static_cast<void>(channel.receive()); }));
  t.push_back(start("at-place", [] { place.wait_with([] { return true; }); }));
  const auto in_message_call = [](const weft::unit::message_wait& shown) {
    weft::suspended_thread call;
    call.wait_with([] { return true; }, {weft::unit::wait_kind::messages, 0, &shown});
  };
  using way = weft::unit::message_wait::way;
  t.push_back(start("receives", [=] { in_message_call({"MPI_Recv", way::from, 3, 7}); }));
  t.push_back(start("receives-any", [=] { in_message_call({"MPI_Probe", way::from}); }));
  t.push_back(start("sends", [=] { in_message_call({"MPI_Ssend", way::to, 0, 1}); }));
  t.push_back(start("meets", [=] { in_message_call({"MPI_Barrier"}); }));
  t.push_back(start("completes", [=] { in_message_call({"MPI_Waitall", way::none, 0, 0, 5}); }));
  t.push_back(start("asleep", [] { weft::this_thread::sleep_for(std::chrono::hours(1)); }));
  static int ends[2];
  if (::pipe(ends) != 0)
    std::abort();
  t.push_back(start("at-pipe", [] {
    char byte;
    weft::io::read(ends[0], &byte, 1);
  }));
  t.push_back(start("suspended", [] { weft::this_thread::suspend(); }));
  t.push_back(start("joins", [] { start("joined", [] { none.acquire(); }).join(); }));
  t.push_back(start("yields", [] {
    for (;;)
      weft::this_thread::yield();
  }));
  let_others_come();
  t.push_back(start("fresh", [] {}));
  stay();
}

weft::mutex of_the_receiver;

void hold_and_receive(int connection) {
  const std::scoped_lock held(of_the_receiver);
  char byte;
  weft::io::recv(connection, &byte, 1, 0);
}

// Threads in calls that wait for the kernel, one of them without a name.
void calls() {
  const int listening = weft::io::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  auto* const address = reinterpret_cast<sockaddr*>(&here);
  int ends[2];
  if (::bind(listening, address, size) != 0 || ::listen(listening, 5) != 0 ||
      ::getsockname(listening, address, &size) != 0 || ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    std::abort();
  const int connection = weft::io::socket(AF_INET, SOCK_STREAM, 0);
  weft::io::connect(connection, address, size);
  const int accepted = weft::io::accept(listening, nullptr, nullptr);
  std::vector<weft::thread> t;
  t.emplace_back(hold_and_receive, accepted);
  let_others_come();
  t.push_back(start("wants", [] { const std::scoped_lock held(of_the_receiver); }));
  t.push_back(
      start("accepts", [listening] { static_cast<void>(weft::io::accept(listening, nullptr, nullptr)); }));
  t.push_back(start("polls", [&ends] { weft::io::poll(ends[0], POLLIN); }));
  t.push_back(
      start("blocks", [] { weft::blocking([] { std::this_thread::sleep_for(std::chrono::hours(1)); }); }));
  let_others_come();
  let_others_fall_asleep();
  stay();
}

// Who waits in system calls: threads that have left their worker, and a tasklet that keeps it.
void kernel_calls() {
  ::setenv("WEFT_LEAVE", "always", 1);
  weft::runtime::start({.workers = 1});
  static int ends[2];
  if (::pipe(ends) != 0)
    std::abort();
  const auto read_one = [] {
    char byte;
    static_cast<void>(::read(ends[0], &byte, 1));
  };
  weft::thread reads = start("reads", read_one);
  weft::tasklet keeps(read_one);
  stay();
}

// Threads that each hold a mutex and want the next one's.
template <class Mutex>
void deadlock() {
  static std::array<Mutex, 3> mutexes;
  static weft::latch all_hold_one(mutexes.size());
  static constexpr std::array names{"one", "two", "three"};
  std::vector<weft::thread> t;
  for (std::size_t i = 0; i < mutexes.size(); ++i) {
    t.push_back(start(names[i], [i] {
      const std::scoped_lock first(mutexes[i]);
      all_hold_one.arrive_and_wait();
      const std::scoped_lock second(mutexes[(i + 1) % mutexes.size()]);
    }));
  }
  // Those who wait for a mutex write their marks over the owner's.
  t.push_back(start("bystander", [] { const std::scoped_lock first(mutexes[0]); }));
  let_others_come();
  let_others_fall_asleep();
  stay();
}

// A thread waits for one that waits for what the first holds; the second runs on the first one's stack.
void hosted() {
  weft::runtime::start({.workers = 1, .pools = weft::sched::arrangement::pool_per_worker});
  static weft::mutex held;
  weft::thread host = start("host", [] {
    const std::scoped_lock first(held);
    start("guest", [] { const std::scoped_lock second(held); }).join();
  });
  let_others_come();
  stay();
}

// The same with a forked call, whose descriptor lies in its creator's frame.
void forked() {
  weft::runtime::start({.workers = 1});
  static weft::mutex held;
  weft::thread host = start("host", [] {
    const std::scoped_lock first(held);
    auto guest = weft::fork([] { inspected_body([] { const std::scoped_lock second(held); }); });
    guest.join();
  });
  let_others_come();
  stay();
}

// A mutex is the heir's, who is ready and has not run since; one that waits has the stack of the owner
// before.
void inherited() {
  weft::runtime::start({.workers = 1, .pools = weft::sched::arrangement::pool_per_worker});
  static weft::mutex held;
  static bool almost = false;
  weft::thread before = start("before", [] {
    held.lock();
    weft::this_thread::yield(); // the heir is made
    weft::this_thread::yield(); // and waits
    for (std::size_t k = 0; k < weft::sync::hand_off_after; ++k) {
      held.unlock();
      held.lock();
      weft::this_thread::yield(); // it looks in vain
    }
    almost = true;
    weft::this_thread::yield(); // who will wait is made
    held.unlock();              // to the heir
  });
  weft::this_thread::yield();
  weft::thread heir = start("heir", [] { held.lock(); });
  while (!almost)
    weft::this_thread::yield();
  weft::thread waits = start("waits", [] { held.lock(); });
  weft::this_thread::yield(); // `before` ends, `waits` begins on its stack, and the heir's turn is after ours
  stay();
}

// Thousands wait for one mutex, so that the owner's mark is that far away.
void many() {
  weft::runtime::start({.workers = 1, .pools = weft::sched::arrangement::pool_per_worker});
  static weft::mutex held;
  held.lock();
  std::vector<weft::thread> t;
  for (int i = 0; i < 5000; ++i)
    t.push_back(start("one-of-many", [] { held.lock(); }));
  let_others_come(5);
  stay();
}

std::atomic<bool> told_to_end{false};

long fib(int n) {
  if (n < 2)
    return n;
  auto other = weft::fork([n] { return fib(n - 1); });
  const long mine = fib(n - 2);
  return mine + other.join();
}

// Creates, joins, forks and contends without pause until it is told to end; a wrong result is its failure.
int busy() {
  weft::runtime::start();
  std::signal(SIGTERM, [](int) { told_to_end.store(true); });
  static weft::mutex lock;
  long sum = 0;
  long expected = 0;
  std::puts("ready");
  std::fflush(stdout);
  while (!told_to_end.load()) {
    std::vector<weft::thread> t;
    for (int i = 0; i < 100; ++i) {
      t.push_back(start("worker", [&sum] {
        const std::scoped_lock held(lock);
        sum += fib(10);
      }));
    }
    for (weft::thread& one : t)
      one.join();
    expected += 100 * 55;
  }
  return sum == expected ? 0 : 1;
}

} // namespace

int main(int count, char** arguments) {
  const char* which = count > 1 ? arguments[1] : "";
  if (std::strcmp(which, "states") == 0)
    states();
  if (std::strcmp(which, "calls") == 0)
    calls();
  if (std::strcmp(which, "kernel") == 0)
    kernel_calls();
  if (std::strcmp(which, "deadlock") == 0)
    deadlock<weft::mutex>();
  if (std::strcmp(which, "recursive") == 0)
    deadlock<weft::recursive_mutex>();
  if (std::strcmp(which, "MCS mutex") == 0)
    deadlock<weft::sync::mcs_mutex>();
  if (std::strcmp(which, "shared mutex") == 0)
    deadlock<weft::shared_mutex>();
  if (std::strcmp(which, "hosted") == 0)
    hosted();
  if (std::strcmp(which, "forked") == 0)
    forked();
  if (std::strcmp(which, "inherited") == 0)
    inherited();
  if (std::strcmp(which, "many") == 0)
    many();
  if (std::strcmp(which, "busy") == 0)
    return busy();
  std::fprintf(
      stderr,
      "usage: %s states|calls|kernel|deadlock|recursive|MCS mutex|shared mutex|hosted|forked|inherited|many|"
      "busy\n",
      arguments[0]);
  return 2;
}
