// SPDX-License-Identifier: MIT
// The switch on ppc64le (ELFv2, POWER8 or newer, Linux). A context is five words in the descriptor, never on
// the stack, as on x86-64. The contract of every function stands in weft/arch/README.md; what this port saves
// and why, in docs/design/switch.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/arch/publication.hpp"
#include "weft/arch/sanitizer.hpp"
#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"

// Registers that a call may change, and those that only a switch changes; r3 to r6 are operands or named
// where they are none. r1, r2 and r31 cannot be named: every form here leaves r1 as it was, and saves r31
// (the frame pointer where there is one) and r2, the TOC pointer: whoever continues a context may be in
// another module. r13 is the kernel thread's. A call keeps f14 to f31, but not the other halves of the vector
// registers they are part of, and the compiler cannot be told of halves.
#define WEFT_CALL_CLOBBERS                                                                                   \
  "r0", "r7", "r8", "r9", "r10", "r11", "r12", "fr0", "fr1", "fr2", "fr3", "fr4", "fr5", "fr6", "fr7",       \
      "fr8", "fr9", "fr10", "fr11", "fr12", "fr13", "fr14", "fr15", "fr16", "fr17", "fr18", "fr19", "fr20",  \
      "fr21", "fr22", "fr23", "fr24", "fr25", "fr26", "fr27", "fr28", "fr29", "fr30", "fr31", "v0", "v1",    \
      "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",       \
      "v17", "v18", "v19", "cr0", "cr1", "cr5", "cr6", "cr7", "lr", "ctr", "xer", "memory"
#define WEFT_SAVED_CLOBBERS                                                                                  \
  "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28",   \
      "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cr2", "cr3",      \
      "cr4"
#define WEFT_SWITCH_CLOBBERS "r29", "r30", WEFT_SAVED_CLOBBERS, WEFT_CALL_CLOBBERS

// While the stack pointer is not that of the enclosing function its unwind rules do not hold: a walk ends
// there. Where functions have no rules at all: define WEFT_NO_SWITCH_CFI.
#if defined(__GCC_HAVE_DWARF2_CFI_ASM) && !defined(WEFT_NO_SWITCH_CFI)
#define WEFT_OFF_STACK ".cfi_remember_state\n.cfi_undefined lr\n"
#define WEFT_ON_STACK ".cfi_restore_state\n"
#else
#define WEFT_OFF_STACK ""
#define WEFT_ON_STACK ""
#endif

// gcc neither lets r30 be named nor says who keeps it where code addresses by the program counter.
#if defined(__PCREL__)
#error "Weft's switch needs the TOC pointer: compile with -mno-pcrel, or configure with -DWEFT_ARCH=portable"
#endif

// What is addressed by the TOC pointer. Whoever uses these says so by WEFT_TOC_OPERAND: a function that uses
// no TOC pointer is not given one.
#define WEFT_RESUME_TO_R11                                                                                   \
  "addis 11, 2, 1f@toc@ha\n"                                                                                 \
  "addi 11, 11, 1f@toc@l\n"
#define WEFT_THREAD_RETURN_TO_R11                                                                            \
  "addis 11, 2, weft_arch_thread_return@got@ha\n"                                                            \
  "ld 11, weft_arch_thread_return@got@l(11)\n"
#if defined(__clang__) // which says otherwise that nobody has given it a value
#define WEFT_TOC_OPERAND                                                                                     \
  _Pragma("clang diagnostic push")                                                                           \
      _Pragma("clang diagnostic ignored \"-Wuninitialized\"") register void* toc asm("r2") = toc;            \
  _Pragma("clang diagnostic pop") static_assert(true)
#else
#define WEFT_TOC_OPERAND register void* toc asm("r2")
#endif

// FP control, in eleven bits: rounding mode, non-IEEE mode and what traps, from the low byte of FPSCR, and
// the decimal rounding mode below. The flags and the class of the last result are left out. mffsl, by its
// number since only POWER9 has it, is mffs on older CPUs. Changes f0 and r9.
#define WEFT_READ_CONTROL(to)                                                                                \
  ".long 0xfc18048e\n"                                                                                       \
  "mfvsrd 9, 0\n"                                                                                            \
  "rldicl " to ", 9, 32, 61\n"                                                                               \
  "rldimi " to ", 9, 3, 53\n"

// The way back. `scratch` may not be `from`.
#define WEFT_WRITE_CONTROL(from, scratch)                                                                    \
  "rldicl " scratch ", " from ", 61, 56\n"                                                                   \
  "rldimi " scratch ", " from ", 32, 29\n"                                                                   \
  "mtvsrd 0, " scratch "\n"                                                                                  \
  "mtfsf 3, 0\n"                                                                                             \
  "mtfsf 1, 0, 0, 1\n"

// Saves r1, r31, resume address, r2 and FP control of the running context into (r3). Leaves the last in r10.
#define WEFT_SAVE                                                                                            \
  WEFT_READ_CONTROL("10")                                                                                    \
  WEFT_RESUME_TO_R11                                                                                         \
  "std 1, 0(3)\n"                                                                                            \
  "std 31, 8(3)\n"                                                                                           \
  "std 11, 16(3)\n"                                                                                          \
  "std 2, 24(3)\n"                                                                                           \
  "std 10, 32(3)\n"

// Loads FP control from 32(context) if it differs from r10. Changes r9 and r10. In place: a conditional
// branch reaches no further than 32 KiB, and the end of the section may be further.
#define WEFT_LOAD_CONTROL_FROM(context)                                                                      \
  "ld 9, 32(" context ")\n"                                                                                  \
  "cmpld 9, 10\n"                                                                                            \
  "beq+ 3f\n" WEFT_WRITE_CONTROL("9", "10") "3:\n"
#define WEFT_LOAD_CONTROL WEFT_LOAD_CONTROL_FROM("4")

// Continues the context in (r4), which call_marked() finds there. By the count register: a jump by the link
// register would be taken for a return.
#define WEFT_CONTINUE                                                                                        \
  "ld 0, 16(4)\n"                                                                                            \
  "mtctr 0\n"                                                                                                \
  "ld 2, 24(4)\n"                                                                                            \
  "ld 31, 8(4)\n"                                                                                            \
  "ld 1, 0(4)\n"                                                                                             \
  "bctr\n"

// To call a function on the stack of the suspended context in (r4): below its red zone of 288 bytes a frame
// of 32, with back chain, for the callee to save in.
#define WEFT_BORROW_STACK                                                                                    \
  "ld 1, 0(4)\n"                                                                                             \
  "stdu 1, -320(1)\n"

// Calls (r5) with the argument that is in r3. A function finds its own address in r12. r2 is gone then.
#define WEFT_CALL                                                                                            \
  "mr 12, 5\n"                                                                                               \
  "mtctr 12\n"                                                                                               \
  "bctrl\n"

// Calls r5(r6) there. Keeps r4 in r30.
#define WEFT_ARRIVE                                                                                          \
  "mr 30, 4\n"                                                                                               \
  "mr 3, 6\n" WEFT_CALL "mr 4, 30\n"

// Starts r5(r6) on the stack that ends at (r4), with a last frame for it to save in. The return address comes
// by the global offset table: the address of the function itself, never of a stub that stands for it.
#define WEFT_START                                                                                           \
  WEFT_THREAD_RETURN_TO_R11                                                                                  \
  "mtlr 11\n"                                                                                                \
  "mr 12, 5\n"                                                                                               \
  "mtctr 12\n"                                                                                               \
  "mr 3, 6\n"                                                                                                \
  "li 0, 0\n"                                                                                                \
  "std 0, -32(4)\n"                                                                                          \
  "li 31, 0\n"                                                                                               \
  "addi 1, 4, -32\n"                                                                                         \
  "bctr\n"

namespace weft::arch {

inline constexpr const char* port_name = "ppc64le";
inline constexpr std::size_t cache_line = 128;

// Not saved, on purpose: the thread pointer (a thread migrates between kernel threads) and the signal mask.
struct context {
  void* sp;              // 0   r1
  void* fp;              // 8   r31
  void* resume;          // 16
  void* toc;             // 24  r2
  std::uint64_t control; // 32  see WEFT_READ_CONTROL
  [[no_unique_address]] sanitizer::fiber fiber;
};
static_assert(offsetof(context, sp) == 0 && offsetof(context, fp) == 8 && offsetof(context, resume) == 16);
static_assert(offsetof(context, toc) == 24 && offsetof(context, control) == 32);

// For debuggers: a suspended context can be walked from its sp, fp, resume, and what DWARF calls the first
// two.
inline constexpr bool has_walkable_contexts = true;
inline constexpr unsigned dwarf_sp = 1;
inline constexpr unsigned dwarf_fp = 31;

// Asked only where threads can be preempted, which is not here.
[[nodiscard]] inline bool is_mark(const context&) noexcept {
  return false;
}

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
  sanitizer::before_switch(from.fiber, to.fiber);
  register void* f asm("r3") = &from;
  register void* t asm("r4") = &to;
  WEFT_TOC_OPERAND;
  asm volatile(WEFT_SAVE WEFT_LOAD_CONTROL                    // from complete
                   WEFT_OFF_STACK WEFT_CONTINUE WEFT_ON_STACK // to runs
               "1:\n"
               : "+r"(f), "+r"(t)
               : "r"(toc)
               : "r5", "r6", WEFT_SWITCH_CLOBBERS);
  sanitizer::after_switch(from.fiber);
}

// As swap, but runs `arrive(argument)` on the stack of `to` before `to` continues. By then `from` is
// complete, so `arrive` may publish it, by a release store; after that call nothing here touches `from`
// again. `arrive` must not throw and must not switch.
[[gnu::always_inline]] inline void swap_with(context& from, context& to, arrival_function arrive,
                                             void* argument) noexcept {
  sanitizer::before_switch(from.fiber, to.fiber);
  register void* f asm("r3") = &from;
  register void* t asm("r4") = &to;
  register arrival_function a asm("r5") = arrive;
  register void* x asm("r6") = argument;
  WEFT_TOC_OPERAND;
  asm volatile(WEFT_SAVE WEFT_OFF_STACK WEFT_BORROW_STACK WEFT_LOAD_CONTROL // from complete
                   WEFT_ARRIVE WEFT_CONTINUE WEFT_ON_STACK                  // GONE: from, inside arrive
               "1:\n"
               : "+r"(f), "+r"(t), "+r"(a), "+r"(x)
               : "r"(toc)
               : WEFT_SWITCH_CLOBBERS);
  sanitizer::after_switch(from.fiber);
}

// As swap; once `from` is complete, stores `value` to `word`, with release, by which others may learn that it
// can be continued. Where a sanitizer must see the store, an arrival makes it.
[[gnu::always_inline]] inline void
swap_publishing(context& from, context& to, base::atomic<std::uint8_t>& word, std::uint8_t value) noexcept {
  if constexpr (sanitizer::watches_atomics) {
    publication p{&word, value};
    swap_with(from, to, &publication::store, &p);
  } else {
    sanitizer::before_switch(from.fiber, to.fiber);
    register void* f asm("r3") = &from;
    register void* t asm("r4") = &to;
    register std::uint64_t v asm("r5") = value;
    register void* w asm("r6") = &word;
    WEFT_TOC_OPERAND;
    asm volatile(WEFT_SAVE WEFT_LOAD_CONTROL // from complete
                 "lwsync\n"
                 "stb 5, 0(6)\n"                            // GONE: from
                 WEFT_OFF_STACK WEFT_CONTINUE WEFT_ON_STACK // to runs
                 "1:\n"
                 : "+r"(f), "+r"(t), "+r"(v), "+r"(w)
                 : "r"(toc)
                 : WEFT_SWITCH_CLOBBERS);
    sanitizer::after_switch(from.fiber);
  }
}

// As swap_with; if `arrive` returns false, `to` stays suspended and the caller continues (then the result is
// false). The result is true when somebody resumed the caller. (cond_swap_context() of ComposableThreads.)
[[gnu::always_inline]] inline bool cond_swap(context& from, context& to, conditional_function arrive,
                                             void* argument) noexcept {
  sanitizer::before_switch(from.fiber, to.fiber);
  register std::uint64_t f asm("r3") = reinterpret_cast<std::uint64_t>(&from);
  register void* t asm("r4") = &to;
  register conditional_function a asm("r5") = arrive;
  register void* x asm("r6") = argument;
  WEFT_TOC_OPERAND;
  // r29, r28: r1 and r2, for the way back. r27: FP control as it is; from may be gone when that matters.
  asm volatile(WEFT_SAVE "mr 29, 1\n"
                         "mr 28, 2\n"
                         "mr 27, 10\n" WEFT_OFF_STACK WEFT_BORROW_STACK WEFT_ARRIVE "andi. 0, 3, 1\n"
                         "beq 6f\n"
                         "mr 10, 27\n" WEFT_LOAD_CONTROL WEFT_CONTINUE "6: mr 2, 28\n"
                         "mr 1, 29\n" WEFT_ON_STACK "li 3, 1\n"
                         "b 7f\n"
                         "1: li 3, 0\n"
                         "7:\n"
               : "+r"(f), "+r"(t), "+r"(a), "+r"(x)
               : "r"(toc)
               : WEFT_SWITCH_CLOBBERS);
  const bool cancelled = f != 0;
  if (cancelled) {
    sanitizer::cancelled_switch(from.fiber);
  } else {
    sanitizer::after_switch(from.fiber);
  }
  return !cancelled;
}

// Abandons the running context and continues `to`.
[[noreturn, gnu::always_inline]] inline void restore(context& to) noexcept {
  sanitizer::before_last_switch(to.fiber);
  register void* t asm("r4") = &to;
  asm volatile(WEFT_READ_CONTROL("10") WEFT_LOAD_CONTROL WEFT_OFF_STACK WEFT_CONTINUE WEFT_ON_STACK
               :
               : "r"(t)
               : "r0", "r9", "r10", "fr0", "ctr", "memory", "cr0");
  __builtin_unreachable();
}

// As restore, but runs `arrive(argument)` on the stack of `to` first: the abandoned stack is free by then.
[[noreturn, gnu::always_inline]] inline void restore_with(context& to, arrival_function arrive,
                                                          void* argument) noexcept {
  sanitizer::before_last_switch(to.fiber);
  register void* t asm("r4") = &to;
  register arrival_function a asm("r5") = arrive;
  register void* x asm("r6") = argument;
  asm volatile(WEFT_READ_CONTROL("10")
                   WEFT_OFF_STACK WEFT_BORROW_STACK WEFT_LOAD_CONTROL WEFT_ARRIVE WEFT_CONTINUE WEFT_ON_STACK
               :
               : "r"(t), "r"(a), "r"(x)
               : "r0", "r3", "r9", "r10", "r12", "r30", "fr0", "lr", "ctr", "memory", "cr0");
  __builtin_unreachable();
}

// Leaves the running context in `from` and starts `entry(argument)` on the fresh stack [top - size, top),
// where `top` is a multiple of 16. `entry` must not return. `fresh` becomes the context of what runs there:
// `entry` and all it calls pass it as `from`.
[[gnu::always_inline]] inline void save(context& from, context& fresh, void* top, std::size_t size,
                                        entry_function entry, void* argument) noexcept {
  sanitizer::create_fiber(fresh.fiber, top, size);
  sanitizer::before_switch(from.fiber, fresh.fiber);
  register void* f asm("r3") = &from;
  register void* t asm("r4") = top;
  register entry_function e asm("r5") = entry;
  register void* x asm("r6") = argument;
  WEFT_TOC_OPERAND;
  asm volatile(WEFT_SAVE WEFT_OFF_STACK WEFT_START WEFT_ON_STACK "1:\n"
               : "+r"(f), "+r"(t), "+r"(e), "+r"(x)
               : "r"(toc)
               : WEFT_SWITCH_CLOBBERS);
  sanitizer::after_switch(from.fiber);
}

// Abandons the running context and starts `entry(argument)` on [top - size, top), which may be the very stack
// the caller runs on. FP control stays as it is.
[[noreturn, gnu::always_inline]] inline void begin(context& fresh, void* top, std::size_t size,
                                                   entry_function entry, void* argument) noexcept {
  sanitizer::create_fiber(fresh.fiber, top, size);
  sanitizer::before_last_switch(fresh.fiber);
  register void* t asm("r4") = top;
  register entry_function e asm("r5") = entry;
  register void* x asm("r6") = argument;
  WEFT_TOC_OPERAND;
  asm volatile(WEFT_OFF_STACK WEFT_START WEFT_ON_STACK
               :
               : "r"(t), "r"(e), "r"(x), "r"(toc)
               : "r0", "r3", "r11", "r12", "lr", "ctr", "memory");
  __builtin_unreachable();
}

// Prepares `fresh` so that the first switch to it runs `entry(argument)` on [top - size, top), with the FP
// control of the caller of make.
WEFT_API void make(context& fresh, void* top, std::size_t size, entry_function entry,
                   void* argument) noexcept;

// Calls `function(argument)` on the free part of the stack of the suspended context `below`: a plain call and
// return, so the function may neither switch nor throw. For tasklets.
[[gnu::always_inline]] inline void call_on(context& below, entry_function function, void* argument) noexcept {
  const sanitizer::borrow_stack borrowed(below.fiber);
  register void* x asm("r3") = argument;
  register void* t asm("r4") = &below;
  register entry_function e asm("r5") = function;
  asm volatile("mr 30, 1\n" WEFT_OFF_STACK WEFT_BORROW_STACK "std 2, 24(1)\n" WEFT_CALL "ld 2, 24(1)\n"
               "mr 1, 30\n" WEFT_ON_STACK
               : "+r"(x), "+r"(t), "+r"(e)
               :
               : "r6", "r30", WEFT_CALL_CLOBBERS);
}

// Whether call_marked() may be left through its mark here: a sanitizer would have to be told that frames go.
// clang before 17 knows nothing of what asm leaves in registers for the label that it jumps to.
#if defined(__clang__) && __clang_major__ < 17
inline constexpr bool has_marks = false;
#else
inline constexpr bool has_marks = !sanitizer::watches_frames;
#endif

// What both marked calls are made of; r30: the mark, r29: `kept`.
//
// The mark's sp is that of the call, below the red zone. There stands what a jump to the mark has to find
// again, when only r1, r2, r31 and r4 (the context that is continued, in every form of the switch) are known,
// and whoever borrows the mark's stack steps below it: `kept`.
#define WEFT_LEAVE_MARK                                                                                      \
  WEFT_READ_CONTROL("10")                                                                                    \
  WEFT_RESUME_TO_R11 WEFT_OFF_STACK "stdu 1, -336(1)\n"                                                      \
                                    "std 2, 24(1)\n"                                                         \
                                    "std 29, 32(1)\n"                                                        \
                                    "std 1, 0(30)\n"                                                         \
                                    "std 31, 8(30)\n"                                                        \
                                    "std 11, 16(30)\n"                                                       \
                                    "std 2, 24(30)\n"                                                        \
                                    "std 10, 32(30)\n"
#define WEFT_BACK_AT_MARK                                                                                    \
  "ld 2, 24(1)\n" WEFT_READ_CONTROL("10") WEFT_LOAD_CONTROL_FROM("30") "addi 1, 1, 336\n" WEFT_ON_STACK      \
                                                                       ".subsection 1\n"                     \
                                                                       "1: mr 30, 4\n"                       \
                                                                       "ld 29, 32(1)\n"                      \
                                                                       "addi 1, 1, 336\n"                    \
                                                                       "b %l[abandoned]\n"                   \
                                                                       ".previous\n"

// To a fresh stack that ends at (r4), with a last frame for the callee to save in.
#define WEFT_TO_FRESH_STACK                                                                                  \
  "li 0, 0\n"                                                                                                \
  "std 0, -32(4)\n"                                                                                          \
  "addi 1, 4, -32\n"                                                                                         \
  "std 2, 24(1)\n"

// Calls `function(argument)` on the caller's own stack. Meanwhile `mark` is a context that continues where
// the call returns: restore(mark) or a switch to it abandons the call, from any depth and on any kernel
// thread. The mark goes when the call ends. True: the function returned; false: it was abandoned. `mark` and
// `kept` are in registers then. FP control is the caller's afterwards. An unwinder finds the end of the stack
// here, as below a function that was started on one: `function` must not throw.
[[gnu::always_inline]] inline bool call_marked(context*& mark, void*& kept, entry_function function,
                                               void* argument) noexcept {
  register void* x asm("r3") = argument;
  register entry_function e asm("r5") = function;
  register context* m asm("r30") = mark;
  register void* k asm("r29") = kept;
  WEFT_TOC_OPERAND;
  asm goto(WEFT_LEAVE_MARK WEFT_CALL WEFT_BACK_AT_MARK
           : "+r"(m), "+r"(k), "+r"(e), "+r"(x)
           : "r"(toc)
           : "r4", "r6", WEFT_SAVED_CLOBBERS, WEFT_CALL_CLOBBERS
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
  register void* x asm("r3") = argument;
  register void* t asm("r4") = top;
  register entry_function e asm("r5") = function;
  register context* m asm("r30") = mark;
  register void* k asm("r29") = kept;
  WEFT_TOC_OPERAND;
  asm goto(WEFT_LEAVE_MARK WEFT_TO_FRESH_STACK WEFT_CALL "ld 1, 0(30)\n" WEFT_BACK_AT_MARK
           : "+r"(m), "+r"(k), "+r"(e), "+r"(x), "+r"(t)
           : "r"(toc)
           : "r6", WEFT_SAVED_CLOBBERS, WEFT_CALL_CLOBBERS
           : abandoned);
  mark = m;
  kept = k;
  return true;
abandoned:
  mark = m;
  kept = k;
  return false;
}

// Calls `function(argument)` on the fresh stack that ends at `top`, a multiple of 16; nothing of the caller
// is saved, so it cannot be continued before the function returns. Not where has_marks is false.
[[gnu::always_inline]] inline void call_on_fresh(void* top, entry_function function,
                                                 void* argument) noexcept {
  register void* x asm("r3") = argument;
  register void* t asm("r4") = top;
  register entry_function e asm("r5") = function;
  asm volatile("mr 30, 1\n" WEFT_OFF_STACK WEFT_TO_FRESH_STACK WEFT_CALL "ld 2, 24(1)\n"
               "mr 1, 30\n" WEFT_ON_STACK
               : "+r"(x), "+r"(t), "+r"(e)
               :
               : "r6", "r30", WEFT_CALL_CLOBBERS);
}

// A word of a context that nobody may continue, for the owner's use.
inline void*& idle_word(context& idle) noexcept {
  return idle.sp;
}

// The FP control of the running code, to come back to. Changes nothing if it is the same.
class fp_control {
 public:
  [[gnu::always_inline]] fp_control() noexcept : control_(now()) {}
  [[gnu::always_inline]] void restore() const noexcept {
    if (now() != control_) [[unlikely]]
      load(control_);
  }
  [[gnu::always_inline]] static std::uint64_t now() noexcept {
    std::uint64_t control;
    asm volatile(WEFT_READ_CONTROL("%0") : "=&r"(control) : : "r9", "fr0");
    return control;
  }
  static void load(std::uint64_t control) noexcept {
    asm volatile(WEFT_WRITE_CONTROL("%0", "9") : : "r"(control) : "r9", "fr0");
  }

  // Gives the running code, whose control this is, what keep_in(fresh) stored.
  [[gnu::always_inline]] void become_that_of(const context& fresh) const noexcept {
    if (control_ != fresh.control) [[unlikely]]
      load(fresh.control);
  }
  [[gnu::always_inline]] void restore_quickly() const noexcept { restore(); }
  [[gnu::always_inline]] void become_that_of_quickly(const context& fresh) const noexcept {
    become_that_of(fresh);
  }
  // Whether that would change anything for the running code.
  [[gnu::always_inline]] static bool differs_from(const context& fresh) noexcept {
    return now() != fresh.control;
  }
  // Stores the caller's in a context that nobody may continue.
  [[gnu::always_inline]] static void keep_in(context& idle) noexcept { idle.control = now(); }

 private:
  std::uint64_t control_;
};

// The low half of the stack pointer with bit 0 set, never 0: tells whose stack the caller is on, to a
// debugger that knows all stacks. One instruction, so whoever stores a constant may store this instead.
[[gnu::always_inline]] inline std::uint32_t stack_mark() noexcept {
  std::uint64_t mark;
  asm("addi %0, 1, 1" : "=r"(mark));
  return static_cast<std::uint32_t>(mark);
}

// Whether the caller's frame is above `floor`, all of it. Costs the caller no frame pointer.
[[gnu::always_inline]] inline bool stack_is_above(const std::byte* const& floor) noexcept {
  const std::byte* sp;
  asm volatile("mr %0, 1" : "=r"(sp));
  return sp > floor;
}

// Bytes from `floor` up to the caller's frame; at most 0 if that is below.
[[gnu::always_inline]] inline std::ptrdiff_t stack_above(const std::byte* floor) noexcept {
  const std::byte* sp;
  asm volatile("mr %0, 1" : "=r"(sp));
  return reinterpret_cast<std::intptr_t>(sp) - reinterpret_cast<std::intptr_t>(floor);
}

// Whether `value` is 0 (x86-64 has it in a form of its own).
[[gnu::always_inline]] inline bool is_zero(std::uint32_t value) noexcept {
  return value == 0;
}

// Takes one from `count`; whether it is below zero then.
[[gnu::always_inline]] inline bool count_down(std::int32_t& count) noexcept {
  return --count < 0;
}
// The same for a word that the caller alone counts with. What others store at this very moment may be lost.
[[gnu::always_inline]] inline bool count_down(std::atomic<std::int32_t>& count) noexcept {
  const std::int32_t left = count.load(std::memory_order_relaxed) - 1;
  count.store(left, std::memory_order_relaxed);
  return left < 0;
}

// No shadow stacks on this CPU. (-mrop-protect works across a switch: its hashes depend on where a frame is.)
inline bool shadow_stack_active() noexcept {
  return false;
}

// Lowers this hardware thread's priority for a moment, in favour of those it shares a core with.
[[gnu::always_inline]] inline void relax() noexcept {
  asm volatile("or 1, 1, 1\n\tor 2, 2, 2" ::: "memory");
}

// The time base; its unit is the machine's own.
[[gnu::always_inline]] inline std::uint64_t ticks() noexcept {
  return __builtin_ppc_get_timebase();
}

// Exports `inner`, an extern "C" function with the default calling convention, under the name of a C function
// that switches: called on one stack and returning on another, its return would be predicted wrongly. The
// inner function returns to one place whatever the stack, so that is predicted; the way back to the caller is
// by the count register.
#define WEFT_EXPORT_SWITCHING(name, inner)                                                                   \
  asm(".pushsection .text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"           \
      ".cfi_startproc\n9: addis 2, 12, .TOC.-9b@ha\naddi 2, 2, .TOC.-9b@l\n.localentry " #name ", .-" #name  \
      "\nmflr 0\nstd 0, 16(1)\n.cfi_offset lr, 16\nstdu 1, -32(1)\n.cfi_adjust_cfa_offset 32\n"              \
      "bl " #inner "\nnop\n"                                                                                 \
      "addi 1, 1, 32\n.cfi_adjust_cfa_offset -32\nld 0, 16(1)\nmtlr 0\n.cfi_restore lr\nmtctr 0\nbctr\n"     \
      ".cfi_endproc\n.size " #name ", . - " #name "\n.popsection\n")

// Reads a pointer-sized thread-local, opaque to the compiler: it must cache neither the value nor the address
// across a switch. `symbol`: declared extern "C" at namespace scope, initial-exec.
#define WEFT_READ_TLS(result, symbol)                                                                        \
  do {                                                                                                       \
    WEFT_TOC_OPERAND;                                                                                        \
    asm volatile("addis %0, 2, " #symbol "@got@tprel@ha\n\t"                                                 \
                 "ld %0, " #symbol "@got@tprel@l(%0)\n\t"                                                    \
                 "ldx %0, %0, " #symbol "@tls"                                                               \
                 : "=b"(result)                                                                              \
                 : "r"(toc));                                                                                \
  } while (false)

} // namespace weft::arch

#include "weft/arch/swap_and_return.hpp"
