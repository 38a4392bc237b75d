// SPDX-License-Identifier: MIT
// Every register that a call has to keep is kept by a function that switches, whatever the other side left in
// it: by name, in a caller that knows nothing of the switch. On the CPUs that have many of them; for x86-64
// see switch_test.cpp.
#include <array>
#include <cstdint>

#include "tests/unit/arch/fixture.hpp"

#if defined(__aarch64__) || defined(__powerpc64__) || defined(__riscv)

namespace {

using namespace weft::arch;
using weft::arch::test::native_context;
using weft::arch::test::partner;
using weft::arch::test::stack;

using form = void (*)(partner*, context*);

// The words of a register are one after the other; `kept` of them in all.
#if defined(__aarch64__)
constexpr std::size_t kept = 11 + 8; // x19 to x29, d8 to d15
#elif defined(__riscv)
constexpr std::size_t kept = 12 + 12; // s0 to s11, fs0 to fs11
#else
constexpr std::size_t kept = 18 + 18 + 24 + 1; // r14 to r31, f14 to f31, v20 to v31, cr2 to cr4
#endif
// Aligned for vectors.
struct alignas(16) registers : std::array<std::uint64_t, kept> {};

} // namespace

// Calls f(other, here) with the registers as in `in`, and stores what is in them afterwards to `out`.
extern "C" void weft_test_call_with_registers(form f, partner* other, context* here, const std::uint64_t* in,
                                              std::uint64_t* out);

#if defined(__aarch64__)
#define SAVED_INTEGERS "19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29"
#define SAVED_DOUBLES "8, 9, 10, 11, 12, 13, 14, 15"
#define EACH(instruction, base)                                                                              \
  ".irp n, " SAVED_INTEGERS "\n" instruction " x\\n, [" base ", 8 * (\\n - 19)]\n.endr\n"                    \
  ".irp n, " SAVED_DOUBLES "\n" instruction " d\\n, [" base ", 88 + 8 * (\\n - 8)]\n.endr\n"
asm(".pushsection .text\n.p2align 4\n.type weft_test_call_with_registers, @function\n"
    ".globl weft_test_call_with_registers\nweft_test_call_with_registers:\nhint 34\n"
    "sub sp, sp, 176\nstr x30, [sp, 160]\nstr x4, [sp, 168]\n" EACH("str", "sp")
        EACH("ldr", "x3") "mov x16, x0\nmov x0, x1\nmov x1, x2\nblr x16\n"
                          "ldr x4, [sp, 168]\n" EACH("str", "x4")
                              EACH("ldr", "sp") "ldr x30, [sp, 160]\nadd sp, sp, 176\nret\n.popsection\n");
#elif defined(__riscv)
#define NUMBERS "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"
#define EACH(integer, floating, base)                                                                        \
  ".irp n, " NUMBERS "\n" integer " s\\n, 8 * \\n(" base ")\n" floating " fs\\n, 96 + 8 * \\n(" base         \
  ")\n.endr\n"
asm(".pushsection .text\n.p2align 2\n.type weft_test_call_with_registers, @function\n"
    ".globl weft_test_call_with_registers\nweft_test_call_with_registers:\n"
    "addi sp, sp, -208\nsd ra, 192(sp)\nsd a4, 200(sp)\n" EACH("sd", "fsd", "sp")
        EACH("ld", "fld", "a3") "mv t1, a0\nmv a0, a1\nmv a1, a2\njalr t1\n"
                                "ld a4, 200(sp)\n" EACH("sd", "fsd", "a4")
                                    EACH("ld", "fld",
                                         "sp") "ld ra, 192(sp)\naddi sp, sp, 208\nret\n.popsection\n");
#else
#define SAVED_VECTORS "20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31"
#define SAVED_OTHERS "14, 15, 16, 17, 18, 19, " SAVED_VECTORS
#define EACH(integer, floating, vector, base)                                                                \
  ".irp n, " SAVED_OTHERS "\n" integer " \\n, 8 * (\\n - 14)(" base ")\n" floating                           \
  " \\n, 144 + 8 * (\\n - 14)(" base ")\n.endr\n.irp n, " SAVED_VECTORS "\nli 0, 288 + 16 * (\\n - 20)\n"    \
  "" vector " \\n, " base ", 0\n.endr\n"
asm(".pushsection .text\n.p2align 4\n.type weft_test_call_with_registers, @function\n"
    ".globl weft_test_call_with_registers\nweft_test_call_with_registers:\n"
    "mflr 0\nstd 0, 16(1)\nmfcr 0\nstw 0, 8(1)\nstdu 1, -544(1)\nstd 2, 24(1)\nstd 7, 528(1)\n"
    "addi 10, 1, 32\n" EACH("std", "stfd", "stvx", "10")
        EACH("ld", "lfd", "lvx",
             "6") "ld 0, 480(6)\nmtcrf 0x38, 0\nmr 12, 3\nmtctr 12\nmr 3, 4\nmr 4, 5\nbctrl\nld 2, 24(1)\n"
                  "ld 7, 528(1)\n" EACH("std", "stfd", "stvx",
                                        "7") "mfcr 0\nrlwinm 0, 0, 0, 8, 19\nstd 0, 480(7)\n"
                                             "addi 10, 1, 32\n" EACH(
                                                 "ld", "lfd", "lvx",
                                                 "10") "addi 1, 1, 544\nlwz 0, 8(1)\nmtcrf 0x38, 0\nld 0, "
                                                       "16(1)\nmtlr 0\nblr\n.popsection\n");
#endif

namespace {

// Rubbish in all of them, for a switch to leave there.
[[gnu::always_inline]] inline void spoil() {
#if defined(__aarch64__)
  asm volatile(".irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28\nmov x\\n, -1\n.endr\n"
               ".irp n, " SAVED_DOUBLES "\nfmov d\\n, x28\n.endr\n"
               :
               :
               : "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "v8", "v9", "v10",
                 "v11", "v12", "v13", "v14", "v15");
#elif defined(__riscv)
  asm volatile(".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\nli s\\n, -1\n.endr\n"
               ".irp n, " NUMBERS "\nfmv.d.x fs\\n, s1\n.endr\n"
               :
               :
               : "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "fs0", "fs1", "fs2",
                 "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11");
#else
  asm volatile(".irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30\nli \\n, -1\n"
               ".endr\n.irp n, " SAVED_OTHERS "\nmtvsrd \\n, 14\n.endr\n"
               ".irp n, " SAVED_VECTORS "\nvspltisw \\n, -1\n.endr\nmtcrf 0x38, 14\n"
               :
               :
               : "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26",
                 "r27", "r28", "r29", "r30", "fr14", "fr15", "fr16", "fr17", "fr18", "fr19", "fr20", "fr21",
                 "fr22", "fr23", "fr24", "fr25", "fr26", "fr27", "fr28", "fr29", "fr30", "fr31", "v20", "v21",
                 "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cr2", "cr3", "cr4");
#endif
}

void spoil_and_return(void*) {
  spoil();
}

[[gnu::noinline]] void by_swap(partner* other, context* here) {
  other->resume(*here);
}
[[gnu::noinline]] void by_return(partner* other, context* here) {
  other->back = here;
  swap_and_return(*here, other->own);
}
weft::base::atomic<std::uint8_t> word{0};
[[gnu::noinline]] void by_publishing(partner* other, context* here) {
  other->back = here;
  swap_publishing(*here, other->own, word, 1);
}
[[gnu::noinline]] void by_publishing_and_return(partner* other, context* here) {
  other->back = here;
  swap_publishing_and_return(*here, other->own, word, 1);
}
[[gnu::noinline]] void by_arrival(partner* other, context* here) {
  other->back = here;
  swap_with(*here, other->own, &spoil_and_return, nullptr);
}
[[gnu::noinline]] void by_consent(partner* other, context* here) {
  other->back = here;
  (void)cond_swap(*here, other->own, [](void*) { return true; }, nullptr);
}
[[gnu::noinline]] void by_refusal(partner* other, context* here) {
  (void)cond_swap(*here, other->own, [](void*) { return false; }, nullptr);
  other->resume(*here);
}
[[gnu::noinline]] void by_call_on(partner* other, context* here) {
  call_on(other->own, &spoil_and_return, nullptr);
  other->resume(*here);
}

// A start on a fresh stack, which comes back at once.
struct visitor {
  context* back;
};
[[noreturn]] void visit(void* argument) {
  sanitizer::first_arrival();
  auto& v = *static_cast<visitor*>(argument);
  spoil();
  restore(*v.back);
}
[[gnu::noinline]] void by_start(partner* other, context* here) {
  stack memory;
  context fresh{};
  visitor v{here};
  save(*here, fresh, memory.top(), stack::size(), &visit, &v);
  other->resume(*here);
}

// A call that is left by its mark.
context marked{};
void leave_by_mark(void*) {
  spoil();
  restore(marked);
}
[[gnu::noinline]] void by_mark(partner* other, context* here) {
  context* mark = &marked;
  void* memory = here;
  if constexpr (has_marks) {
    EXPECT_FALSE(call_marked(mark, memory, &leave_by_mark, nullptr));
    EXPECT_EQ(mark, &marked);
    EXPECT_EQ(memory, here);
  }
  EXPECT_TRUE(call_marked(mark, memory, &spoil_and_return, nullptr));
  EXPECT_EQ(memory, here);
  other->resume(*here);
}

// The same, called on a fresh stack.
[[gnu::noinline]] void by_mark_on_fresh_stack(partner* other, context* here) {
  stack memory;
  context* mark = &marked;
  void* k = here;
  if constexpr (has_marks) {
    EXPECT_FALSE(call_marked_on(mark, k, memory.top(), &leave_by_mark, nullptr));
    EXPECT_EQ(mark, &marked);
    EXPECT_EQ(k, here);
    EXPECT_TRUE(call_marked_on(mark, k, memory.top(), &spoil_and_return, nullptr));
    EXPECT_EQ(k, here);
    call_on_fresh(memory.top(), &spoil_and_return, nullptr);
  }
  other->resume(*here);
}

class callee_saved : public testing::TestWithParam<form> {};
INSTANTIATE_TEST_SUITE_P(each, callee_saved,
                         testing::Values(&by_swap, &by_return, &by_publishing, &by_publishing_and_return,
                                         &by_arrival, &by_consent, &by_refusal, &by_call_on, &by_start,
                                         &by_mark, &by_mark_on_fresh_stack));

TEST_P(callee_saved, registers_survive) {
  native_context here;
  partner other{[](partner& self) {
    spoil();
    self.leave();
    spoil();
    self.leave();
    spoil();
  }};
  registers in{};
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = 0x1001001001001001U * (i + 1);
  }
#if defined(__powerpc64__)
  in.back() = 0x00a5a000; // the three fields of CR, where mfcr puts them
#endif
  for (int round = 0; round < 2; ++round) {
    registers out{};
    weft_test_call_with_registers(GetParam(), &other, &here, in.data(), out.data());
    for (std::size_t i = 0; i < in.size(); ++i) {
      EXPECT_EQ(in[i], out[i]) << "word " << i;
    }
  }
  other.resume(here);
}

} // namespace

#endif
