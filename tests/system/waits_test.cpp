// SPDX-License-Identifier: MIT
// Threads of every kind wait in the kernel for what threads that were preempted hold, or for what comes from
// outside, while these hold it between any two instructions: {kind} x {what} x {workers}, ticks every 100 us.
// Each cell is a process of its own: fork() is among them, and one that hangs must not take the rest along.
// WEFT_WAITS_REPEATED: how often each runs; 1, and 5 where a program that somebody had has hung so.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <netdb.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/system/scenario.hpp"
#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;
using weft::preemption;
using weft::tests::require;

constexpr int cannot = 77; // exit code: this machine has no such threads

// --- what is waited for ---

void compute(std::chrono::microseconds length) {
  for (const auto end = std::chrono::steady_clock::now() + length; std::chrono::steady_clock::now() < end;)
    asm volatile("");
}

void use_mutex(unsigned) {
  static std::mutex m;
  static long inside = 0;
  const std::scoped_lock held(m);
  const long seen = inside;
  compute(20us);
  require(inside == seen, "nobody else was inside");
  inside = seen + 1;
}

void use_stdio(unsigned n) {
  static std::FILE* const out = std::fopen("/dev/null", "w");
  for (int i = 0; i < 50; ++i)
    std::fprintf(out, "%u %s %f\n", n, "hello", n * 0.5);
}

// Blocks go from thread to thread, so each is freed in an arena of another's.
void use_malloc(unsigned n) {
  constexpr unsigned slots = 64;
  static std::atomic<void*> kept[slots];
  for (unsigned i = 0; i < 100; ++i)
    std::free(kept[(n * 7 + i) % slots].exchange(std::malloc(1100 + (n + i) * 37 % 5000)));
}

template <std::size_t N>
int value_made_once() {
  struct slowly {
    slowly() { weft::this_thread::sleep_for(2ms); }
    int value = 1;
  };
  static slowly made;
  return made.value;
}

void use_static(unsigned n) {
  constexpr std::size_t count = 16;
  static constexpr auto all = []<std::size_t... N>(std::index_sequence<N...>) {
    return std::array<int (*)(), count>{&value_made_once<N>...};
  }(std::make_index_sequence<count>());
  require(all[n % count]() == 1, "it is made");
}

void use_fork(unsigned) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(0);
  int status = 1;
  require(child > 0 && ::waitpid(child, &status, 0) == child && status == 0, "the child ended");
}

// From a kernel thread, which nobody keeps waiting.
void use_pipe(unsigned) {
  int ends[2];
  require(::pipe(ends) == 0, "pipe");
  char got = 0;
  weft::blocking([&] {
    std::thread([out = ends[1]] {
      std::this_thread::sleep_for(500us);
      require(::write(out, "x", 1) == 1, "write");
    }).detach();
  });
  require(::read(ends[0], &got, 1) == 1 && got == 'x', "read");
  ::close(ends[0]);
  ::close(ends[1]);
}

void use_getaddrinfo(unsigned) {
  addrinfo* found = nullptr;
  if (::getaddrinfo("127.0.0.1", "80", nullptr, &found) == 0)
    ::freeaddrinfo(found);
}

void use_dlopen(unsigned) {
  if (void* const library = ::dlopen("libm.so.6", RTLD_NOW))
    ::dlclose(library);
}

void use_join(unsigned) {
  std::thread([] {}).join();
}

struct use {
  const char* name;
  void (*once)(unsigned n);
  unsigned rounds;
};
constexpr use uses[] = {
    {"mutex", &use_mutex, 200},
    {"stdio", &use_stdio, 200},
    {"malloc", &use_malloc, 400},
    {"static_guard", &use_static, 32},
    {"fork", &use_fork, 20},
    {"pipe", &use_pipe, 20},
    {"getaddrinfo", &use_getaddrinfo, 50},
    {"dlopen", &use_dlopen, 100},
    {"join_kernel_thread", &use_join, 30},
};

// --- who waits ---

weft::thread_attributes attributes(preemption kind) {
  weft::thread_attributes a;
  a.preemption = kind;
  return a;
}

using waiters = void (*)(void (*all_rounds)());

template <preemption Kind>
void threads_wait(void (*all_rounds)()) {
  std::vector<weft::thread> all;
  for (int i = 0; i < 3; ++i)
    all.emplace_back(attributes(Kind), all_rounds);
  for (weft::thread& t : all)
    t.join();
}

void main_waits(void (*all_rounds)()) {
  all_rounds();
}

void foreign_threads_wait(void (*all_rounds)()) {
  weft::blocking([=] {
    std::thread one(all_rounds);
    std::thread(all_rounds).join();
    one.join();
  });
}

struct who {
  const char* name;
  waiters wait;
  preemption kind;
};
constexpr who kinds[] = {
    {"cooperative", &threads_wait<preemption::none>, preemption::none},
    {"main", &main_waits, preemption::none},
    {"foreign", &foreign_threads_wait, preemption::none},
    {"own_tls", &threads_wait<preemption::own_tls>, preemption::own_tls},
    {"bound_tls", &threads_wait<preemption::bound_tls>, preemption::bound_tls},
    {"own_kernel_thread", &threads_wait<preemption::own_kernel_thread>, preemption::own_kernel_thread},
    {"signal_yield", &threads_wait<preemption::signal_yield>, preemption::signal_yield},
};

const use* chosen = nullptr;

void all_rounds() {
  for (unsigned i = 0; i < chosen->rounds; ++i)
    chosen->once(i);
}

WEFT_SCENARIO(cell) {
  std::istringstream words(weft::tests::scenario_argument());
  unsigned kind = 0, what = 0, workers = 0;
  words >> kind >> what >> workers;
  if (!weft::can_preempt(preemption::own_tls) || !weft::can_preempt(kinds[kind].kind))
    return cannot;
  chosen = &uses[what];
  require(weft::runtime::start({.workers = workers}), "start");
  weft::preempt::set_interval(100us);
  std::atomic<bool> done{false};
  std::vector<weft::thread> owners; // who are preempted with what the others wait for
  for (int i = 0; i < 3; ++i) {
    owners.emplace_back(attributes(preemption::own_tls), [&] {
      const bool holds_nothing = chosen->once == &use_fork || kinds[kind].kind == preemption::signal_yield;
      for (unsigned n = 0; !done; ++n)
        holds_nothing ? use_malloc(n) : chosen->once(n);
    });
  }
  kinds[kind].wait(&all_rounds);
  done = true;
  for (weft::thread& t : owners)
    t.join();
  require(weft::runtime::stop(), "stop");
  return 0;
}

// --- the matrix ---

class waits : public ::testing::TestWithParam<std::tuple<unsigned, unsigned, unsigned>> {};

// Threads of signal_yield share what libc keeps for a kernel thread: they may use none of the rest.
std::vector<std::tuple<unsigned, unsigned, unsigned>> cells() {
  std::vector<std::tuple<unsigned, unsigned, unsigned>> all;
  for (unsigned kind = 0; kind < std::size(kinds); ++kind) {
    for (unsigned what = 0; what < std::size(uses); ++what) {
      if (kinds[kind].kind == preemption::signal_yield && uses[what].once != &use_pipe)
        continue;
      for (const unsigned workers : {1U, 2U, 4U})
        all.emplace_back(kind, what, workers);
    }
  }
  return all;
}

std::string name_of_cell(const ::testing::TestParamInfo<std::tuple<unsigned, unsigned, unsigned>>& info) {
  const auto [kind, what, workers] = info.param;
  return std::string(kinds[kind].name) + "_" + uses[what].name + "_" + std::to_string(workers);
}

INSTANTIATE_TEST_SUITE_P(each, waits, ::testing::ValuesIn(cells()), name_of_cell);

int times_of(const who& kind, const use& what) {
  if (const char* const given = std::getenv("WEFT_WAITS_REPEATED"))
    return std::atoi(given);
  const bool is_main = kind.wait == &main_waits, is_tls = kind.kind == preemption::own_tls;
  if (what.once == &use_fork)
    return is_main || is_tls || kind.wait == &foreign_threads_wait ? 5 : 1;
  if (what.once == &use_static)
    return kind.kind == preemption::none ? 5 : 1;
  return is_main && (what.once == &use_stdio || what.once == &use_malloc) ? 5 : 1;
}

TEST_P(waits, all_go_on) {
  const auto [kind, what, workers] = GetParam();
  const int repeated = times_of(kinds[kind], uses[what]);
  std::ostringstream argument;
  argument << kind << ' ' << what << ' ' << workers;
  for (int i = 0; i < repeated; ++i) {
    const auto result =
        weft::tests::run("cell", {.environment = {}, .limit = 60s, .argument = argument.str()});
    if (result.exit_code == cannot)
      GTEST_SKIP() << "not on this machine";
    ASSERT_EQ(result.exit_code, 0) << result.describe();
  }
}

} // namespace
