// SPDX-License-Identifier: MIT
// What a switch between two stacks costs by forms that Weft does not have: for docs/design/switch.md. Its own
// are those of tests/unit/arch/switch_cost.cpp. usage: decisions.switches [PAIRS]; prints one JSON object: ns
// a switch, one way, the least and the median of nine series that are taken in turn.
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/decisions/series.hpp"
#include "weft/arch/arch.hpp"

namespace decisions = weft::bench::decisions;

// Pushes what a function must keep, exchanges the stack pointer with *rdi, and goes on there.
#define PUSH_SIX "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
#define POP_SIX "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\n"
asm(".text\n"
    "switch_by_ret:\n" PUSH_SIX "xchgq %rsp, (%rdi)\n" POP_SIX "ret\n"
    "switch_by_jmp:\n" PUSH_SIX "xchgq %rsp, (%rdi)\n" POP_SIX "popq %rcx\njmp *%rcx\n");
extern "C" {
void switch_by_ret(std::uintptr_t* other);
void switch_by_jmp(std::uintptr_t* other);
}

namespace {

constexpr std::size_t stack_bytes = 65536, words_kept = 7; // six registers, and where to go on
alignas(64) std::array<std::byte, stack_bytes> memory;
std::byte* const top = memory.data() + memory.size();
std::uintptr_t other; // the stack pointer of the side that does not run
ucontext_t u_here, u_there;

// --- the far side of each form: switches back for ever ---

void far_by_ret() {
  while (true)
    switch_by_ret(&other);
}
void far_by_jmp() {
  while (true)
    switch_by_jmp(&other);
}
void far_by_ucontext() {
  while (true)
    ::swapcontext(&u_there, &u_here);
}

// Where the first switch to `function` finds what it pops.
void lay_out(void (*function)()) {
  auto* words = reinterpret_cast<std::uintptr_t*>(top) - words_kept - 1; // as after a call
  std::fill(words, words + words_kept, 0);
  words[words_kept - 1] = reinterpret_cast<std::uintptr_t>(function);
  other = reinterpret_cast<std::uintptr_t>(words);
}

// Inlined, every register a clobber, the resume address kept; no control words of floating point.
[[gnu::always_inline]] inline void inlined_without_fp(std::uintptr_t* from, const std::uintptr_t* to) {
  asm volatile("leaq 1f(%%rip), %%rax\nmovq %%rsp, (%0)\nmovq %%rbp, 8(%0)\nmovq %%rax, 16(%0)\n"
               "movq (%1), %%rsp\nmovq 8(%1), %%rbp\njmp *16(%1)\n1:\n"
               : "+D"(from), "+S"(to)
               :
               : "rax", "rcx", "rdx", WEFT_SWITCH_CLOBBERS);
}
std::array<std::uintptr_t, 3> bare_here, bare_there;
[[noreturn]] void far_without_fp() {
  while (true)
    inlined_without_fp(bare_there.data(), bare_here.data());
}

// --- the near side: prepares, and makes `pairs` switches there and back ---

using clock_type = std::chrono::steady_clock;
template <class Round>
double timed(long pairs, Round round) {
  for (long i = 0; i < 1000; ++i)
    round();
  const auto start = clock_type::now();
  for (long i = 0; i < pairs; ++i)
    round();
  return std::chrono::duration<double, std::nano>(clock_type::now() - start).count() / 2 /
         static_cast<double>(pairs);
}

double by_ret(long pairs) {
  lay_out(&far_by_ret);
  return timed(pairs, [] { switch_by_ret(&other); });
}
double by_jmp(long pairs) {
  lay_out(&far_by_jmp);
  return timed(pairs, [] { switch_by_jmp(&other); });
}
double without_fp(long pairs) {
  bare_there = {reinterpret_cast<std::uintptr_t>(top - 64 - 8), 0,
                reinterpret_cast<std::uintptr_t>(&far_without_fp)};
  return timed(pairs, [] { inlined_without_fp(bare_here.data(), bare_there.data()); });
}
double by_ucontext(long pairs) {
  ::getcontext(&u_there);
  u_there.uc_stack.ss_sp = memory.data();
  u_there.uc_stack.ss_size = memory.size();
  ::makecontext(&u_there, &far_by_ucontext, 0);
  return timed(pairs / 16, [] { ::swapcontext(&u_here, &u_there); });
}

struct form {
  std::string_view name;
  double (*measure)(long pairs);
  decisions::series ns = {};
};

} // namespace

int main(int count, char** words) {
  const long pairs = count > 1 ? std::atol(words[1]) : 200'000;
  if (pairs < 16)
    return std::fprintf(stderr, "usage: %s [PAIRS]\n", words[0]), 2;
  std::array forms = {
      form{"six pushes, ret", &by_ret},
      form{"six pushes, pop and jmp", &by_jmp},
      form{"inlined, no FP control", &without_fp},
      form{"ucontext", &by_ucontext},
  };
  for (int i = 0; i < 9; ++i) {
    for (form& f : forms)
      f.ns.add(f.measure(pairs));
  }
  std::printf("{");
  for (const form& f : forms) {
    std::printf("%s\"%s\": {", &f == forms.data() ? "" : ", ", f.name.data());
    f.ns.print();
    std::printf("}");
  }
  std::puts("}");
  return 0;
}
