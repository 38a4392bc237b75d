// SPDX-License-Identifier: MIT
// A million threads with 16 KiB stacks, all blocked at once under the default vm.max_map_count; all wake and
// are joined, and the memory goes back. A tenth of that where memory is short.
#include <gtest/gtest.h>
#include <sys/sysinfo.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <vector>

#include "tests/system/scenario.hpp"
#include "weft/memory/statistics.hpp"
#include "weft/weft.hpp"

namespace {

using weft::tests::require;

std::size_t thread_count() {
  struct sysinfo machine{};
  require(::sysinfo(&machine) == 0, "sysinfo");
  const double free_bytes = static_cast<double>(machine.freeram + machine.bufferram) * machine.mem_unit;
  return weft::tests::sanitized() ? 20'000 : free_bytes < 8e9 ? 100'000 : 1'000'000;
}

std::size_t max_map_count() {
  std::size_t limit = 65530;
  std::ifstream("/proc/sys/vm/max_map_count") >> limit;
  return limit;
}

WEFT_SCENARIO(all_blocked_at_once) {
  const std::size_t count = thread_count();
  weft::thread([] {}).join();
  const auto before = weft::memory::read_process_memory(true);
  const auto census_before = weft::runtime::count();
  {
    std::vector<weft::thread> threads(count);
    weft::counting_semaphore<> gate(0);
    std::atomic<std::size_t> arrived{0};
    std::atomic<std::size_t> passed{0};
    for (auto& t : threads) {
      t = weft::thread({.stack_size = 16 << 10}, [&] {
        arrived.fetch_add(1, std::memory_order_relaxed);
        gate.acquire();
        passed.fetch_add(1, std::memory_order_relaxed);
      });
    }
    while (arrived.load() != count)
      weft::this_thread::yield();
    const auto blocked = weft::memory::read_process_memory(true);
    std::printf("%zu threads blocked: %.0f resident bytes and %.0f bytes of page tables each, %zu mappings "
                "(%zu before)\n",
                count, static_cast<double>(blocked.resident - before.resident) / static_cast<double>(count),
                static_cast<double>(blocked.page_tables - before.page_tables) / static_cast<double>(count),
                blocked.mappings, before.mappings);
    require(blocked.mappings < max_map_count(), "fewer mappings than vm.max_map_count");
    require(passed.load() == 0, "nobody passed the gate");
    gate.release(static_cast<std::ptrdiff_t>(count));
    for (auto& t : threads)
      t.join();
    require(passed.load() == count, "all passed the gate");
  }
  require(weft::runtime::count().units == census_before.units, "no unit is left");
  require(weft::runtime::count().stacks == census_before.stacks, "no stack is left");
  require(weft::runtime::count().timers == 0, "no timer is left");
  return 0;
}

TEST(million, threads_blocked_at_once) {
  for (const char* guard : {"auto", "mprotect"}) {
    const auto result = weft::tests::run(
        "all_blocked_at_once",
        {.environment = {{"WEFT_GUARD", guard}}, .limit = std::chrono::seconds(200), .argument = ""});
    EXPECT_EQ(result.exit_code, 0) << result.describe();
    std::printf("%s: %s", guard, result.output.c_str());
  }
}

WEFT_SCENARIO(memory_goes_back) {
  const std::size_t count = thread_count() / 10;
  weft::thread([] {}).join();
  const auto before = weft::memory::read_process_memory();
  std::size_t peak = 0;
  {
    std::vector<weft::thread> threads(count);
    weft::counting_semaphore<> gate(0);
    std::atomic<std::size_t> arrived{0};
    for (auto& t : threads) {
      t = weft::thread([&] {
        arrived.fetch_add(1, std::memory_order_relaxed);
        gate.acquire();
      });
    }
    while (arrived.load() != count)
      weft::this_thread::yield();
    peak = weft::memory::read_process_memory().resident;
    gate.release(static_cast<std::ptrdiff_t>(count));
    for (auto& t : threads)
      t.join();
  }
  // Idle workers give back what their caches hold beyond a small stock; the program does nothing meanwhile.
  std::size_t now = 0;
  for (int i = 0; i < 100; ++i) {
    weft::this_thread::sleep_for(std::chrono::milliseconds(100));
    now = weft::memory::read_process_memory().resident;
    if (now < before.resident + (peak - before.resident) / 4)
      break;
  }
  std::printf("resident: %zu KiB before, %zu KiB with %zu threads, %zu KiB after\n", before.resident >> 10,
              peak >> 10, count, now >> 10);
  require(now < before.resident + (peak - before.resident) / 4,
          "three quarters of the burst's memory went back");
  return 0;
}

TEST(million, memory_goes_back_after_a_burst) {
  const auto result = weft::tests::run(
      "memory_goes_back", {.environment = {}, .limit = std::chrono::seconds(60), .argument = ""});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
  std::printf("%s", result.output.c_str());
}

} // namespace
