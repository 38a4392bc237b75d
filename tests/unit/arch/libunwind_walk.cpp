// SPDX-License-Identifier: MIT
// libunwind, which profilers and crash reporters use, stops at a thread's first frame, by name. Built where
// it is.
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <string>
#include <vector>

#include "tests/unit/arch/fixture.hpp"

namespace {

using namespace weft::arch;
using weft::arch::test::native_context;
using weft::arch::test::stack;

struct trace {
  std::vector<std::string> names;
  int last_step = -1; // 0: the end; negative: an error
  int depth = 0;
  context* back = nullptr;
};

[[gnu::noinline]] void walk(trace& t) {
  unw_context_t state;
  unw_cursor_t cursor;
  unw_getcontext(&state);
  ASSERT_EQ(unw_init_local(&cursor, &state), 0);
  do {
    char name[256] = "?";
    unw_word_t offset = 0;
    (void)unw_get_proc_name(&cursor, name, sizeof name, &offset);
    t.names.emplace_back(name);
    t.last_step = unw_step(&cursor);
  } while (t.last_step > 0 && t.names.size() < 1000);
}

[[gnu::noinline]] void descend(trace& t, int depth) {
  if (depth == 0) {
    walk(t);
  } else {
    descend(t, depth - 1);
  }
  asm volatile("" ::: "memory");
}

[[noreturn]] void entry(void* argument) {
  sanitizer::first_arrival();
  auto& t = *static_cast<trace*>(argument);
  descend(t, t.depth);
  restore(*t.back);
}

class libunwind : public testing::TestWithParam<bool> {};

TEST_P(libunwind, stops_at_the_base) {
  for (const int depth : {0, 1, 50}) {
    native_context here;
    stack memory;
    context fresh{};
    trace t;
    t.depth = depth;
    t.back = &here;
    if (GetParam()) {
      make(fresh, memory.top(), stack::size(), &entry, &t);
      swap(here, fresh);
    } else {
      save(here, fresh, memory.top(), stack::size(), &entry, &t);
    }
    EXPECT_EQ(t.last_step, 0);
    const bool portable = std::string{port_name} == "portable"; // has __start_context below the base
    const std::size_t base = static_cast<std::size_t>(depth) + 3;
    ASSERT_GE(t.names.size(), base + 1);
    EXPECT_EQ(t.names[base], "weft_arch_thread_base");
    EXPECT_LE(t.names.size(), base + (portable ? 2 : 1));
  }
}

INSTANTIATE_TEST_SUITE_P(made_and_saved, libunwind, testing::Bool());

} // namespace
