// SPDX-License-Identifier: MIT
// The switch on x86-64 (System V). A context is five words in the descriptor, never on the stack: a swap
// therefore leaves the stack pointer and the red zone alone, needs no CFI adjustment, and is as good an
// unwind point as the call site itself. Contract: weft/arch/README.md. Reasons: docs/design/switch.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "weft/arch/publication.hpp"
#include "weft/arch/sanitizer.hpp"
#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"

// Registers that a call may change, and those that only a switch changes. rsp and rbp cannot be named: every
// form here leaves rsp as it was, and saves rbp itself (at -O0 it is the frame pointer). gcc refuses the
// names of registers the target has not; clang knows them always.
#if defined(__AVX512F__) || defined(__clang__)
#define WEFT_AVX512_CLOBBERS                                                                                 \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",       \
      "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define WEFT_AVX512_CLOBBERS
#endif
#if defined(__APX_F__)
#define WEFT_APX_CLOBBERS                                                                                    \
  , "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", \
      "r31"
#else
#define WEFT_APX_CLOBBERS
#endif
#define WEFT_CALL_CLOBBERS                                                                                   \
  "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",  \
      "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)",        \
      "st(5)", "st(6)", "st(7)", "memory", "cc" WEFT_AVX512_CLOBBERS WEFT_APX_CLOBBERS
#define WEFT_SWITCH_CLOBBERS "rbx", "r12", "r13", "r14", "r15", WEFT_CALL_CLOBBERS

// While the stack pointer is not that of the enclosing function its unwind rules do not hold: a walk ends
// there. clang with -fno-asynchronous-unwind-tables has functions without any rules, and says so: define
// WEFT_NO_SWITCH_CFI.
#if defined(__GCC_HAVE_DWARF2_CFI_ASM) && !defined(WEFT_NO_SWITCH_CFI)
#define WEFT_OFF_STACK ".cfi_remember_state\n.cfi_undefined rip\n"
#define WEFT_ON_STACK ".cfi_restore_state\n"
#else
#define WEFT_OFF_STACK ""
#define WEFT_ON_STACK ""
#endif

// Where an indirect jump may land, under indirect branch tracking (-fcf-protection).
#if defined(__CET__)
#define WEFT_LANDING_PAD "endbr64\n"
#else
#define WEFT_LANDING_PAD ""
#endif

// Saves sp, fp, resume address and FP control words of the running context into (%rdi). Changes rax.
#define WEFT_SAVE_RDI                                                                                        \
  "leaq 1f(%%rip), %%rax\n"                                                                                  \
  "movq %%rsp, (%%rdi)\n"                                                                                    \
  "movq %%rbp, 8(%%rdi)\n"                                                                                   \
  "movq %%rax, 16(%%rdi)\n"                                                                                  \
  "stmxcsr 24(%%rdi)\n"                                                                                      \
  "fnstcw 28(%%rdi)\n"

// Loads the FP control words of (%rsi) if they differ from those just saved in (%rdi): programs rarely change
// them. The six flags of MXCSR are neither compared nor changed: they differ between any two threads of which
// one computed something inexact, and changing them costs 60 ns (docs/design/switch.md). rax and (%rsi)'s
// flags change.
#define WEFT_LOAD_CONTROL_RSI                                                                                \
  "movl 24(%%rdi), %%eax\n"                                                                                  \
  "xorl 24(%%rsi), %%eax\n"                                                                                  \
  "testl $-64, %%eax\n"                                                                                      \
  "jne 2f\n"                                                                                                 \
  "3: movzwl 28(%%rdi), %%eax\n"                                                                             \
  "cmpw 28(%%rsi), %%ax\n"                                                                                   \
  "jne 4f\n"                                                                                                 \
  "5:\n"                                                                                                     \
  ".subsection 1\n"                                                                                          \
  "2: andl $-64, %%eax\n"                                                                                    \
  "xorl 24(%%rdi), %%eax\n"                                                                                  \
  "movl %%eax, 24(%%rsi)\n"                                                                                  \
  "ldmxcsr 24(%%rsi)\n"                                                                                      \
  "jmp 3b\n"                                                                                                 \
  "4: fldcw 28(%%rsi)\n"                                                                                     \
  "jmp 5b\n"                                                                                                 \
  ".previous\n"

// Continues the context in (%rsi).
#define WEFT_CONTINUE_RSI                                                                                    \
  "movq (%%rsi), %%rsp\n"                                                                                    \
  "movq 8(%%rsi), %%rbp\n"                                                                                   \
  "jmpq *16(%%rsi)\n"

// To call a function on the stack of the suspended context in (%rsi): first WEFT_BORROW_STACK_RSI, then at
// least one access to memory, then WEFT_SKIP_RED_ZONE. Memcheck sees a stack pointer only at memory accesses;
// of the two steps it takes the first for a change of stacks and the second for a frame. In one step, it
// would take the callee's frame for memory below the stack.
#define WEFT_BORROW_STACK_RSI "movq (%%rsi), %%rsp\n"
#define WEFT_SKIP_RED_ZONE                                                                                   \
  "addq $-128, %%rsp\n"                                                                                      \
  "andq $-16, %%rsp\n"

// Calls %rdx(%rcx) there. Keeps rsi in rbx.
#define WEFT_ARRIVE                                                                                          \
  WEFT_SKIP_RED_ZONE                                                                                         \
  "movq %%rsi, %%rbx\n"                                                                                      \
  "movq %%rcx, %%rdi\n"                                                                                      \
  "callq *%%rdx\n"                                                                                           \
  "movq %%rbx, %%rsi\n"

namespace weft::arch {

inline constexpr const char* port_name = "x86_64";
inline constexpr std::size_t cache_line = 64;

// Not saved, on purpose: the thread pointer (a thread migrates between kernel threads) and the signal mask.
struct context {
  void* sp;             // 0
  void* fp;             // 8
  void* resume;         // 16
  std::uint32_t mxcsr;  // 24  SSE control; the flags in its low six bits mean nothing
  std::uint16_t x87_cw; // 28  x87 control word
  std::uint16_t unused; // 30
  [[no_unique_address]] sanitizer::fiber fiber;
};
static_assert(offsetof(context, sp) == 0 && offsetof(context, fp) == 8 && offsetof(context, resume) == 16);
static_assert(offsetof(context, mxcsr) == 24 && offsetof(context, x87_cw) == 28);

// For debuggers: a suspended context can be walked from its sp, fp, resume, and what DWARF calls the first
// two.
inline constexpr bool has_walkable_contexts = true;
inline constexpr unsigned dwarf_sp = 7;
inline constexpr unsigned dwarf_fp = 6;

// Of a suspended context, for display.
inline const void* stack_pointer_of(const context& c) noexcept {
  return c.sp;
}

using entry_function = void (*)(void*);
using arrival_function = void (*)(void*);
using conditional_function = bool (*)(void*);

// The first return address of every thread lies in here: its unwind information says that there is no caller,
// so gdb, perf and libunwind stop. Not to be called.
extern "C" WEFT_API void weft_arch_thread_base();

// Leaves the running context in `from`, continues `to`.
[[gnu::always_inline]] inline void swap(context& from, context& to) noexcept {
  void* f = &from;
  void* t = &to;
  sanitizer::before_switch(from.fiber, to.fiber);
  asm volatile(WEFT_SAVE_RDI WEFT_LOAD_CONTROL_RSI                // from complete
                   WEFT_OFF_STACK WEFT_CONTINUE_RSI WEFT_ON_STACK // to runs
               "1: " WEFT_LANDING_PAD
               : "+D"(f), "+S"(t)
               :
               : "rax", "rcx", "rdx", WEFT_SWITCH_CLOBBERS);
  sanitizer::after_switch(from.fiber);
}

// As swap, but runs `arrive(argument)` on the stack of `to` before `to` continues. By then `from` is
// complete, so `arrive` may publish it; after that call nothing here touches `from` again. `arrive` must not
// throw and must not switch.
[[gnu::always_inline]] inline void swap_with(context& from, context& to, arrival_function arrive,
                                             void* argument) noexcept {
  void* f = &from;
  void* t = &to;
  sanitizer::before_switch(from.fiber, to.fiber);
  asm volatile(WEFT_SAVE_RDI WEFT_OFF_STACK WEFT_BORROW_STACK_RSI WEFT_LOAD_CONTROL_RSI // from complete
                   WEFT_ARRIVE WEFT_CONTINUE_RSI WEFT_ON_STACK // GONE: from, inside arrive
               "1: " WEFT_LANDING_PAD
               : "+D"(f), "+S"(t), "+d"(arrive), "+c"(argument)
               :
               : "rax", WEFT_SWITCH_CLOBBERS);
  sanitizer::after_switch(from.fiber);
}

// As swap; once `from` is complete, stores `value` to `word`, by which others may learn that it can be
// continued. Stores are seen in program order on x86-64, so a plain one is a release; where a sanitizer must
// see it, an arrival makes it.
[[gnu::always_inline]] inline void
swap_publishing(context& from, context& to, base::atomic<std::uint8_t>& word, std::uint8_t value) noexcept {
  if constexpr (sanitizer::watches_atomics) {
    publication p{&word, value};
    swap_with(from, to, &publication::store, &p);
  } else {
    void* f = &from;
    void* t = &to;
    void* w = &word;
    sanitizer::before_switch(from.fiber, to.fiber);
    asm volatile(WEFT_SAVE_RDI WEFT_LOAD_CONTROL_RSI            // from complete
                 "movb %%dl, (%%rcx)\n"                         // GONE: from
                 WEFT_OFF_STACK WEFT_CONTINUE_RSI WEFT_ON_STACK // to runs
                 "1: " WEFT_LANDING_PAD
                 : "+D"(f), "+S"(t), "+d"(value), "+c"(w)
                 :
                 : "rax", WEFT_SWITCH_CLOBBERS);
    sanitizer::after_switch(from.fiber);
  }
}

// As swap_with; if `arrive` returns false, `to` stays suspended and the caller continues (then the result is
// false). The result is true when somebody resumed the caller. (cond_swap_context() of ComposableThreads.)
[[gnu::always_inline]] inline bool cond_swap(context& from, context& to, conditional_function arrive,
                                             void* argument) noexcept {
  void* f = &from;
  void* t = &to;
  bool cancelled = false;
  sanitizer::before_switch(from.fiber, to.fiber);
  // r12: from, for the way back. r13: whether the FP control words differ; from may be gone when that
  // matters.
  asm volatile(WEFT_SAVE_RDI "movq %%rdi, %%r12\n" WEFT_OFF_STACK WEFT_BORROW_STACK_RSI
                             "movl 24(%%rdi), %%r13d\n"
                             "xorl 24(%%rsi), %%r13d\n"
                             "andl $-64, %%r13d\n"
                             "movzwl 28(%%rdi), %%eax\n"
                             "xorw 28(%%rsi), %%ax\n"
                             "orl %%eax, %%r13d\n" WEFT_ARRIVE "testb %%al, %%al\n"
                             "je 6f\n"
                             "testl %%r13d, %%r13d\n"
                             "jne 8f\n"
                             "9:\n" WEFT_CONTINUE_RSI ".subsection 1\n"
                             "8: movl 24(%%rsi), %%eax\n"
                             "stmxcsr 24(%%rsi)\n"
                             "xorl 24(%%rsi), %%eax\n"
                             "andl $-64, %%eax\n"
                             "xorl %%eax, 24(%%rsi)\n"
                             "ldmxcsr 24(%%rsi)\n"
                             "fldcw 28(%%rsi)\n"
                             "jmp 9b\n"
                             ".previous\n"
                             "6: movq (%%r12), %%rsp\n" WEFT_ON_STACK "movl $1, %%eax\n"
                             "jmp 7f\n"
                             "1: " WEFT_LANDING_PAD "xorl %%eax, %%eax\n"
                             "7:\n"
               : "+D"(f), "+S"(t), "+d"(arrive), "+c"(argument), "=a"(cancelled)
               :
               : WEFT_SWITCH_CLOBBERS);
  if (cancelled) {
    sanitizer::cancelled_switch(from.fiber);
  } else {
    sanitizer::after_switch(from.fiber);
  }
  return !cancelled;
}

// Abandons the running context and continues `to`.
[[noreturn, gnu::always_inline]] inline void restore(context& to) noexcept {
  alignas(8) unsigned char scratch[sizeof(void*) * 4];
  void* f = scratch;
  void* t = &to;
  sanitizer::before_last_switch(to.fiber);
  asm volatile("stmxcsr 24(%%rdi)\n"
               "fnstcw 28(%%rdi)\n" WEFT_LOAD_CONTROL_RSI WEFT_OFF_STACK WEFT_CONTINUE_RSI WEFT_ON_STACK
               : "+D"(f), "+S"(t)
               :
               : "rax", "memory", "cc");
  __builtin_unreachable();
}

// As restore, but runs `arrive(argument)` on the stack of `to` first: the abandoned stack is free by then.
[[noreturn, gnu::always_inline]] inline void restore_with(context& to, arrival_function arrive,
                                                          void* argument) noexcept {
  alignas(8) unsigned char scratch[sizeof(void*) * 4];
  void* f = scratch;
  void* t = &to;
  sanitizer::before_last_switch(to.fiber);
  asm volatile("stmxcsr 24(%%rdi)\n"
               "fnstcw 28(%%rdi)\n" WEFT_OFF_STACK WEFT_BORROW_STACK_RSI WEFT_LOAD_CONTROL_RSI WEFT_ARRIVE
                   WEFT_CONTINUE_RSI WEFT_ON_STACK
               : "+D"(f), "+S"(t), "+d"(arrive), "+c"(argument)
               :
               : "rax", "rbx", "memory", "cc");
  __builtin_unreachable();
}

// Leaves the running context in `from` and starts `entry(argument)` on the fresh stack [top - size, top),
// where `top` is a multiple of 16. `entry` must not return. By a jump, so that the caller's own return still
// matches its call. `fresh` becomes the context of what runs there: `entry` and all it calls pass it as
// `from`.
[[gnu::always_inline]] inline void save(context& from, context& fresh, void* top, std::size_t size,
                                        entry_function entry, void* argument) noexcept {
  void* f = &from;
  sanitizer::create_fiber(fresh.fiber, top, size);
  sanitizer::before_switch(from.fiber, fresh.fiber);
  asm volatile(WEFT_SAVE_RDI "movq weft_arch_thread_return@GOTPCREL(%%rip), %%rax\n"
                             "movq %%rax, -8(%%rsi)\n"
                             "movq %%rcx, %%rdi\n" WEFT_OFF_STACK "leaq -8(%%rsi), %%rsp\n"
                             "xorl %%ebp, %%ebp\n"
                             "jmpq *%%rdx\n" WEFT_ON_STACK "1: " WEFT_LANDING_PAD
               : "+D"(f), "+S"(top), "+d"(entry), "+c"(argument)
               :
               : "rax", WEFT_SWITCH_CLOBBERS);
  sanitizer::after_switch(from.fiber);
}

// Abandons the running context and starts `entry(argument)` on [top - size, top), which may be the very stack
// the caller runs on. The FP control words stay as they are.
[[noreturn, gnu::always_inline]] inline void begin(context& fresh, void* top, std::size_t size,
                                                   entry_function entry, void* argument) noexcept {
  sanitizer::create_fiber(fresh.fiber, top, size);
  sanitizer::before_last_switch(fresh.fiber);
  asm volatile("movq weft_arch_thread_return@GOTPCREL(%%rip), %%rax\n" WEFT_OFF_STACK
               "leaq -8(%%rsi), %%rsp\n"
               "movq %%rax, (%%rsp)\n"
               "movq %%rcx, %%rdi\n"
               "xorl %%ebp, %%ebp\n"
               "jmpq *%%rdx\n" WEFT_ON_STACK
               : "+S"(top), "+d"(entry), "+c"(argument)
               :
               : "rax", "rdi", "memory");
  __builtin_unreachable();
}

// Prepares `fresh` so that the first switch to it runs `entry(argument)` on [top - size, top), with the FP
// control words of the caller of make.
WEFT_API void make(context& fresh, void* top, std::size_t size, entry_function entry,
                   void* argument) noexcept;

// Calls `function(argument)` on the free part of the stack of the suspended context `below`: a plain call and
// return, so the function may neither switch nor throw. For tasklets.
[[gnu::always_inline]] inline void call_on(context& below, entry_function function, void* argument) noexcept {
  const sanitizer::borrow_stack borrowed(below.fiber);
  void* t = &below;
  asm volatile("movq %%rsp, %%rbx\n" WEFT_OFF_STACK WEFT_BORROW_STACK_RSI
               "cmpq (%%rsi), %%rsp\n" WEFT_SKIP_RED_ZONE "callq *%%rdx\n"
               "movq %%rbx, %%rsp\n" WEFT_ON_STACK
               : "+S"(t), "+d"(function), "+D"(argument)
               :
               : "rax", "rcx", "rbx", WEFT_CALL_CLOBBERS);
}

// Whether call_marked() may be left through its mark here: a sanitizer would have to be told that frames go.
// clang before 17 knows nothing of what asm leaves in registers for the label that it jumps to.
#if defined(__clang__) && __clang_major__ < 17
inline constexpr bool has_marks = false;
[[gnu::always_inline]] inline bool call_marked(context*&, void*&, entry_function, void*) noexcept {
  __builtin_trap();
}
[[gnu::always_inline]] inline bool call_marked_on(context*&, void*&, void*, entry_function, void*) noexcept {
  __builtin_trap();
}
#else
inline constexpr bool has_marks = !sanitizer::watches_frames;

// What both marked calls are made of; rbx: the mark, r12: `kept`.
//
// The mark's sp is that of the call, below the red zone. There stands what a jump to the mark has to find
// again, when only rsp, rbp and rsi (the context that is continued, in every form of the switch) are known,
// and whoever borrows the mark's stack steps below it: `kept`, and sp as it was. After a return the first is
// free: there is room to look at MXCSR, which tells of both FP control words (fp_control, quickly).
#define WEFT_LEAVE_MARK                                                                                      \
  "movq %%rsp, %%rcx\n"                                                                                      \
  "leaq 1f(%%rip), %%rax\n" WEFT_OFF_STACK "addq $-144, %%rsp\n"                                             \
  "andq $-16, %%rsp\n"                                                                                       \
  "movq %%r12, (%%rsp)\n"                                                                                    \
  "movq %%rcx, 8(%%rsp)\n"                                                                                   \
  "movq %%rsp, (%%rbx)\n"                                                                                    \
  "movq %%rbp, 8(%%rbx)\n"                                                                                   \
  "movq %%rax, 16(%%rbx)\n"                                                                                  \
  "stmxcsr 24(%%rbx)\n"                                                                                      \
  "fnstcw 28(%%rbx)\n"
#define WEFT_BACK_AT_MARK                                                                                    \
  "stmxcsr (%%rsp)\n"                                                                                        \
  "movl (%%rsp), %%eax\n"                                                                                    \
  "xorl 24(%%rbx), %%eax\n"                                                                                  \
  "testl $-64, %%eax\n"                                                                                      \
  "jne 2f\n"                                                                                                 \
  "5: movq 8(%%rsp), %%rsp\n" WEFT_ON_STACK ".subsection 1\n"                                                \
  "2: andl $-64, %%eax\n"                                                                                    \
  "xorl %%eax, (%%rsp)\n"                                                                                    \
  "ldmxcsr (%%rsp)\n"                                                                                        \
  "fldcw 28(%%rbx)\n"                                                                                        \
  "jmp 5b\n"                                                                                                 \
  "1: " WEFT_LANDING_PAD "movq %%rsi, %%rbx\n"                                                               \
  "movq (%%rsp), %%r12\n"                                                                                    \
  "movq 8(%%rsp), %%rsp\n"                                                                                   \
  "jmp %l[abandoned]\n"                                                                                      \
  ".previous\n"

// Calls `function(argument)` on the caller's own stack. Meanwhile `mark` is a context that continues where
// the call returns: restore(mark) or a switch to it abandons the call, from any depth and on any kernel
// thread. The mark goes when the call ends. True: the function returned; false: it was abandoned. `mark` and
// `kept` are in registers then. FP control is the caller's afterwards. An unwinder finds the end of the stack
// here, as below a function that was started on one: `function` must not throw.
[[gnu::always_inline]] inline bool call_marked(context*& mark, void*& kept, entry_function function,
                                               void* argument) noexcept {
  context* m = mark;
  register void* k asm("r12") = kept;
  asm goto(WEFT_LEAVE_MARK "callq *%%rdx\n" WEFT_BACK_AT_MARK
           : "+b"(m), "+r"(k), "+d"(function), "+D"(argument)
           :
           : "rax", "rcx", "rsi", "r13", "r14", "r15", WEFT_CALL_CLOBBERS
           : abandoned);
  mark = m;
  kept = k;
  return true;
abandoned:
  mark = m;
  kept = k;
  return false;
}

// The same on the fresh stack that ends at `top`, a multiple of 16. A switch to the mark does not abandon the
// call: the function may go on on its stack, but must not return then.
[[gnu::always_inline]] inline bool call_marked_on(context*& mark, void*& kept, void* top,
                                                  entry_function function, void* argument) noexcept {
  context* m = mark;
  register void* k asm("r12") = kept;
  asm goto(WEFT_LEAVE_MARK "movq %%rsi, %%rsp\n"
                           "callq *%%rdx\n"
                           "movq (%%rbx), %%rsp\n" WEFT_BACK_AT_MARK
           : "+b"(m), "+r"(k), "+d"(function), "+D"(argument), "+S"(top)
           :
           : "rax", "rcx", "r13", "r14", "r15", WEFT_CALL_CLOBBERS
           : abandoned);
  mark = m;
  kept = k;
  return true;
abandoned:
  mark = m;
  kept = k;
  return false;
}
#endif

// Calls `function(argument)` on the fresh stack that ends at `top`, a multiple of 16; nothing of the caller
// is saved, so it cannot be continued before the function returns. Not where has_marks is false.
[[gnu::always_inline]] inline void call_on_fresh(void* top, entry_function function,
                                                 void* argument) noexcept {
  asm volatile("movq %%rsp, %%rbx\n" WEFT_OFF_STACK "movq %%rsi, %%rsp\n"
               "callq *%%rdx\n"
               "movq %%rbx, %%rsp\n" WEFT_ON_STACK
               : "+S"(top), "+d"(function), "+D"(argument)
               :
               : "rax", "rcx", "rbx", WEFT_CALL_CLOBBERS);
}

// Whether `c` is the mark of a call that may be going on: such a context must stay where it is, for the call
// reads it when it returns, and who continues it is told its address. By the code behind it, which all marks
// have.
[[nodiscard]] inline bool is_mark(const context& c) noexcept {
  // movq %rsi, %rbx; movq (%rsp), %r12; movq 8(%rsp), %rsp
  constexpr unsigned char behind[] = {0x48, 0x89, 0xf3, 0x4c, 0x8b, 0x24, 0x24, 0x48, 0x8b, 0x64, 0x24, 0x08};
  const auto* code = static_cast<const unsigned char*>(c.resume) + (sizeof WEFT_LANDING_PAD > 1 ? 4 : 0);
  return c.resume != nullptr && std::memcmp(code, behind, sizeof behind) == 0;
}

// A word of a context that nobody may continue, for the owner's use.
inline void*& idle_word(context& idle) noexcept {
  return idle.sp;
}

// The FP control words of the running code, to come back to. Changes nothing if they are the same; the flags
// of MXCSR are neither compared nor changed.
//
// `quickly`, for calls on the joiner's stack: looks at MXCSR alone, and loads both if that differs. <cfenv>
// changes both; only a change of the x87 word by itself, by an instruction of the user's, is missed.
class fp_control {
 public:
  [[gnu::always_inline]] fp_control() noexcept { store(mxcsr_, x87_); }
  [[gnu::always_inline]] void restore() const noexcept { fp_control().become(mxcsr_, x87_); }
  [[gnu::always_inline]] void restore_quickly() const noexcept {
    std::uint32_t now;
    asm volatile("stmxcsr %0" : "=m"(now));
    if (differ(now, mxcsr_)) [[unlikely]]
      load(mxcsr_, x87_);
  }
  // Gives the running code, whose control this is, what keep_in(fresh) stored.
  [[gnu::always_inline]] void become_that_of(const context& fresh) const noexcept {
    become(fresh.mxcsr, fresh.x87_cw);
  }
  [[gnu::always_inline]] void become_that_of_quickly(const context& fresh) const noexcept {
    if (differ(mxcsr_, fresh.mxcsr)) [[unlikely]]
      load(fresh);
  }
  // Whether that would change anything for the running code.
  [[gnu::always_inline]] static bool differs_from(const context& fresh) noexcept {
    std::uint32_t now;
    asm volatile("stmxcsr %0" : "=m"(now));
    return differ(now, fresh.mxcsr);
  }
  // Stores the caller's in a context that nobody may continue.
  [[gnu::always_inline]] static void keep_in(context& idle) noexcept { store(idle.mxcsr, idle.x87_cw); }

 private:
  [[gnu::always_inline]] static void store(std::uint32_t& mxcsr, std::uint16_t& x87) noexcept {
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
  }
  // But for the flags, the six low bits. In asm: a compiler would keep both for load(), which nobody calls.
  [[gnu::always_inline]] static bool differ(const std::uint32_t& a, const std::uint32_t& b) noexcept {
    asm goto("movl %0, %%eax\n\txorl %1, %%eax\n\ttestl $-64, %%eax\n\tjne %l2"
             :
             : "m"(a), "m"(b)
             : "rax", "cc"
             : yes);
    return false;
  yes:
    return true;
  }
  [[gnu::always_inline]] void become(const std::uint32_t& mxcsr, const std::uint16_t& x87) const noexcept {
    if (differ(mxcsr_, mxcsr) || x87_ != x87) [[unlikely]]
      load(mxcsr, x87);
  }
  [[gnu::cold, gnu::noinline]] static void load(const std::uint32_t& to, const std::uint16_t& x87) noexcept {
    std::uint32_t mxcsr;
    asm volatile("stmxcsr %0" : "=m"(mxcsr));
    mxcsr = (to & ~63U) | (mxcsr & 63U);
    asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(x87));
  }
  [[gnu::cold, gnu::noinline]] static void load(const context& c) noexcept { load(c.mxcsr, c.x87_cw); }
  std::uint32_t mxcsr_;
  std::uint16_t x87_;
};

// The low half of the stack pointer with bit 0 set, never 0: tells whose stack the caller is on, to a
// debugger that knows all stacks. One instruction, so whoever stores a constant may store this instead.
[[gnu::always_inline]] inline std::uint32_t stack_mark() noexcept {
  std::uint32_t mark;
  asm("leal 1(%%rsp), %0" : "=r"(mark));
  return mark;
}

// Whether the caller's frame is above `floor`, all of it. Costs the caller no frame pointer.
[[gnu::always_inline]] inline bool stack_is_above(const std::byte* const& floor) noexcept {
  bool above;
  asm volatile("cmpq %1, %%rsp" : "=@cca"(above) : "m"(floor));
  return above;
}

// Bytes from `floor` up to the caller's frame; at most 0 if that is below.
[[gnu::always_inline]] inline std::ptrdiff_t stack_above(const std::byte* floor) noexcept {
  const std::byte* sp;
  asm volatile("movq %%rsp, %0" : "=r"(sp));
  return reinterpret_cast<std::intptr_t>(sp) - reinterpret_cast<std::intptr_t>(floor);
}

// Whether `value` is 0, without the compiler's knowing what it is then: a function that returns it would load
// the constant into the very register that holds it.
[[gnu::always_inline]] inline bool is_zero(std::uint32_t value) noexcept {
  bool zero;
  asm("testl %1, %1" : "=@ccz"(zero) : "r"(value));
  return zero;
}

// Takes one from `count`; whether it is below zero then. Two instructions, where gcc may take five.
[[gnu::always_inline]] inline bool count_down(std::int32_t& count) noexcept {
  bool negative;
  asm("subl $1, %0" : "+m"(count), "=@ccs"(negative));
  return negative;
}
// The same for a word that the caller alone counts with. What others store at this very moment may be lost.
[[gnu::always_inline]] inline bool count_down(std::atomic<std::int32_t>& count) noexcept {
  bool negative;
  asm("subl $1, %0" : "+m"(count), "=@ccs"(negative));
  return negative;
}

// Does this kernel thread run with a user shadow stack (CET)? The switch does not follow one: the first `ret`
// after a switch would fault. Whoever starts a worker asks, and refuses. SIGNAL-SAFE. (rdssp is a
// no-operation elsewhere.)
inline bool shadow_stack_active() noexcept {
  std::uint64_t pointer = 0;
  asm volatile("rdsspq %0" : "+r"(pointer));
  return pointer != 0;
}

[[gnu::always_inline]] inline void relax() noexcept {
  asm volatile("pause" ::: "memory");
}

// Time stamp counter; its unit is the CPU's own.
[[gnu::always_inline]] inline std::uint64_t ticks() noexcept {
  return __builtin_ia32_rdtsc();
}

// Exports `inner`, an extern "C" function with the default calling convention, under the name of a C function
// that switches: called on one stack and returning on another, its `ret` would be predicted wrongly. The
// inner function returns to one place whatever the stack, so that is predicted; the way back to the caller is
// an indirect jump.
#define WEFT_EXPORT_SWITCHING(name, inner)                                                                   \
  asm(".pushsection .text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"           \
      ".cfi_startproc\n" WEFT_LANDING_PAD "subq $8, %rsp\n.cfi_adjust_cfa_offset 8\n"                        \
      "call " #inner "\n"                                                                                    \
      "addq $8, %rsp\n.cfi_adjust_cfa_offset -8\n"                                                           \
      "popq %rcx\n.cfi_adjust_cfa_offset -8\n.cfi_register %rip, %rcx\n"                                     \
      "notrack jmpq *%rcx\n"                                                                                 \
      ".cfi_endproc\n.size " #name ", . - " #name "\n.popsection\n")

// Reads a pointer-sized thread-local, opaque to the compiler: it must cache neither the value nor the address
// across a switch. `symbol`: declared extern "C" at namespace scope, initial-exec.
#define WEFT_READ_TLS(result, symbol)                                                                        \
  asm volatile("movq " #symbol "@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(result))

} // namespace weft::arch

#include "weft/arch/swap_and_return.hpp"
