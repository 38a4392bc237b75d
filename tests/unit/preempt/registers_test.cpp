// SPDX-License-Identifier: MIT
// Registers that no call preserves survive a preemption: the handler returns without the kernel. One thread
// fills them, is preempted by a tick to itself, and looks; the other one fills them with something else.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "tests/unit/census_check.hpp"
#include "tests/unit/preempt/fixture.hpp"
#include "weft/preemption.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

#if defined(__x86_64__)
namespace weft::test {
namespace {

// What a thread leaves in all registers, spins with, and finds afterwards.
struct alignas(64) registers {
  std::uint8_t vectors[32][64];
  std::uint64_t masks[8];
  std::uint32_t mxcsr;

  void fill(unsigned seed) {
    auto* bytes = reinterpret_cast<std::uint8_t*>(this);
    for (std::size_t i = 0; i < sizeof *this; ++i)
      bytes[i] = static_cast<std::uint8_t>(seed * 37 + i * 11 + 1);
    mxcsr = 0x1f80 | (seed % 4) << 13; // a rounding mode, no exception
  }
};

#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)
#define MORE(f)                                                                                              \
  f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15) f(16) f(17) f(18) f(19) f(20) f(21) f(22) f(23) f(24) f(25)  \
      f(26) f(27) f(28) f(29) f(30) f(31)
#define LOAD(n) "vmovdqu64 " #n "*64(%[in]), %%zmm" #n "\n"
#define STORE(n) "vmovdqu64 %%zmm" #n ", " #n "*64(%[out])\n"
#define LOAD_MASK(n) "kmovq 2048+" #n "*8(%[in]), %%k" #n "\n"
#define STORE_MASK(n) "kmovq %%k" #n ", 2048+" #n "*8(%[out])\n"

// Holds `in` in the registers for `steps`, keeps a value in the red zone and the carry flag set, and gives
// what is there then. The tick comes while it counts.
[[gnu::target("avx512f,avx512bw"), gnu::noinline]] std::uint64_t hold(const registers& in, registers& out,
                                                                      std::uint64_t steps) {
  std::uint64_t carry = 0;
  const std::uint32_t before = __builtin_ia32_stmxcsr();
  asm volatile("ldmxcsr 2112(%[in])\n" EACH(LOAD) MORE(LOAD)
                   EACH(LOAD_MASK) "movq %[steps], -64(%%rsp)\n"
                                   "stc\n"
                                   "1: decq %[steps]\n" // leaves the carry alone
                                   "jnz 1b\n"
                                   "adcq $0, %[carry]\n" EACH(STORE) MORE(STORE)
                                       EACH(STORE_MASK) "stmxcsr 2112(%[out])\n"
                                                        "movq -64(%%rsp), %[steps]\n"
               : [carry] "+r"(carry), [steps] "+r"(steps)
               : [in] "r"(&in), [out] "r"(&out)
               : "memory", "cc");
  __builtin_ia32_ldmxcsr(before);
  asm volatile(""
               :
               :
               : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                 "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  return carry == 1 ? steps : 0;
}

class registers_survive : public ::testing::TestWithParam<preemption> {};

INSTANTIATE_TEST_SUITE_P(each, registers_survive,
                         ::testing::Values(preemption::signal_yield, preemption::own_tls),
                         [](const auto& info) {
                           return info.param == preemption::own_tls ? "own_tls" : "signal_yield";
                         });

TEST_P(registers_survive, vectors_masks_flags_and_rounding) {
  if (!can_preempt(GetParam()) || !__builtin_cpu_supports("avx512bw"))
    GTEST_SKIP() << "not on this machine";
  start_ticking(sched::arrangement::pool_per_worker, 1, std::chrono::microseconds(100));
  census_check census;
  census.begin();
  const std::size_t before = preempt::counts().preemptions;
  static constexpr unsigned rounds = 40;
  static constexpr std::uint64_t steps = 2'000'000; // some intervals
  const auto body = [](unsigned seed) {
    return [seed] {
      for (unsigned round = 0; round < rounds; ++round) {
        registers in, out = {};
        in.fill(seed + 2 * round);
        ASSERT_EQ(hold(in, out, steps), steps);
        ASSERT_EQ(std::memcmp(in.vectors, out.vectors, sizeof in.vectors), 0);
        ASSERT_EQ(std::memcmp(in.masks, out.masks, sizeof in.masks), 0);
        ASSERT_EQ(in.mxcsr & ~0x3fU, out.mxcsr & ~0x3fU); // but for the flags of exceptions
      }
    };
  };
  thread_attributes a;
  a.preemption = GetParam();
  thread one(a, body(1)), other(a, body(100));
  one.join();
  other.join();
  EXPECT_GT(preempt::counts().preemptions, before + 10);
  census.end();
  EXPECT_TRUE(runtime::stop());
}

} // namespace
} // namespace weft::test
#endif
