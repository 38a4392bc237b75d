// SPDX-License-Identifier: MIT
// What happens at ends: exit() out of a loop's body, what main keeps in a thread_specific, a pool of the
// user's that cannot take a thread back.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/system/scenario.hpp"
#include "weft/weft.hpp"

namespace {

using weft::tests::require;
using weft::tests::scenario_argument;

// --- exit() in a loop's body ---

// Destroyed by exit(), after all that uses it has stopped.
struct uses_weft_to_the_end {
  weft::mutex lock;
  std::vector<int> seen{1, 2, 3};
  ~uses_weft_to_the_end() {
    const std::scoped_lock held(lock);
    std::printf("static destroyed\n");
  }
} at_the_end;

// Which index exits: each is first, in the middle or last of somebody's part.
WEFT_SCENARIO(exit_in_a_loop) {
  const int bad = std::stoi(scenario_argument());
  const auto body = [bad](int i) {
    if (i == bad % 100) {
      std::printf("exits\n");
      std::exit(7);
    }
    {
      const std::scoped_lock held(at_the_end.lock);
      require(at_the_end.seen.size() == 3, "a body ran on a static that was destroyed");
    }
    weft::this_thread::yield();
    return i;
  };
  if (bad < 100) {
    weft::parallel_for(0, 64, [&](int i) { body(i); }, 1);
  } else {
    weft::thread([&] { weft::parallel_reduce(0, 64, 0, body, std::plus<>(), 1); }).join();
  }
  return 0;
}
TEST(ends, exit_in_a_loop_ends_the_process) {
  for (const char* workers : {"1", "2", "4"}) {
    for (const int bad : {0, 1, 31, 32, 63, 100, 132, 163}) {
      SCOPED_TRACE(std::string(workers) + " workers, index " + std::to_string(bad));
      const auto result = weft::tests::run("exit_in_a_loop", {.environment = {{"WEFT_WORKERS", workers}},
                                                              .limit = std::chrono::seconds(20),
                                                              .argument = std::to_string(bad)});
      EXPECT_EQ(result.exit_code, 7) << result.describe();
      EXPECT_EQ(result.output, "exits\nstatic destroyed\n") << result.describe();
    }
  }
}

// --- what main keeps ---

struct told {
  const char* name;
  ~told() { std::printf("%s deleted\n", name); }
};

weft::thread_specific<told>& immortal() {
  static auto* const kept = new weft::thread_specific<told>; // never destroyed, so neither is main's value
  return *kept;
}

WEFT_SCENARIO(values_of_main) {
  require(weft::runtime::start({.workers = 2}), "start"); // main is a thread of Weft from here
  static weft::thread_specific<told> of_static;
  of_static.reset(new told{"static"});
  immortal().reset(new told{"immortal"});
  {
    const weft::thread_specific<told> none;
    weft::thread_specific<told> local;
    local.reset(new told{"local"});
    weft::thread([&] { local.reset(new told{"thread's"}); }).join();
    std::printf("end of scope\n");
  }
  std::printf("end of main\n");
  std::fflush(stdout);
  std::exit(0);
}
TEST(ends, values_of_main_go_with_their_key) {
  const auto result =
      weft::tests::run("values_of_main", {.environment = {{"WEFT_WORKERS", "2"}}, .argument = ""});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
  EXPECT_EQ(result.output,
            "thread's deleted\nend of scope\nlocal deleted\nend of main\nstatic deleted\nstatic destroyed\n");
}

// A key that goes before its threads do: their values are forgotten, and a key that takes its place is
// another.
WEFT_SCENARIO(key_that_goes_first) {
  static std::atomic<int> deleted;
  const auto count = [](void*) { ++deleted; };
  auto* first = new weft::thread_specific<int>(count);
  weft::latch set(1);
  weft::latch gone(1);
  int value = 0;
  weft::thread t([&] {
    first->reset(&value);
    set.count_down();
    gone.wait();
    const weft::thread_specific<int> second(count);
    require(second.get() == nullptr, "a value of a deleted key was found");
  });
  set.wait();
  delete first;
  gone.count_down();
  t.join();
  require(deleted == 0, "a value of a deleted key was deleted");
  return 0;
}
TEST(ends, a_key_that_goes_first_forgets_its_values) {
  const auto result =
      weft::tests::run("key_that_goes_first", {.environment = {{"WEFT_WORKERS", "2"}}, .argument = ""});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
}

// --- a pool that cannot take a thread back ---

class full_pool final : public weft::pool {
 public:
  full_pool() : pool(weft::access::mpmc) {}
  std::size_t size() const noexcept override { return unit_ != nullptr ? 1 : 0; }
  std::atomic<bool> full = false;

 protected:
  void do_push(weft::unit_handle& u) override {
    if (full)
      throw std::runtime_error("no room");
    unit_ = &u;
  }
  weft::unit_handle* do_pop(weft::worker&) override { return unit_.exchange(nullptr); }

 private:
  std::atomic<weft::unit_handle*> unit_ = nullptr;
};

class only_pool final : public weft::scheduler {
 public:
  using weft::scheduler::scheduler;
  weft::unit_handle* next(weft::worker& here) override { return pools().front()->pop(here); }
};

WEFT_SCENARIO(unlock_into_a_full_pool) {
  const auto shared = std::make_shared<full_pool>();
  full_pool& pool = *shared;
  weft::group_options options;
  options.workers = 1;
  options.pools = weft::arrangement::custom;
  options.make_scheduler = [&](unsigned) {
    return std::make_shared<only_pool>(std::vector<std::shared_ptr<weft::pool>>{shared});
  };
  require(weft::runtime::start({.workers = 1}), "start");
  weft::worker_group group(options);
  weft::mutex m;
  m.lock();
  weft::thread_attributes there;
  there.pool = &pool;
  weft::thread waits(there, [&] { m.lock(); });
  while (waits.state() != weft::unit::state::blocked)
    weft::this_thread::yield();
  pool.full = true;
  m.unlock();
  std::printf("went on\n");
  return 0;
}
TEST(ends, a_pool_that_throws_when_a_thread_becomes_ready_ends_the_process_with_a_sentence) {
  const auto result = weft::tests::run(
      "unlock_into_a_full_pool", {.environment = {}, .limit = std::chrono::seconds(20), .argument = ""});
  EXPECT_EQ(result.signal, SIGABRT) << result.describe();
  EXPECT_TRUE(result.contains("do_push() of its pool has thrown: no room")) << result.describe();
  EXPECT_FALSE(result.contains("went on"));
}

} // namespace
