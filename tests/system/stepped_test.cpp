// SPDX-License-Identifier: MIT
// A thread is preempted after each instruction of malloc(), free(), fprintf() and a throw in turn, and
// another one on its worker does the same meanwhile: by single steps, not by the clock, so that the few
// instructions between which libc has half done something are met in every run. Plain signal-yield breaks
// malloc's lists there; threads with TLS blocks or kernel threads of their own do not notice.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "tests/system/scenario.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;
using weft::preemption;
using weft::tests::require;

constexpr int cannot = 77;     // exit code: this machine has no such threads
constexpr int found_wrong = 3; // exit code: what was stepped through was not right

[[noreturn]] void end_as_wrong(const char* what) {
  static_cast<void>(!::write(STDOUT_FILENO, what, std::strlen(what)));
  ::_exit(found_wrong);
}

// Of the C library, which has found or followed a broken list.
void on_fault(int number, siginfo_t*, void* context) {
  const auto at = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  Dl_info where{};
  const bool known = ::dladdr(reinterpret_cast<void*>(at), &where) != 0;
  if (number == SIGABRT || (known && std::strstr(where.dli_fname, "libc.so") != nullptr))
    end_as_wrong("the C library's own data are broken\n");
  ::_exit(98);
}

// --- single steps ---

constexpr greg_t trap_flag = 0x100;
constexpr long each_step = -1;
std::atomic<long> steps{0};
std::atomic<long> preempt_at{0};
std::atomic<bool> others_turn{false};

void on_trap(int, siginfo_t* info, void* context) {
  greg_t& flags = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
  if (info->si_code == SI_KERNEL) { // int3: steps begin, or are over
    flags ^= trap_flag;
    return;
  }
  const long wanted = preempt_at, step = ++steps;
  if (wanted != each_step && wanted != step)
    return;
  others_turn = true;
  weft::preempt::tick_self();
}

void begin_or_end_steps() {
  asm volatile("int3" ::: "memory");
}

// --- what is done step by step, and beside it ---

struct scene {
  std::size_t size = 0; // of chunks
  void* mine = nullptr;
  void* theirs = nullptr;
  std::FILE* file = nullptr;
  long my_lines = 0, their_lines = 0;
};

// Through pointers, or compilers leave out what nobody looks at.
void* (*volatile allocate)(std::size_t) = &std::malloc;
void (*volatile release)(void*) = &std::free;

void fill_cache(scene& s) {
  std::array<void*, 4> some;
  for (void*& chunk : some)
    chunk = allocate(s.size);
  for (void* const chunk : some)
    release(chunk);
}
void allocate_before(scene& s) {
  fill_cache(s);
  s.mine = allocate(s.size);
}
void allocate_mine(scene& s) {
  s.mine = allocate(s.size);
}
void release_mine(scene& s) {
  release(std::exchange(s.mine, nullptr));
}
void allocate_theirs(scene& s) {
  if (s.theirs == nullptr)
    s.theirs = allocate(s.size);
}
// Nobody else has what one has, nor what is handed out next.
void look_at_chunks(scene& s) {
  constexpr std::size_t more = 8; // than a cache holds
  std::array<unsigned char*, 2 + more> all{};
  all[0] = static_cast<unsigned char*>(std::exchange(s.mine, nullptr));
  all[1] = static_cast<unsigned char*>(std::exchange(s.theirs, nullptr));
  for (std::size_t i = 2; i < all.size(); ++i)
    all[i] = static_cast<unsigned char*>(allocate(s.size));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] != nullptr)
      std::memset(all[i], static_cast<int>(i), s.size);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t at = 0; all[i] != nullptr && at < s.size; ++at) {
      if (all[i][at] != i)
        end_as_wrong("memory was handed out twice\n");
    }
  }
  for (void* const chunk : all)
    release(chunk);
}

void open_file(scene& s) {
  s.file = std::tmpfile();
  require(s.file != nullptr, "a file");
}
void print_mine(scene& s) {
  std::fprintf(s.file, "mine %d of %s\n", 12, "me");
  ++s.my_lines;
}
void print_theirs(scene& s) {
  std::fprintf(s.file, "theirs %d of %s\n", 34, "them");
  ++s.their_lines;
}
void look_at_file(scene& s) {
  std::rewind(s.file);
  char line[64];
  while (std::fgets(line, sizeof line, s.file) != nullptr) {
    if (std::strcmp(line, "mine 12 of me\n") == 0)
      --s.my_lines;
    else if (std::strcmp(line, "theirs 34 of them\n") == 0)
      --s.their_lines;
    else
      end_as_wrong("two lines were mixed\n");
  }
  if (s.my_lines != 0 || s.their_lines != 0)
    end_as_wrong("lines were lost\n");
  std::fclose(s.file);
}

void nothing(scene&) {}

template <int N>
void throw_and_catch(scene&) {
  try {
    throw N;
  } catch (int caught) {
    if (caught != N || std::uncaught_exceptions() != 0)
      end_as_wrong("another exception was caught\n");
    try {
      throw;
    } catch (int again) {
      if (again != N)
        end_as_wrong("another exception was thrown again\n");
    }
  }
  if (std::current_exception() != nullptr)
    end_as_wrong("an exception is still caught\n");
}

struct operation {
  const char* name;
  std::size_t size;
  bool one_round; // preempted after each step; else a round for each step
  std::chrono::microseconds interval;
  void (*prepare)(scene&);
  void (*mine)(scene&); // step by step
  void (*theirs)(scene&);
  void (*check)(scene&);
};
constexpr std::chrono::microseconds still = 1s; // no ticks but those at a step
constexpr std::size_t cached = 100, uncached = 3000;
constexpr operation operations[] = {
    {"malloc_from_the_cache", cached, false, still, fill_cache, allocate_mine, allocate_theirs,
     look_at_chunks},
    {"free_to_the_cache", cached, false, still, allocate_before, release_mine, allocate_theirs,
     look_at_chunks},
    // Who waits for the lock of the only arena is let go by a tick.
    {"malloc_from_the_arena", uncached, false, 100us, fill_cache, allocate_mine, allocate_theirs,
     look_at_chunks},
    {"free_to_the_arena", uncached, false, 100us, allocate_before, release_mine, allocate_theirs,
     look_at_chunks},
    {"fprintf", 0, true, 200us, open_file, print_mine, print_theirs, look_at_file},
    {"throw", 0, true, 200us, nothing, throw_and_catch<1>, throw_and_catch<2>, nothing},
};

// Until the steps are over before one was preempted.
long step_through(const operation& what, scene& s) {
  for (long stop = 1;; ++stop) {
    what.prepare(s);
    what.mine(s); // what is done once only, such as binding, has been done
    what.check(s);
    what.prepare(s);
    steps = 0;
    preempt_at = what.one_round ? each_step : stop;
    begin_or_end_steps();
    what.mine(s);
    begin_or_end_steps();
    while (others_turn)
      weft::this_thread::yield();
    what.check(s);
    if (what.one_round || steps < stop)
      return steps;
  }
}

WEFT_SCENARIO(preempted_after_each_step) {
  const std::string& argument = weft::tests::scenario_argument();
  const auto kind = static_cast<preemption>(argument[0] - '0');
  const operation& what = operations[argument[1] - '0'];
  if (!weft::can_preempt(kind))
    return cannot;
  ::mallopt(M_ARENA_MAX, 1);
  struct sigaction trap = {};
  trap.sa_sigaction = &on_trap;
  trap.sa_flags = SA_SIGINFO | SA_NODEFER; // others run while one is in the handler
  require(::sigaction(SIGTRAP, &trap, nullptr) == 0, "sigaction");
  require(weft::runtime::start({.workers = 1, .pools = weft::sched::arrangement::pool_per_worker}), "start");
  weft::preempt::set_interval(what.interval);
  for (const int number : {SIGSEGV, SIGABRT}) { // after those that Weft takes
    struct sigaction fault = {};
    fault.sa_sigaction = &on_fault;
    fault.sa_flags = SA_SIGINFO;
    require(::sigaction(number, &fault, nullptr) == 0, "sigaction");
  }
  scene s{.size = what.size};
  std::atomic<bool> over{false};
  long taken = 0, meanwhile = 0;
  weft::thread_attributes a;
  a.preemption = kind;
  weft::thread other(a, [&] {
    for (; !over; weft::this_thread::yield()) {
      if (!others_turn)
        continue;
      what.theirs(s);
      ++meanwhile;
      others_turn = false;
    }
  });
  weft::thread stepped(a, [&] {
    taken = step_through(what, s);
    over = true;
  });
  stepped.join();
  other.join();
  require(taken > 5 && meanwhile > 5, "there were steps, and the other one ran between them");
  require(weft::runtime::stop(), "stop");
  std::printf("%ld steps, %ld times beside them\n", taken, meanwhile);
  return 0;
}

class stepped : public ::testing::TestWithParam<unsigned> {
 protected:
  static weft::tests::outcome preempted(preemption kind) {
    const auto result = weft::tests::run(
        "preempted_after_each_step",
        {.environment = {{"GLIBC_TUNABLES", "glibc.malloc.tcache_count=7"}, {"LD_BIND_NOW", "1"}},
         .limit = 100s,
         .argument = std::to_string(static_cast<unsigned>(kind)) + std::to_string(GetParam())});
    return result;
  }
  static void expect_right(preemption kind) {
    const auto result = preempted(kind);
    if (result.exit_code != cannot) {
      EXPECT_EQ(result.exit_code, 0) << result.describe();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(through, stepped, ::testing::Range(0U, unsigned{std::size(operations)}),
                         [](const auto& info) { return operations[info.param].name; });

TEST_P(stepped, is_right_with_tls_of_its_own) {
  expect_right(preemption::own_tls);
  expect_right(preemption::bound_tls);
}

TEST_P(stepped, is_right_with_a_kernel_thread_of_its_own) {
  expect_right(preemption::own_kernel_thread);
}

// Why signal_yield is for code that uses none of these. The lock of an arena is the kernel's and works; where
// streams and throws go wrong, unit_preempt shows (knows_kernel_thread).
TEST_P(stepped, goes_wrong_with_plain_signal_yield) {
  if (std::string(operations[GetParam()].name).find("cache") == std::string::npos)
    GTEST_SKIP() << "this one need not";
  const auto result = preempted(preemption::signal_yield);
  if (result.exit_code == cannot)
    GTEST_SKIP() << "not on this machine";
  EXPECT_EQ(result.exit_code, found_wrong) << result.describe();
}

} // namespace
