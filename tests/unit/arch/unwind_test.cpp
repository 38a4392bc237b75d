// SPDX-License-Identifier: MIT
// The compiler's unwinder walks from inside a stack of ours down to its first frame and stops there, in
// order.
#include <cstdint>
#include <string_view>
#include <unwind.h>
#include <vector>

#include "tests/unit/arch/fixture.hpp"

namespace {

using namespace weft::arch;
using weft::arch::test::native_context;
using weft::arch::test::stack;

struct trace {
  std::vector<void*> functions;
  _Unwind_Reason_Code end = _URC_NO_REASON;
};

_Unwind_Reason_Code note(struct _Unwind_Context* frame, void* argument) {
  auto& t = *static_cast<trace*>(argument);
  if (t.functions.size() == 1000) {
    return _URC_NORMAL_STOP; // a loop
  }
  if (_Unwind_GetIP(frame) != 0) { // the last call says: nothing more
    // Looks up the byte before, as befits a return address.
    t.functions.push_back(_Unwind_FindEnclosingFunction(reinterpret_cast<void*>(_Unwind_GetIP(frame))));
  }
  return _URC_NO_REASON;
}

[[gnu::noinline]] void walk(trace& t) {
  t.end = _Unwind_Backtrace(&note, &t);
  asm volatile("" ::: "memory"); // not a tail call
}

[[gnu::noinline]] void descend(trace& t, int depth) {
  if (depth == 0) {
    walk(t);
  } else {
    descend(t, depth - 1);
  }
  asm volatile("" ::: "memory");
}

struct walker {
  trace seen;
  int depth;
  context* back;
};

[[noreturn]] void entry(void* argument) {
  sanitizer::first_arrival();
  auto& w = *static_cast<walker*>(argument);
  descend(w.seen, w.depth);
  restore(*w.back);
}

// Frames of the walk itself, the entry function and what lies below it.
void expect_clean_end(const trace& t, std::size_t depth) {
  EXPECT_EQ(t.end, _URC_END_OF_STACK);
  void* const base = reinterpret_cast<void*>(&weft_arch_thread_base);
  std::size_t at = 0;
  while (at < t.functions.size() && t.functions[at] != base) {
    ++at;
  }
  ASSERT_LT(at, t.functions.size()) << "the base was not reached";
  EXPECT_EQ(at, depth + 3) << "walk, descend * (depth + 1), entry";
  EXPECT_EQ(t.functions[at - 1], reinterpret_cast<void*>(&entry));
  // Below the base only what the C library put there for ucontext.
  const std::size_t rest = t.functions.size() - at - 1;
  EXPECT_LE(rest, std::string_view{port_name} == "portable" ? 1U : 0U);
}

class unwind : public testing::TestWithParam<int> {};

TEST_P(unwind, of_a_made_context_ends_at_the_base) {
  native_context here;
  stack memory;
  context fresh{};
  walker w{{}, GetParam(), &here};
  make(fresh, memory.top(), stack::size(), &entry, &w);
  swap(here, fresh);
  expect_clean_end(w.seen, static_cast<std::size_t>(w.depth));
}

TEST_P(unwind, of_a_saved_start_ends_at_the_base) {
  native_context here;
  stack memory;
  context fresh{};
  walker w{{}, GetParam(), &here};
  save(here, fresh, memory.top(), stack::size(), &entry, &w);
  expect_clean_end(w.seen, static_cast<std::size_t>(w.depth));
}

INSTANTIATE_TEST_SUITE_P(depths, unwind, testing::Values(0, 1, 50));

// On a borrowed stack a walk ends, at the function that switches (x86-64) or further down; it does not run
// wild.
template <class Switch>
void expect_end_while_borrowing(Switch from_here) {
  trace t;
  from_here(&t);
  EXPECT_EQ(t.end, _URC_END_OF_STACK);
  EXPECT_GE(t.functions.size(), 2U);
  EXPECT_LT(t.functions.size(), 100U);
}

void walk_from_arrival(void* t) {
  walk(*static_cast<trace*>(t));
}

TEST(unwind_borrowed, ends) {
  native_context here;
  expect_end_while_borrowing([&](trace* t) {
    test::partner other{[](test::partner&) {}};
    other.back = &here;
    swap_with(here, other.own, &walk_from_arrival, t);
  });
  expect_end_while_borrowing([&](trace* t) {
    test::partner other{[](test::partner& self) { self.leave(); }};
    other.resume(here);
    call_on(other.own, &walk_from_arrival, t);
    other.resume(here);
  });
  expect_end_while_borrowing([&](trace* t) {
    test::partner other{[t](test::partner& self) {
      self.finished = true;
      restore_with(*self.back, &walk_from_arrival, t);
    }};
    other.resume(here);
  });
}

} // namespace
