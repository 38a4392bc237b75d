// SPDX-License-Identifier: MIT
// What every port promises of swap, swap_with, cond_swap, restore, restore_with, save, make and call_on on
// one kernel thread (contract: weft/arch/README.md). Compiled at several optimisation levels.
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "tests/unit/arch/fixture.hpp"

namespace {

using namespace weft::arch;
using weft::arch::test::native_context;
using weft::arch::test::partner;
using weft::arch::test::scramble;
using weft::arch::test::stack;

volatile std::uint64_t seed = 1;

TEST(make, first_switch_runs_entry_on_the_new_stack) {
  native_context here;
  const void* seen = nullptr;
  partner other{[&](partner&) { seen = __builtin_frame_address(0); }};
  other.resume(here);
  EXPECT_TRUE(other.finished);
  EXPECT_TRUE(other.memory.contains(seen));
}

TEST(swap, goes_to_and_fro) {
  native_context here;
  int count = 0;
  partner other{[&](partner& self) {
    while (count < 1000) {
      ++count;
      self.leave();
    }
  }};
  for (int i = 1; i <= 1000; ++i) {
    other.resume(here);
    ASSERT_EQ(count, i);
  }
  other.resume(here);
}

TEST(swap, to_itself_continues) {
  native_context here;
  swap(here, here);
  SUCCEED();
}

// As a worker's loop, which lies in memory that was used before and never was a thread.
TEST(swap, comes_back_to_a_context_that_was_only_declared) {
  alignas(context) unsigned char memory[sizeof(context)];
  std::memset(memory, 0x5a, sizeof(memory));
  asm volatile("" : : "r"(memory) : "memory"); // the compiler must not know that nobody may read it
  auto& here = *::new (memory) context;
  sanitizer::adopt_native(here.fiber);
  bool ran = false;
  partner other{[&](partner&) { ran = true; }};
  other.resume(here);
  EXPECT_TRUE(ran);
}

// More values live across `between` than there are registers, of each kind.
template <class Between>
[[gnu::always_inline]] inline double fold(Between between) {
  using vector = double __attribute__((vector_size(32)));
  const std::uint64_t s = seed;
  std::uint64_t a = s + 1, b = s + 2, c = s + 3, d = s + 4, e = s + 5, f = s + 6, g = s + 7, h = s + 8;
  std::uint64_t i = s + 9, j = s + 10, k = s + 11, l = s + 12, m = s + 13, n = s + 14, o = s + 15, p = s + 16;
  double x0 = 0.5 * static_cast<double>(s), x1 = x0 + 1, x2 = x0 + 2, x3 = x0 + 3, x4 = x0 + 4, x5 = x0 + 5;
  double x6 = x0 + 6, x7 = x0 + 7, x8 = x0 + 8, x9 = x0 + 9;
  long double y = 0.25L * static_cast<long double>(s);
  vector v = {x0, x1, x2, x3};
  for (int round = 0; round < 3; ++round) {
    between();
    a += b, b ^= c, c += d, d ^= e, e += f, f ^= g, g += h, h ^= a;
    i += j, j ^= k, k += l, l ^= m, m += n, n ^= o, o += p, p ^= i;
    x0 += x1, x1 += x2, x2 += x3, x3 += x4, x4 += x5, x5 += x6, x6 += x7, x7 += x8, x8 += x9, y += 1,
        v = v + v;
  }
  const std::uint64_t integers = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l ^ m ^ n ^ o ^ p;
  return static_cast<double>(integers) + x0 * x1 + x2 * x3 + x4 * x5 + x6 * x7 + x8 * x9 +
         static_cast<double>(y) + v[0] * v[1] + v[2] * v[3];
}

TEST(swap, values_live_across_it_survive) {
  native_context here;
  partner other{[&](partner& self) {
    for (int i = 0; i < 3; ++i) {
      scramble();
      self.leave();
    }
  }};
  const double switched = fold([&]() __attribute__((always_inline)) { other.resume(here); });
  EXPECT_EQ(switched, fold([] {}));
  other.resume(here);
}

#if defined(__x86_64__)
// By name, in a caller that knows nothing of the switch inside. Returns a mask of those that changed.
[[gnu::noinline]] void switch_once(partner* other, context* here) {
  other->resume(*here);
}

[[gnu::noinline]] void leave_once(partner* other, context* here) {
  other->back = here;
  swap_and_return(*here, other->own);
}
[[gnu::noinline]] void leave_publishing_once(partner* other, context* here) {
  static weft::base::atomic<std::uint8_t> word{0};
  other->back = here;
  swap_publishing_and_return(*here, other->own, word, 1);
}

class switching_calls : public testing::TestWithParam<void (*)(partner*, context*)> {};
INSTANTIATE_TEST_SUITE_P(each, switching_calls,
                         testing::Values(&switch_once, &leave_once, &leave_publishing_once));

TEST_P(switching_calls, callee_saved_registers_survive) {
  native_context here;
  partner other{[&](partner& self) {
    scramble();
    self.leave();
    scramble();
  }};
  std::uint64_t seen[6] = {};
  for (int round = 0; round < 2; ++round) {
    partner* o = &other;
    context* h = &here;
    void (*call)(partner*, context*) = GetParam();
    std::uint64_t* out = seen;
    asm volatile("pushq %%rbp\npushq %%rcx\npushq %%rcx\nmovq %%rsp, %%r15\nandq $-16, %%rsp\npushq "
                 "%%r15\npushq %%r15\n"
                 "movq $11, %%rbx\nmovq $12, %%r12\nmovq $13, %%r13\nmovq $14, %%r14\nmovq $16, %%rbp\n"
                 "callq *%%rax\n"
                 "popq %%rdx\nmovq %%r15, %%rdi\nmovq %%rdx, %%rsp\npopq %%rcx\npopq %%rcx\n"
                 "movq %%rbx, (%%rcx)\nmovq %%r12, 8(%%rcx)\nmovq %%r13, 16(%%rcx)\nmovq %%r14, 24(%%rcx)\n"
                 "movq %%rbp, 32(%%rcx)\nsubq %%rdi, %%rdx\nmovq %%rdx, 40(%%rcx)\npopq %%rbp\n"
                 : "+D"(o), "+S"(h), "+a"(call), "+c"(out)
                 :
                 : "rbx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
                   "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                   "xmm14", "xmm15", "memory", "cc");
    EXPECT_EQ(std::vector<std::uint64_t>(seen, seen + 6),
              (std::vector<std::uint64_t>{11, 12, 13, 14, 16, 0}));
  }
}
#endif

// What the caller of a function that ends in `form` finds.
template <class Form>
void check_return(Form form) {
  native_context here;
  int count = 0;
  int results = 0;
  partner other{[&](partner& self) {
    while (count < 1000) {
      ++count;
      scramble();
      results += form(self.own, *self.back);
    }
  }};
  for (int i = 1; i <= 1000; ++i) {
    other.back = &here;
    results += form(here, other.own);
    ASSERT_EQ(count, i);
  }
  other.resume(here);
  EXPECT_EQ(results, 0);
}

[[gnu::noinline]] int leave_by_return(context& from, context& to) {
  return swap_and_return(from, to);
}

TEST(swap_and_return, goes_to_and_fro_and_gives_0) {
  check_return(&leave_by_return);
}

weft::base::atomic<std::uint8_t> published{0};
[[gnu::noinline]] int leave_by_publishing(context& from, context& to) {
  return swap_publishing_and_return(from, to, published, 7);
}

TEST(swap_publishing_and_return, goes_to_and_fro_and_gives_0) {
  check_return(&leave_by_publishing);
}

TEST(swap_publishing_and_return, stores_before_the_target_goes_on) {
  native_context here;
  std::uint8_t seen = 0;
  partner other{[&](partner&) { seen = published.load_acquire(); }};
  other.back = &here;
  published.store_relaxed(1);
  leave_by_publishing(here, other.own);
  EXPECT_EQ(seen, 7);
}

// A function that calls nothing but inlined switches keeps its array in the red zone, where the ABI has one.
[[gnu::noinline]] bool red_zone_survives(context& here, partner& other) {
  volatile std::uint64_t zone[8];
  for (std::uint64_t i = 0; i < 8; ++i) {
    zone[i] = i * 0x0101010101010101U;
  }
  other.resume(here);
  bool same = true;
  for (std::uint64_t i = 0; i < 8; ++i) {
    same = same && zone[i] == i * 0x0101010101010101U;
  }
  return same;
}

TEST(swap, leaves_the_red_zone_alone) {
  native_context here;
  partner other{[](partner& self) {
    scramble();
    self.leave();
  }};
  EXPECT_TRUE(red_zone_survives(here, other));
  EXPECT_TRUE(red_zone_survives(here, other));
}

// The partner comes back through each form that borrows the stack of a suspended context.
TEST(borrowing, leaves_the_red_zone_alone) {
  native_context here;
  partner other{[](partner& self) {
    call_on(*self.back, [](void*) { scramble(); }, nullptr);
    swap_with(self.own, *self.back, [](void*) { scramble(); }, nullptr);
    (void)cond_swap(self.own, *self.back, [](void*) { return scramble(), false; }, nullptr);
    (void)cond_swap(self.own, *self.back, [](void*) { return scramble(), true; }, nullptr);
    self.finished = true;
    restore_with(*self.back, [](void*) { scramble(); }, nullptr);
  }};
  EXPECT_TRUE(red_zone_survives(here, other));
  EXPECT_TRUE(red_zone_survives(here, other));
  EXPECT_TRUE(red_zone_survives(here, other));
}

// What a function sees of the stack it was called on.
struct sight {
  const void* frame = nullptr;
  int calls = 0;
};

bool aligned(const void* frame) {
#if defined(__x86_64__) || defined(__aarch64__)
  return reinterpret_cast<std::uintptr_t>(frame) % 16 == 0;
#else
  return frame != nullptr;
#endif
}

// Inlined into each function that is called from a switch: between functions of one file the compiler may
// align less.
[[gnu::always_inline]] inline void look_around(void* argument) {
  auto& s = *static_cast<sight*>(argument);
  s.frame = __builtin_frame_address(0);
  ++s.calls;
}
[[gnu::noinline]] void look(void* argument) {
  look_around(argument);
}
[[gnu::noinline]] bool look_and_agree(void* argument) {
  return look_around(argument), true;
}
[[gnu::noinline]] bool look_and_refuse(void* argument) {
  return look_around(argument), false;
}

struct visitor {
  sight seen;
  context* own;
  context* back;
};

[[noreturn]] void visit(void* argument) {
  sanitizer::first_arrival();
  auto& v = *static_cast<visitor*>(argument);
  v.seen.frame = __builtin_frame_address(0);
  ++v.seen.calls;
  restore(*v.back);
}

TEST(make, aligns_the_stack) {
  native_context here;
  stack memory;
  context fresh{};
  visitor v{{}, &fresh, &here};
  make(fresh, memory.top(), stack::size(), &visit, &v);
  EXPECT_EQ(v.seen.calls, 0);
  swap(here, fresh);
  EXPECT_EQ(v.seen.calls, 1);
  EXPECT_TRUE(aligned(v.seen.frame));
  EXPECT_TRUE(memory.contains(v.seen.frame));
}

TEST(save, starts_on_the_fresh_stack_and_comes_back) {
  native_context here;
  stack memory;
  context fresh{};
  visitor v{{}, &fresh, &here};
  for (int i = 1; i <= 100; ++i) {
    save(here, fresh, memory.top(), stack::size(), &visit, &v);
    ASSERT_EQ(v.seen.calls, i);
  }
  EXPECT_TRUE(aligned(v.seen.frame));
  EXPECT_TRUE(memory.contains(v.seen.frame));
}

TEST(save, its_fresh_context_can_be_left_and_resumed) {
  native_context here;
  stack memory;
  context fresh{};
  visitor v{{}, &fresh, &here};
  save(
      here, fresh, memory.top(), stack::size(),
      [](void* argument) {
        sanitizer::first_arrival();
        auto& self = *static_cast<visitor*>(argument);
        for (int i = 0; i < 3; ++i) {
          ++self.seen.calls;
          swap(*self.own, *self.back);
        }
        restore(*self.back);
      },
      &v);
  EXPECT_EQ(v.seen.calls, 1);
  swap(here, fresh);
  swap(here, fresh);
  EXPECT_EQ(v.seen.calls, 3);
  swap(here, fresh);
  EXPECT_EQ(v.seen.calls, 3);
}

// Each start abandons the one before, on the same stack, and the last on another one.
struct chain {
  int starts = 0;
  bool aligned_always = true;
  stack* first;
  stack* second;
  bool ended_on_second = false;
  context* own;
  context* back;
};

[[noreturn]] void link_of_chain(void* argument) {
  sanitizer::first_arrival();
  auto& c = *static_cast<chain*>(argument);
  c.aligned_always = c.aligned_always && aligned(__builtin_frame_address(0));
  ++c.starts;
  if (c.starts == 101) {
    c.ended_on_second = c.second->contains(__builtin_frame_address(0));
    restore(*c.back);
  }
  stack& next = c.starts < 100 ? *c.first : *c.second;
  begin(*c.own, next.top(), stack::size(), &link_of_chain, &c);
}

TEST(begin, starts_on_the_callers_own_stack_or_another) {
  native_context here;
  stack first, second;
  context own{};
  chain c{0, true, &first, &second, false, &own, &here};
  save(here, own, first.top(), stack::size(), &link_of_chain, &c);
  EXPECT_EQ(c.starts, 101);
  EXPECT_TRUE(c.aligned_always);
  EXPECT_TRUE(c.ended_on_second);
}

TEST(swap_with, arrives_on_the_stack_of_the_target_before_it_continues) {
  native_context here;
  sight s;
  int calls_when_resumed = 0;
  partner other{[&](partner& self) {
    self.leave();
    calls_when_resumed = s.calls;
  }};
  other.resume(here);
  swap_with(here, other.own, &look, &s);
  EXPECT_EQ(s.calls, 1);
  EXPECT_EQ(calls_when_resumed, 1);
  EXPECT_TRUE(other.memory.contains(s.frame));
  EXPECT_TRUE(aligned(s.frame));
}

TEST(swap_with, arrives_before_the_entry_of_a_fresh_target) {
  native_context here;
  sight s;
  int calls_at_entry = 0;
  partner other{[&](partner&) { calls_at_entry = s.calls; }};
  other.back = &here;
  swap_with(here, other.own, &look, &s);
  EXPECT_EQ(calls_at_entry, 1);
  EXPECT_TRUE(other.memory.contains(s.frame));
  EXPECT_TRUE(aligned(s.frame));
}

TEST(cond_swap, true_switches) {
  native_context here;
  sight s;
  std::string order;
  partner other{[&](partner& self) {
    self.leave();
    order += "other ";
  }};
  other.resume(here);
  EXPECT_TRUE(cond_swap(here, other.own, &look_and_agree, &s));
  order += "here";
  EXPECT_EQ(order, "other here");
  EXPECT_EQ(s.calls, 1);
  EXPECT_TRUE(other.memory.contains(s.frame));
  EXPECT_TRUE(aligned(s.frame));
}

TEST(cond_swap, false_stays_and_leaves_the_target_as_it_was) {
  native_context here;
  sight s;
  bool resumed = false;
  partner other{[&](partner& self) {
    self.leave();
    resumed = true;
  }};
  other.resume(here);
  for (int i = 1; i <= 100; ++i) {
    ASSERT_FALSE(cond_swap(here, other.own, &look_and_refuse, &s));
    ASSERT_EQ(s.calls, i);
    ASSERT_FALSE(resumed);
  }
  EXPECT_TRUE(other.memory.contains(s.frame));
  other.resume(here);
  EXPECT_TRUE(resumed);
}

TEST(cond_swap, false_leaves_a_fresh_target_fresh) {
  native_context here;
  sight s;
  bool started = false;
  partner other{[&](partner&) { started = true; }};
  other.back = &here;
  EXPECT_FALSE(cond_swap(here, other.own, &look_and_refuse, &s));
  EXPECT_FALSE(started);
  EXPECT_TRUE(cond_swap(here, other.own, &look_and_agree, &s));
  EXPECT_TRUE(started);
  EXPECT_EQ(s.calls, 2);
}

// Between two stacks of ours, with values live across both answers.
TEST(cond_swap, false_keeps_registers) {
  native_context here;
  partner target{[](partner& self) { self.leave(); }};
  target.resume(here);
  std::uint64_t sum = 0;
  partner asker{[&](partner& self) {
    std::uint64_t a = seed, b = seed + 1, c = seed + 2, d = seed + 3, e = seed + 4, f = seed + 5,
                  g = seed + 6;
    for (int i = 0; i < 10; ++i) {
      const bool went = cond_swap(self.own, target.own, [](void*) { return scramble(), false; }, nullptr);
      a += went ? 100 : b, b += c, c += d, d += e, e += f, f += g;
    }
    sum = a + b + c + d + e + f + g;
  }};
  asker.resume(here);
  std::uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7;
  for (int i = 0; i < 10; ++i) {
    a += b, b += c, c += d, d += e, e += f, f += g;
  }
  EXPECT_EQ(sum, a + b + c + d + e + f + g);
  target.resume(here);
}

TEST(restore_with, the_abandoned_stack_is_free_on_arrival) {
  native_context here;
  partner other{[](partner& self) {
    self.finished = true;
    restore_with(*self.back, [](void* argument) { static_cast<stack*>(argument)->forbid(); }, &self.memory);
  }};
  other.resume(here);
  EXPECT_TRUE(other.finished);
}

TEST(restore_with, arrives_on_the_stack_of_the_target) {
  native_context here;
  sight s;
  partner target{[&](partner& self) { self.leave(); }};
  target.resume(here);
  partner other{[&](partner& self) {
    self.finished = true;
    restore_with(target.own, &look, &s);
  }};
  other.resume(here); // comes back through the target
  EXPECT_TRUE(target.finished);
  EXPECT_EQ(s.calls, 1);
  EXPECT_TRUE(target.memory.contains(s.frame));
  EXPECT_TRUE(aligned(s.frame));
}

TEST(call_on, runs_on_the_free_part_of_a_suspended_stack) {
  native_context here;
  sight s;
  bool intact = false;
  partner below{[&](partner& self) {
    volatile char page[2048];
    std::memset(const_cast<char*>(page), 0x5a, sizeof page);
    self.leave();
    intact = page[0] == 0x5a && page[2047] == 0x5a;
  }};
  below.resume(here);
  for (int i = 1; i <= 10; ++i) {
    call_on(below.own, &look, &s);
    ASSERT_EQ(s.calls, i);
    call_on(below.own, [](void*) { scramble(); }, nullptr);
  }
  EXPECT_TRUE(below.memory.contains(s.frame));
  EXPECT_TRUE(aligned(s.frame));
  below.resume(here);
  EXPECT_TRUE(intact);
}

// Stacks of ours calling on each other and on the native one.
TEST(call_on, works_from_any_stack) {
  native_context here;
  sight s;
  partner other{[&](partner& self) {
    call_on(*self.back, &look, &s);
    self.leave();
    call_on(*self.back, &look, &s);
  }};
  other.resume(here);
  EXPECT_EQ(s.calls, 1);
  EXPECT_FALSE(other.memory.contains(s.frame));
  EXPECT_TRUE(aligned(s.frame));
  other.resume(here);
  EXPECT_EQ(s.calls, 2);
}

// The stack is the one that has an address with this low half.
TEST(stack_mark, is_odd_and_names_the_stack) {
  native_context here;
  std::uint32_t mark = 0;
  partner other{[&](partner&) { mark = stack_mark(); }};
  other.resume(here);
  const auto top = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(other.memory.top()));
  EXPECT_EQ(mark & 1, 1U);
  EXPECT_LE(top - (mark - 1), stack::size());
  EXPECT_GT(top - (stack_mark() - 1), stack::size());
}

TEST(is_zero, is_true_of_zero_alone) {
  EXPECT_TRUE(is_zero(0));
  EXPECT_FALSE(is_zero(1));
  EXPECT_FALSE(is_zero(0x80000000U));
}

TEST(shadow_stack, none_is_active_here) {
  EXPECT_FALSE(shadow_stack_active());
}

TEST(ticks, do_not_go_back) {
  const std::uint64_t first = ticks();
  relax();
  EXPECT_GE(ticks(), first);
  EXPECT_GE(cache_line, 64U);
}

} // namespace
