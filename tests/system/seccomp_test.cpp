// SPDX-License-Identifier: MIT
// The system calls that Weft makes so that threads can be preempted, as docs/guide/preemption.md lists them:
// a filter that lets these through, and what every program with kernel threads needs, is enough for each kind
// and each source of ticks; and none of them can be left out.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/system/scenario.hpp"
#include "weft/preempt/tick_sources.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;
using weft::preemption;
using weft::tests::require;

constexpr int cannot = 77; // exit code: this machine has no such threads, or no filters

struct system_call {
  const char* name;
  unsigned number;
  bool always = true; // it is made in every run of the test
};
#define WEFT_CALL(name) {#name, SYS_##name}
#define WEFT_CALL_AT_TIMES(name) {#name, SYS_##name, false}

// What the C library, the test and Weft without preemption need, and more of the kind.
constexpr system_call calls_of_all[] = {
    WEFT_CALL(read),
    WEFT_CALL(write),
    WEFT_CALL(openat),
    WEFT_CALL(close),
    WEFT_CALL(newfstatat),
    WEFT_CALL(lseek),
    WEFT_CALL(getdents64),
    WEFT_CALL(access),
    WEFT_CALL(ioctl),
    WEFT_CALL(pipe2),
    WEFT_CALL(mmap),
    WEFT_CALL(munmap),
    WEFT_CALL(mprotect),
    WEFT_CALL(madvise),
    WEFT_CALL(brk),
    WEFT_CALL(membarrier),
    WEFT_CALL(clone3),
    WEFT_CALL(rseq),
    WEFT_CALL(futex),
    WEFT_CALL(set_robust_list),
    WEFT_CALL(exit),
    WEFT_CALL(exit_group),
    WEFT_CALL(getpid),
    WEFT_CALL(gettid),
    WEFT_CALL(prctl),
    WEFT_CALL(getrandom),
    WEFT_CALL(prlimit64),
    WEFT_CALL(sched_getaffinity),
    WEFT_CALL(sched_yield),
    WEFT_CALL(sigaltstack),
    WEFT_CALL(rt_sigaction),
    WEFT_CALL(rt_sigprocmask),
    WEFT_CALL(clock_nanosleep),
    WEFT_CALL(sched_getattr),
    WEFT_CALL(sched_setattr),
    WEFT_CALL(fstat),
};
// The guide's list.
constexpr system_call calls_of_preemption[] = {
    WEFT_CALL(rt_tgsigqueueinfo),
    WEFT_CALL(rt_sigreturn),
    WEFT_CALL(timer_create),
    WEFT_CALL(timer_settime),
    WEFT_CALL(timer_delete),
    WEFT_CALL_AT_TIMES(clock_gettime),
    WEFT_CALL_AT_TIMES(sched_setaffinity),
    WEFT_CALL_AT_TIMES(getsockopt),
};

constexpr preemption kinds[] = {preemption::signal_yield, preemption::own_tls, preemption::own_kernel_thread,
                                preemption::bound_tls};
constexpr weft::preempt::tick_source sources[] = {
    weft::preempt::tick_source::monitor, weft::preempt::tick_source::creation_time,
    weft::preempt::tick_source::aligned, weft::preempt::tick_source::one_to_all,
    weft::preempt::tick_source::chain};

// Lets the two lists through, or the first one alone, but for `denied`; all else ends the process with
// SIGSYS. False: no filters here.
bool install_filter(const std::string& denied, bool preempts) {
  std::vector<sock_filter> program;
  program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  const auto let_through = [&](const system_call& call) {
    if (denied == call.name)
      return;
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call.number, 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  };
  for (const system_call& call : calls_of_all)
    let_through(call);
  for (const system_call& call : calls_of_preemption) {
    if (preempts)
      let_through(call);
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  const sock_fprog all{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all, 0, 0) == 0;
}

std::size_t preemptions() {
  return weft::preempt::counts().preemptions;
}

// Some compute until they have been preempted, one waits in the kernel meanwhile.
void preempt_some(preemption kind) {
  const std::size_t before = preemptions();
  weft::thread_attributes a;
  a.preemption = kind;
  std::vector<weft::thread> all;
  for (int t = 0; t < 4; ++t) {
    all.emplace_back(a, [before] {
      while (preemptions() < before + 10)
        asm volatile("");
    });
  }
  for (weft::thread& t : all)
    t.join();
  const std::size_t let_go = weft::preempt::counts().workers_let_go;
  int ends[2];
  require(::pipe(ends) == 0, "pipe");
  weft::thread waits(a, [&ends] {
    char c = 0;
    while (::read(ends[0], &c, 1) != 1) {
    }
  });
  weft::thread writes(a, [&ends, let_go] {
    while (weft::preempt::counts().workers_let_go == let_go)
      weft::this_thread::yield();
    require(::write(ends[1], "x", 1) == 1, "write");
  });
  waits.join();
  writes.join();
  ::close(ends[0]);
  ::close(ends[1]);
}

WEFT_SCENARIO(filtered) {
  for (const preemption kind : kinds) {
    if (!weft::can_preempt(kind))
      return cannot;
  }
  if (!install_filter(weft::tests::scenario_argument(), true))
    return cannot;
  for (const preemption kind : kinds) {
    for (const weft::preempt::tick_source source : sources) {
      weft::preempt::set_tick_source(source);
      require(weft::runtime::start({.workers = 1}), "start");
      weft::preempt::set_interval(500us);
      preempt_some(kind);
      require(weft::runtime::stop(), "stop");
    }
  }
  return 0;
}

WEFT_SCENARIO(filtered_and_cooperative) {
  if (!install_filter("", false))
    return cannot;
  require(weft::runtime::start({.workers = 2}), "start");
  weft::thread([] { weft::this_thread::sleep_for(1ms); }).join();
  require(weft::runtime::stop(), "stop");
  return 0;
}

WEFT_SCENARIO(filtered_and_leaving) {
  if (!weft::can_preempt(preemption::own_kernel_thread) || !install_filter("", true))
    return cannot;
  require(weft::runtime::start({.workers = 1}), "start");
  int ends[2];
  require(::pipe(ends) == 0, "pipe");
  weft::thread writes([&ends] { require(::write(ends[1], "x", 1) == 1, "write"); });
  char c = 0;
  require(::read(ends[0], &c, 1) == 1, "read");
  writes.join();
  require(weft::preempt::counts().threads_left != 0, "main has left its worker");
  require(weft::runtime::stop(), "stop");
  return 0;
}

// So what is listed is what preemption adds, and leaving.
TEST(seccomp, without_the_list_cooperative_threads_work) {
  const auto result = weft::tests::run("filtered_and_cooperative",
                                       {.environment = {{"WEFT_LEAVE", "never"}}, .argument = ""});
  if (result.exit_code == cannot)
    GTEST_SKIP() << "not on this machine";
  EXPECT_EQ(result.exit_code, 0) << result.describe();
}

TEST(seccomp, with_the_list_they_leave_their_worker) {
  const auto result =
      weft::tests::run("filtered_and_leaving", {.environment = {{"WEFT_LEAVE", "always"}}, .argument = ""});
  if (result.exit_code == cannot)
    GTEST_SKIP() << "not on this machine";
  EXPECT_EQ(result.exit_code, 0) << result.describe();
}

TEST(seccomp, a_filter_by_the_list_of_the_guide_lets_every_kind_and_source_work) {
  const auto result = weft::tests::run("filtered");
  if (result.exit_code == cannot)
    GTEST_SKIP() << "not on this machine";
  EXPECT_EQ(result.exit_code, 0) << result.describe();
}

TEST(seccomp, each_call_of_the_list_is_needed) {
  for (const system_call& call : calls_of_preemption) {
    if (!call.always)
      continue;
    SCOPED_TRACE(call.name);
    const auto result =
        weft::tests::run("filtered", {.environment = {}, .limit = 60s, .argument = call.name});
    if (result.exit_code == cannot)
      GTEST_SKIP() << "not on this machine";
    EXPECT_EQ(result.signal, SIGSYS) << result.describe();
  }
}

TEST(seccomp, the_list_stands_in_the_guide) {
  std::ifstream page(WEFT_PREEMPTION_GUIDE);
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  ASSERT_FALSE(text.empty());
  for (const system_call& call : calls_of_preemption)
    EXPECT_NE(text.find("`" + std::string(call.name) + "`"), std::string::npos) << call.name;
}

} // namespace
