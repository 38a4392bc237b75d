// SPDX-License-Identifier: MIT
// Limits of the system that are reached: kernel threads of a user (RLIMIT_NPROC) and of a control group
// (pids.max), mappings (vm.max_map_count). What cannot be had is an error with a sentence, nothing that runs
// is lost, and when there is room again all is as before. Kernel threads that one by one cannot be had:
// tests/fault.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "tests/system/load.hpp"
#include "tests/system/scenario.hpp"
#include "weft/preemption.hpp"
#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;
using weft::tests::require;

int skip(const char* why) {
  std::printf("skipped: %s (%s)\n", why, std::strerror(errno));
  return 0;
}

void expect_it_goes_on(const char* scenario, const char* argument = "",
                       std::vector<std::pair<std::string, std::string>> environment = {}) {
  const auto result = weft::tests::run(
      scenario, {.environment = std::move(environment), .limit = 100s, .argument = argument});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
  std::printf("%s", result.output.c_str());
  if (result.contains("skipped: "))
    GTEST_SKIP() << result.output;
}

// Whether it was refused; an error must be one of these, with a sentence.
bool refused(const std::function<void()>& operation) {
  try {
    operation();
    return false;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const std::system_error& e) {
    require(std::strncmp(e.what(), "weft: ", 6) == 0, e.what());
    require(e.code() == std::errc::resource_unavailable_try_again || e.code() == std::errc::not_enough_memory,
            e.what());
    return true;
  }
}

// --- kernel threads ---

// With room for three kernel threads beside the caller's, until make_room() was called.
int without_kernel_threads(const std::function<void()>& make_room) {
  require(refused([] { weft::runtime::start({.workers = 8}); }), "eight workers are too many");
  require(!weft::runtime::running(), "nothing runs after a start that failed");
  // What needs no further kernel threads works.
  weft::tests::run_load({.length = 300ms, .workers = 3, .kernel_threads = false});

  weft::runtime::start({.workers = 4});
  std::atomic<int> ran{0};
  const auto works = [&ran] {
    const int before = ran.load();
    weft::thread t[8];
    for (auto& one : t)
      one = weft::thread([&ran] { ran.fetch_add(1), weft::this_thread::sleep_for(100us); });
    for (auto& one : t)
      one.join();
    require(ran.load() == before + 8, "threads run");
  };
  works();
  require(refused([] { weft::runtime::set_worker_count(6); }), "a fifth worker cannot be had");
  works();
  require(refused([] { static_cast<void>(weft::blocking([] { return 1; })); }), "nor a spare kernel thread");
  works();
  for (const auto kind : {weft::preemption::own_tls, weft::preemption::own_kernel_thread,
                          weft::preemption::bound_tls, weft::preemption::signal_yield}) {
    if (!weft::can_preempt(kind) || weft::tests::sanitized())
      continue;
    require(refused([kind] { weft::thread({.preemption = kind}, [] {}).join(); }), "nor one for ticks");
    works();
  }
  make_room();
  weft::runtime::set_worker_count(6);
  require(weft::blocking([] { return 1; }) == 1, "a spare kernel thread when there is room");
  if (weft::can_preempt(weft::preemption::own_tls))
    weft::thread({.preemption = weft::preemption::own_tls}, [&ran] { ran.fetch_add(1); }).join();
  works();
  require(weft::runtime::stop(), "the runtime stops");
  weft::tests::run_load({.length = 300ms});
  return 0;
}

WEFT_SCENARIO(user_has_no_more_kernel_threads) {
  // Nobody else's, so that only ours are counted; and no root, whom the limit does not bind.
  const uid_t nobody = 40'000 + static_cast<uid_t>(::getpid() % 20'000);
  if (::getuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0)
    return skip("root may not become somebody else");
  if (::getuid() != nobody)
    return skip("not root: kernel threads of the user's other programs would count");
  rlimit limit{4, RLIM_INFINITY};
  rlimit before{};
  require(::getrlimit(RLIMIT_NPROC, &before) == 0, "getrlimit");
  limit.rlim_max = before.rlim_max;
  require(::setrlimit(RLIMIT_NPROC, &limit) == 0, "setrlimit");
  return without_kernel_threads([&] {
    limit.rlim_cur = std::min<rlim_t>(before.rlim_max, 200);
    require(::setrlimit(RLIMIT_NPROC, &limit) == 0, "setrlimit");
  });
}
TEST(limits, of_kernel_threads_of_a_user) {
  expect_it_goes_on("user_has_no_more_kernel_threads");
}

// A group with a limit on kernel threads, of version 1 or 2 of control groups; gone at the end.
class pids_group {
 public:
  pids_group() {
    for (const char* root : {"/sys/fs/cgroup/pids", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      const std::string folder = std::string(root) + "/weft_test_" + std::to_string(::getpid());
      if (::mkdir(folder.c_str(), 0755) != 0)
        continue;
      if (::access((folder + "/pids.max").c_str(), W_OK) == 0) {
        folder_ = folder;
        return;
      }
      ::rmdir(folder.c_str());
    }
  }
  ~pids_group() {
    if (!folder_.empty())
      ::rmdir(folder_.c_str());
  }
  [[nodiscard]] bool write(const char* file, const std::string& text) const {
    std::ofstream out(folder_ + "/" + file);
    return !folder_.empty() && out << text && out.flush();
  }

 private:
  std::string folder_;
};

WEFT_SCENARIO(group_is_full) {
  const pids_group group;
  if (!group.write("pids.max", "max"))
    return skip("no control group with pids.max can be made here");
  const pid_t child = ::fork(); // the parent takes the group away
  if (child == 0) {
    if (!group.write("cgroup.procs", std::to_string(::getpid())))
      ::_exit(skip("this process may not go into a control group") + 77);
    require(group.write("pids.max", "4"), "a limit");
    const int result =
        without_kernel_threads([&group] { require(group.write("pids.max", "200"), "more room"); });
    std::fflush(stdout);
    ::_exit(result);
  }
  int status = 0;
  require(::waitpid(child, &status, 0) == child, "waitpid");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
    return skip("this process may not go into a control group");
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended as it should");
  return 0;
}
TEST(limits, of_a_control_group) {
  expect_it_goes_on("group_is_full");
}

// --- mappings ---

// Every second page is another mapping, until no more can be had.
class mappings {
 public:
  mappings() {
    std::ifstream("/proc/sys/vm/max_map_count") >> most_;
    bytes_ = 2 * (most_ + 16) * page;
    at_ = static_cast<char*>(
        ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    require(at_ != MAP_FAILED, "address space");
  }
  [[nodiscard]] bool feasible() const { return most_ > 0 && most_ <= 1'000'000; }
  // All but `left`.
  void use_up(std::size_t left) {
    while (::mprotect(at_ + 2 * used_ * page, page, PROT_READ) == 0)
      ++used_;
    require(used_ > 1000, "mappings were used up");
    for (std::size_t i = 0; i < left / 2; ++i)
      require(::mprotect(at_ + 2 * --used_ * page, page, PROT_NONE) == 0, "a mapping given back");
  }
  void give_back() { require(::munmap(at_, bytes_) == 0, "munmap"); }

 private:
  static constexpr std::size_t page = 4096;
  std::size_t most_ = 0;
  std::size_t bytes_ = 0;
  std::size_t used_ = 0;
  char* at_ = nullptr;
};

// Creates threads that wait until one cannot be had, or `most`; all that there are run to their end.
int create_until_refused(int most) {
  weft::counting_semaphore<> gate(0);
  std::atomic<int> ran{0};
  std::vector<weft::thread> all;
  all.reserve(static_cast<std::size_t>(most));
  bool more = true;
  while (more && static_cast<int>(all.size()) < most) {
    more = !refused([&] {
      all.emplace_back([&] {
        gate.acquire();
        ran.fetch_add(1);
      });
    });
    if (all.size() % 64 == 0)
      weft::this_thread::yield(); // they start, and take stacks
  }
  gate.release(static_cast<int>(all.size()));
  for (auto& t : all)
    t.join();
  require(ran.load() == static_cast<int>(all.size()), "each thread that could be had ran");
  return ran.load();
}

WEFT_SCENARIO(no_more_mappings) {
  mappings other;
  if (!other.feasible())
    return skip("vm.max_map_count is too large to be reached");
  weft::runtime::start({.workers = 2});
  weft::thread([] {}).join();
  const auto before = weft::runtime::count();
  other.use_up(8);
  const int some = create_until_refused(5000);
  static_cast<void>(refused([] { weft::runtime::set_worker_count(6); }));
  static_cast<void>(refused([] { static_cast<void>(weft::blocking([] { return 1; })); }));
  require(create_until_refused(20) > 0, "what there is goes on being used");
  other.give_back();
  const int all = create_until_refused(2000);
  require(all == 2000, "when there is room again");
  weft::runtime::set_worker_count(4);
  weft::runtime::set_worker_count(2);
  std::printf("%d threads at the limit\n", some);
  for (int looks = 0; weft::runtime::count().stacks != before.stacks && looks < 2000; ++looks)
    weft::this_thread::sleep_for(1ms);
  require(weft::runtime::count().units == before.units, "no unit is left");
  require(weft::runtime::count().stacks == before.stacks, "no stack is left");
  require(weft::runtime::stop(), "the runtime stops");
  return 0;
}

class guards : public ::testing::TestWithParam<const char*> {};
TEST_P(guards, at_the_limit_of_mappings) {
  if (weft::tests::sanitized())
    GTEST_SKIP() << "a sanitizer needs mappings of its own";
  expect_it_goes_on("no_more_mappings", "", {{"WEFT_GUARD", GetParam()}});
}
INSTANTIATE_TEST_SUITE_P(limits, guards, ::testing::Values("auto", "mprotect", "canary"));

} // namespace
