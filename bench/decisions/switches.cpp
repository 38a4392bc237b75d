// SPDX-License-Identifier: MIT
// What a switch between two stacks costs, by the form that Weft has and by those that it does not: for
// docs/design/switch.md. usage: decisions.switches [PAIRS]; prints one JSON object: ns a switch, one way, the
// least and the median of nine series that are taken in turn.
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "weft/arch/arch.hpp"

namespace arch = weft::arch;

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
arch::context here, there;
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
template <class Back>
[[noreturn]] void far(void*) {
  while (true)
    Back{}();
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

struct swaps_back {
  void operator()() const { arch::swap(there, here); }
};
double by_swap(long pairs) {
  arch::make(there, top, memory.size(), &far<swaps_back>, nullptr);
  return timed(pairs, [] { arch::swap(here, there); });
}
struct swaps_back_with {
  void operator()() const {
    arch::swap_with(there, here, [](void*) {}, nullptr);
  }
};
double by_swap_with(long pairs) {
  arch::make(there, top, memory.size(), &far<swaps_back_with>, nullptr);
  return timed(pairs, [] { arch::swap_with(here, there, [](void*) {}, nullptr); });
}
struct swaps_back_if {
  void operator()() const {
    static_cast<void>(arch::cond_swap(there, here, [](void*) { return true; }, nullptr));
  }
};
double by_cond_swap(long pairs) {
  arch::make(there, top, memory.size(), &far<swaps_back_if>, nullptr);
  return timed(pairs,
               [] { static_cast<void>(arch::cond_swap(here, there, [](void*) { return true; }, nullptr)); });
}

// The two sides differ in a sticky flag, or in the rounding mode.
template <int Exceptions, int Rounding>
struct differing {
  bool first = true;
  void operator()() {
    if (first) {
      first = false;
      std::feraiseexcept(Exceptions);
      std::fesetround(Rounding);
    }
    arch::swap(here, there);
  }
};
template <int Exceptions, int Rounding>
double by_differing(long pairs) {
  std::feclearexcept(FE_ALL_EXCEPT);
  arch::make(there, top, memory.size(), &far<swaps_back>, nullptr);
  const double ns = timed(pairs, differing<Exceptions, Rounding>{});
  std::fesetround(FE_TONEAREST);
  return ns;
}

struct form {
  std::string_view name;
  double (*measure)(long pairs);
  std::array<double, 9> series = {};
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
      form{"swap", &by_swap},
      form{"swap_with", &by_swap_with},
      form{"cond_swap", &by_cond_swap},
      form{"swap, flags differ", &by_differing<FE_INEXACT, FE_TONEAREST>},
      form{"swap, rounding differs", &by_differing<0, FE_UPWARD>},
      form{"ucontext", &by_ucontext},
  };
  for (std::size_t i = 0; i < forms[0].series.size(); ++i) {
    for (form& f : forms)
      f.series[i] = f.measure(pairs);
  }
  std::printf("{");
  for (form& f : forms) {
    std::sort(f.series.begin(), f.series.end());
    std::printf("%s\"%s\": {\"least\": %.3f, \"median\": %.3f}", &f == forms.data() ? "" : ", ",
                f.name.data(), f.series.front(), f.series[f.series.size() / 2]);
  }
  std::puts("}");
  return 0;
}
