// SPDX-License-Identifier: MIT
// Repeats one form of the switch N times, for callgrind to count by the difference of two N, or for a clock.
// usage: switch_cost FORM N; FORM: port empty swap swap_and_return
// swap_with cond_swap refused save call_on flags rounding
// A round of swap, swap_and_return, swap_with, cond_swap, flags and rounding is two switches, there and back.
// Prints ns a round on stderr.
#include <cfenv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "weft/arch/arch.hpp"

using namespace weft::arch;

namespace {

context here{}, there{};
alignas(64) char memory[65536];
void* const top = memory + sizeof memory;

void nothing(void*) {}
bool yes(void*) {
  return true;
}
bool no(void*) {
  return false;
}

template <class Back>
[[noreturn]] void partner(void*) {
  sanitizer::first_arrival();
  while (true) {
    Back{}();
  }
}

struct by_swap {
  void operator()() const { swap(there, here); }
};
[[gnu::noinline]] int leave(context& from, context& to) {
  return swap_and_return(from, to);
}
struct by_return {
  void operator()() const { leave(there, here); }
};
struct by_swap_with {
  void operator()() const { swap_with(there, here, &nothing, nullptr); }
};
struct by_cond_swap {
  void operator()() const { (void)cond_swap(there, here, &yes, nullptr); }
};
struct by_restore {
  void operator()() const { restore(here); }
};

template <class Back, class Round>
int repeat(long rounds, Round round) {
  make(there, top, sizeof memory, &partner<Back>, nullptr);
  const auto start = std::chrono::steady_clock::now();
  for (long i = 0; i < rounds; ++i) {
    round();
  }
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "%.2f ns a round\n", taken.count() / static_cast<double>(rounds));
  return 0;
}

// The two sides differ: in a flag that inexact arithmetic raises, or in the rounding mode.
template <int Exceptions, int Rounding>
struct differing {
  bool first = true;
  void operator()() {
    if (first) {
      first = false;
      std::feraiseexcept(Exceptions);
      std::fesetround(Rounding);
    }
    swap(here, there);
  }
};

} // namespace

int main(int count, char** arguments) {
  const char* form = count > 1 ? arguments[1] : "";
  const long rounds = count > 2 ? std::atol(arguments[2]) : 1000;
  const auto is = [&](const char* name) { return std::strcmp(form, name) == 0; };
  sanitizer::adopt_native(here.fiber);
  if (is("port")) {
    return std::puts(port_name) < 0;
  }
  if (is("empty")) {
    return repeat<by_swap>(rounds, [] { asm volatile("" ::: "memory"); });
  }
  if (is("swap")) {
    return repeat<by_swap>(rounds, [] { swap(here, there); });
  }
  if (is("swap_and_return")) {
    return repeat<by_return>(rounds, [] { leave(here, there); });
  }
  if (is("flags")) {
    return repeat<by_swap>(rounds, differing<FE_INEXACT, FE_TONEAREST>{});
  }
  if (is("rounding")) {
    return repeat<by_swap>(rounds, differing<0, FE_UPWARD>{});
  }
  if (is("swap_with")) {
    return repeat<by_swap_with>(rounds, [] { swap_with(here, there, &nothing, nullptr); });
  }
  if (is("cond_swap")) {
    return repeat<by_cond_swap>(rounds, [] { (void)cond_swap(here, there, &yes, nullptr); });
  }
  if (is("refused")) {
    return repeat<by_swap>(rounds, [] { (void)cond_swap(here, there, &no, nullptr); });
  }
  if (is("save")) {
    return repeat<by_restore>(rounds,
                              [] { save(here, there, top, sizeof memory, &partner<by_restore>, nullptr); });
  }
  if (is("call_on")) {
    return repeat<by_swap>(rounds, [] { call_on(there, &nothing, nullptr); });
  }
  std::fprintf(stderr, "usage: %s FORM N\n", arguments[0]);
  return 2;
}
