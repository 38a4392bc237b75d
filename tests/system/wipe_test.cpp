// SPDX-License-Identifier: MIT
// WEFT_STACK_WIPE=1: whatever the arrangement of pools, the technique, the size and who joins, no thread
// finds on its stack what another left there. Without it threads do find it, in each of these cases: the test
// would see it.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <vector>

#include "tests/system/scenario.hpp"
#include "weft/weft.hpp"

namespace {

using weft::technique_id;
using weft::tests::require;

// Kept as its complement: so it is on no stack but where it was left.
volatile std::uint64_t complement = ~std::uint64_t{0x5ec2'e70f'a77e'ad51};
constexpr std::size_t margin = 6 << 10; // bytes, for the calls made here

// Down to the end of the stack, at the beginning, in the middle and at the end of each frame. Some leave
// their worker when they are deepest.
[[gnu::noinline]] void leave_secrets(bool yields) {
  std::uint64_t frame[512];
  asm volatile("" : : "r"(frame) : "memory");
  for (const std::size_t at : {std::size_t{0}, std::size_t{256}, std::size_t{511}})
    frame[at] = ~complement;
  asm volatile("" : : "r"(frame) : "memory"); // they are written
  if (weft::this_thread::stack_left() > sizeof frame + margin) {
    leave_secrets(yields);
  } else if (yields) {
    weft::this_thread::yield();
  }
  asm volatile("" : : "r"(frame) : "memory"); // the frame is there during the call
}

// In the part of the stack that nobody has used since the thread began.
[[gnu::noinline]] bool finds_secrets(std::size_t bytes) {
  auto* const below = static_cast<std::uint64_t*>(__builtin_alloca(bytes));
  asm volatile("" : : "r"(below) : "memory"); // as if it were written
  for (std::size_t word = 0; word < bytes / sizeof *below; ++word) {
    if (~below[word] == complement)
      return true;
  }
  return false;
}

struct tally {
  std::atomic<unsigned> ended{0};
  std::atomic<unsigned> looked{0};
  std::atomic<unsigned> found{0};
};

// Who starts and joins the others, on a stack of its own. A thread that runs there too is a call of its.
struct director {
  const char* low = nullptr;
  std::size_t bytes = 0; // below its own frames

  [[nodiscard]] bool shares_stack() const {
    const auto* const here = static_cast<const char*>(__builtin_frame_address(0));
    return here >= low && here < low + bytes;
  }
};

void look(const director& by, tally& seen) {
  if (by.shares_stack())
    return;
  seen.looked.fetch_add(1);
  if (finds_secrets(weft::this_thread::stack_left() - margin))
    seen.found.fetch_add(1);
}

enum class ending { detached, joined, joined_afterwards };
constexpr ending endings[] = {ending::detached, ending::joined, ending::joined_afterwards};
constexpr const char* names_of_endings[] = {"detached", "joined", "joined afterwards"};
constexpr unsigned crowd = 24;

// A crowd of threads, to their end.
template <class Body>
void run_crowd(const weft::thread_attributes& a, ending how, Body body) {
  tally all;
  std::vector<weft::thread> threads;
  for (unsigned i = 0; i < crowd; ++i) {
    threads.emplace_back(a, [&all, body, i] {
      body(i);
      all.ended.fetch_add(1);
    });
    if (how == ending::detached)
      threads.back().detach();
  }
  while (how != ending::joined && all.ended.load() != crowd)
    weft::this_thread::yield();
  for (weft::thread& t : threads) {
    if (t.joinable())
      t.join();
  }
}

// Whether a thread of that technique may run on the stack of who joins it.
bool may_be_a_call(technique_id t, ending how) {
  return how == ending::joined &&
         (t == technique_id::automatic || t == technique_id::inline_join || t == technique_id::sc);
}

// Those who leave something, and those who look for it, in turn. Which worker runs whom is chance, and each
// has stacks of its own: where they are not wiped, it goes on until one is found. True: as it should be.
bool is_right(const director& by, const weft::thread_attributes& a, ending how, bool wiped) {
  tally seen;
  const bool is_call = may_be_a_call(a.technique, how);
  unsigned round = 0;
  for (; round < 3 || (!wiped && !is_call && seen.found == 0 && round < 1000); ++round) {
    run_crowd(a, how, [](unsigned i) { leave_secrets(i % 4 == 0); });
    run_crowd(a, how, [&by, &seen](unsigned) { look(by, seen); });
  }
  const bool all_looked = seen.looked == round * crowd || is_call;
  const bool right = all_looked && (wiped ? seen.found == 0 : seen.found != 0 || is_call);
  if (!right) {
    std::printf("%s, %zu bytes, %s: %u looked, %u found it\n", weft::unit::to_string(a.technique),
                a.stack_size, names_of_endings[static_cast<unsigned>(how)], seen.looked.load(),
                seen.found.load());
  }
  return right;
}

bool all_are_right(bool wiped) {
  char here = 0;
  director by;
  by.low = &here - weft::this_thread::stack_left();
  by.bytes = weft::this_thread::stack_left();
  unsigned wrong = 0;
  for (unsigned t = 0; t < weft::unit::technique_count; ++t) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{128} << 10}) {
      const auto technique = static_cast<technique_id>(t);
      if (technique == technique_id::sc && size != 0)
        continue; // has none of its own
      weft::thread_attributes a;
      a.technique = technique;
      a.stack_size = size;
      for (const ending how : endings)
        wrong += is_right(by, a, how, wiped) ? 0 : 1;
    }
  }
  return wrong == 0;
}

constexpr weft::sched::arrangement arrangements[] = {
    weft::sched::arrangement::stealing,   weft::sched::arrangement::hierarchical,
    weft::sched::arrangement::one_pool,   weft::sched::arrangement::pool_per_worker,
    weft::sched::arrangement::priorities, weft::sched::arrangement::packing};

// The argument: which arrangement.
int direct(bool wiped) {
  weft::runtime::start({.workers = 2, .pools = arrangements[std::stoul(weft::tests::scenario_argument())]});
  bool right = false;
  weft::thread_attributes a;
  a.technique = technique_id::full_lazy;
  a.stack_size = 256 << 10;
  weft::thread(a, [&right, wiped] { right = all_are_right(wiped); }).join();
  require(weft::runtime::stop(), "the runtime stops");
  return right ? 0 : 1;
}

WEFT_SCENARIO(looks_in_vain) {
  return direct(true);
}
WEFT_SCENARIO(finds_what_was_left) {
  return direct(false);
}

class wiping : public ::testing::TestWithParam<unsigned> {};

TEST_P(wiping, no_thread_finds_what_another_left) {
  const auto result = weft::tests::run("looks_in_vain", {.environment = {{"WEFT_STACK_WIPE", "1"}},
                                                         .limit = std::chrono::seconds(200),
                                                         .argument = std::to_string(GetParam())});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
}

// Whose stacks are cleaned likewise.
TEST_P(wiping, nor_do_they_where_high_water_is_marked) {
  const auto result = weft::tests::run("looks_in_vain", {.environment = {{"WEFT_STACK_WATERMARK", "1"}},
                                                         .limit = std::chrono::seconds(200),
                                                         .argument = std::to_string(GetParam())});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
}

TEST_P(wiping, unasked_they_do) {
  const auto result = weft::tests::run("finds_what_was_left", {.environment = {{"WEFT_STACK_WIPE", "0"}},
                                                               .limit = std::chrono::seconds(200),
                                                               .argument = std::to_string(GetParam())});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
}

INSTANTIATE_TEST_SUITE_P(arrangements, wiping, ::testing::Range(0U, unsigned{std::size(arrangements)}));

} // namespace
