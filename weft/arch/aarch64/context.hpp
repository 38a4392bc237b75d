// SPDX-License-Identifier: MIT
// The switch on aarch64 (AAPCS64, Linux). A context is four words in the descriptor, never on the stack, as
// on x86-64. The contract of every function stands in weft/arch/README.md; what this port saves and why, in
// docs/design/switch.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/arch/publication.hpp"
#include "weft/arch/sanitizer.hpp"
#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"

// Registers that a call may change, and those that only a switch changes; x0 to x3 are operands or named
// where they are none. sp and x29 cannot be named: every form here leaves sp as it was, and saves x29 itself
// (it is the frame pointer where there is one). A call keeps the lower halves of v8 to v15, but the compiler
// cannot be told of halves. The predicates exist where the compiler may use SVE.
#if defined(__ARM_FEATURE_SVE)
#define WEFT_SVE_CLOBBERS                                                                                    \
  , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15",    \
      "ffr"
#else
#define WEFT_SVE_CLOBBERS
#endif
#define WEFT_CALL_CLOBBERS                                                                                   \
  "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x30",  \
      "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",  \
      "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",      \
      "v30", "v31", "memory", "cc" WEFT_SVE_CLOBBERS
#define WEFT_SWITCH_CLOBBERS                                                                                 \
  "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", WEFT_CALL_CLOBBERS

// While the stack pointer is not that of the enclosing function its unwind rules do not hold: a walk ends
// there. Where functions have no rules at all: define WEFT_NO_SWITCH_CFI.
#if defined(__GCC_HAVE_DWARF2_CFI_ASM) && !defined(WEFT_NO_SWITCH_CFI)
#define WEFT_OFF_STACK ".cfi_remember_state\n.cfi_undefined x30\n"
#define WEFT_ON_STACK ".cfi_restore_state\n"
#else
#define WEFT_OFF_STACK ""
#define WEFT_ON_STACK ""
#endif

// Where an indirect jump may land, under branch target identification: `bti j`, as a hint that older
// assemblers know. Every jump here is by x16, so that it may also land on the `bti c` or `paciasp` of a
// function.
#if defined(__ARM_FEATURE_BTI_DEFAULT)
#define WEFT_LANDING_PAD "hint 36\n"
#else
#define WEFT_LANDING_PAD ""
#endif

// Saves sp, fp, resume address and FP control of the running context into (x0). Leaves FP control in x9.
#define WEFT_SAVE                                                                                            \
  "adr x16, 1f\n"                                                                                            \
  "mov x17, sp\n"                                                                                            \
  "mrs x9, fpcr\n"                                                                                           \
  "stp x17, x29, [x0]\n"                                                                                     \
  "stp x16, x9, [x0, 16]\n"

// Loads the FP control of (x1) if it differs from x9. All of FPCR is control: the flags are in FPSR, which is
// neither saved nor changed. Changes x10.
#define WEFT_LOAD_CONTROL                                                                                    \
  "ldr x10, [x1, 24]\n"                                                                                      \
  "cmp x9, x10\n"                                                                                            \
  "b.ne 2f\n"                                                                                                \
  "3:\n"                                                                                                     \
  ".subsection 1\n"                                                                                          \
  "2: msr fpcr, x10\n"                                                                                       \
  "b 3b\n"                                                                                                   \
  ".previous\n"

// Continues the context in (x1), which call_marked() finds there.
#define WEFT_CONTINUE                                                                                        \
  "ldp x17, x29, [x1]\n"                                                                                     \
  "ldr x16, [x1, 16]\n"                                                                                      \
  "mov sp, x17\n"                                                                                            \
  "br x16\n"

// To call a function on the stack of the suspended context in (x1). There is no red zone below sp.
#define WEFT_BORROW_STACK                                                                                    \
  "ldr x17, [x1]\n"                                                                                          \
  "mov sp, x17\n"

// Calls x2(x3) there. Keeps x1 in x19.
#define WEFT_ARRIVE                                                                                          \
  "mov x19, x1\n"                                                                                            \
  "mov x0, x3\n"                                                                                             \
  "blr x2\n"                                                                                                 \
  "mov x1, x19\n"

// The return address of a thread's entry function, by the global offset table: the address of the function
// itself, never of a stub that stands for it.
#define WEFT_LOAD_THREAD_RETURN                                                                              \
  "adrp x30, :got:weft_arch_thread_return\n"                                                                 \
  "ldr x30, [x30, :got_lo12:weft_arch_thread_return]\n"

namespace weft::arch {

inline constexpr const char* port_name = "aarch64";
inline constexpr std::size_t cache_line = 64;

// Not saved, on purpose: the thread pointer (a thread migrates between kernel threads) and the signal mask.
struct context {
  void* sp;           // 0
  void* fp;           // 8
  void* resume;       // 16
  std::uint64_t fpcr; // 24
  [[no_unique_address]] sanitizer::fiber fiber;
};
static_assert(offsetof(context, sp) == 0 && offsetof(context, fp) == 8 && offsetof(context, resume) == 16);
static_assert(offsetof(context, fpcr) == 24);

// For debuggers: a suspended context can be walked from its sp, fp, resume, and what DWARF calls the first
// two.
inline constexpr bool has_walkable_contexts = true;
inline constexpr unsigned dwarf_sp = 31;
inline constexpr unsigned dwarf_fp = 29;

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
  register void* f asm("x0") = &from;
  register void* t asm("x1") = &to;
  asm volatile(WEFT_SAVE WEFT_LOAD_CONTROL                    // from complete
                   WEFT_OFF_STACK WEFT_CONTINUE WEFT_ON_STACK // to runs
               "1: " WEFT_LANDING_PAD
               : "+r"(f), "+r"(t)
               :
               : "x2", "x3", WEFT_SWITCH_CLOBBERS);
  sanitizer::after_switch(from.fiber);
}

// As swap, but runs `arrive(argument)` on the stack of `to` before `to` continues. By then `from` is
// complete, so `arrive` may publish it, by a release store; after that call nothing here touches `from`
// again. `arrive` must not throw and must not switch.
[[gnu::always_inline]] inline void swap_with(context& from, context& to, arrival_function arrive,
                                             void* argument) noexcept {
  sanitizer::before_switch(from.fiber, to.fiber);
  register void* f asm("x0") = &from;
  register void* t asm("x1") = &to;
  register arrival_function a asm("x2") = arrive;
  register void* x asm("x3") = argument;
  asm volatile(WEFT_SAVE WEFT_OFF_STACK WEFT_BORROW_STACK WEFT_LOAD_CONTROL // from complete
                   WEFT_ARRIVE WEFT_CONTINUE WEFT_ON_STACK                  // GONE: from, inside arrive
               "1: " WEFT_LANDING_PAD
               : "+r"(f), "+r"(t), "+r"(a), "+r"(x)
               :
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
    register void* f asm("x0") = &from;
    register void* t asm("x1") = &to;
    register std::uint64_t v asm("x2") = value;
    register void* w asm("x3") = &word;
    asm volatile(WEFT_SAVE WEFT_LOAD_CONTROL                // from complete
                 "stlrb w2, [x3]\n"                         // GONE: from
                 WEFT_OFF_STACK WEFT_CONTINUE WEFT_ON_STACK // to runs
                 "1: " WEFT_LANDING_PAD
                 : "+r"(f), "+r"(t), "+r"(v), "+r"(w)
                 :
                 : WEFT_SWITCH_CLOBBERS);
    sanitizer::after_switch(from.fiber);
  }
}

// As swap_with; if `arrive` returns false, `to` stays suspended and the caller continues (then the result is
// false). The result is true when somebody resumed the caller. (cond_swap_context() of ComposableThreads.)
[[gnu::always_inline]] inline bool cond_swap(context& from, context& to, conditional_function arrive,
                                             void* argument) noexcept {
  sanitizer::before_switch(from.fiber, to.fiber);
  register std::uint64_t f asm("x0") = reinterpret_cast<std::uint64_t>(&from);
  register void* t asm("x1") = &to;
  register conditional_function a asm("x2") = arrive;
  register void* x asm("x3") = argument;
  // x20: sp, for the way back. x21: FP control as it is; from may be gone when that matters.
  asm volatile(WEFT_SAVE "mov x20, x17\n"
                         "mov x21, x9\n" WEFT_OFF_STACK WEFT_BORROW_STACK WEFT_ARRIVE "tbz w0, 0, 6f\n"
                         "mov x9, x21\n" WEFT_LOAD_CONTROL WEFT_CONTINUE "6: mov sp, x20\n" WEFT_ON_STACK
                         "mov x0, 1\n"
                         "b 7f\n"
                         "1: " WEFT_LANDING_PAD "mov x0, 0\n"
                         "7:\n"
               : "+r"(f), "+r"(t), "+r"(a), "+r"(x)
               :
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
  register void* t asm("x1") = &to;
  asm volatile("mrs x9, fpcr\n" WEFT_LOAD_CONTROL WEFT_OFF_STACK WEFT_CONTINUE WEFT_ON_STACK
               :
               : "r"(t)
               : "x9", "x10", "x16", "x17", "memory", "cc");
  __builtin_unreachable();
}

// As restore, but runs `arrive(argument)` on the stack of `to` first: the abandoned stack is free by then.
[[noreturn, gnu::always_inline]] inline void restore_with(context& to, arrival_function arrive,
                                                          void* argument) noexcept {
  sanitizer::before_last_switch(to.fiber);
  register void* t asm("x1") = &to;
  register arrival_function a asm("x2") = arrive;
  register void* x asm("x3") = argument;
  asm volatile("mrs x9, fpcr\n" WEFT_OFF_STACK WEFT_BORROW_STACK WEFT_LOAD_CONTROL WEFT_ARRIVE WEFT_CONTINUE
                   WEFT_ON_STACK
               :
               : "r"(t), "r"(a), "r"(x)
               : "x0", "x9", "x10", "x16", "x17", "x19", "x30", "memory", "cc");
  __builtin_unreachable();
}

// Leaves the running context in `from` and starts `entry(argument)` on the fresh stack [top - size, top),
// where `top` is a multiple of 16. `entry` must not return. `fresh` becomes the context of what runs there:
// `entry` and all it calls pass it as `from`.
[[gnu::always_inline]] inline void save(context& from, context& fresh, void* top, std::size_t size,
                                        entry_function entry, void* argument) noexcept {
  sanitizer::create_fiber(fresh.fiber, top, size);
  sanitizer::before_switch(from.fiber, fresh.fiber);
  register void* f asm("x0") = &from;
  register void* t asm("x1") = top;
  register entry_function e asm("x2") = entry;
  register void* x asm("x3") = argument;
  asm volatile(WEFT_SAVE WEFT_OFF_STACK WEFT_LOAD_THREAD_RETURN "mov x16, x2\n"
                                                                "mov x0, x3\n"
                                                                "mov sp, x1\n"
                                                                "mov x29, xzr\n"
                                                                "br x16\n" WEFT_ON_STACK
                                                                "1: " WEFT_LANDING_PAD
               : "+r"(f), "+r"(t), "+r"(e), "+r"(x)
               :
               : WEFT_SWITCH_CLOBBERS);
  sanitizer::after_switch(from.fiber);
}

// Abandons the running context and starts `entry(argument)` on [top - size, top), which may be the very stack
// the caller runs on. FP control stays as it is.
[[noreturn, gnu::always_inline]] inline void begin(context& fresh, void* top, std::size_t size,
                                                   entry_function entry, void* argument) noexcept {
  sanitizer::create_fiber(fresh.fiber, top, size);
  sanitizer::before_last_switch(fresh.fiber);
  register void* t asm("x1") = top;
  register entry_function e asm("x2") = entry;
  register void* x asm("x3") = argument;
  asm volatile(WEFT_OFF_STACK WEFT_LOAD_THREAD_RETURN "mov x16, x2\n"
                                                      "mov x0, x3\n"
                                                      "mov sp, x1\n"
                                                      "mov x29, xzr\n"
                                                      "br x16\n" WEFT_ON_STACK
               :
               : "r"(t), "r"(e), "r"(x)
               : "x0", "x16", "x30", "memory");
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
  register void* x asm("x0") = argument;
  register void* t asm("x1") = &below;
  register entry_function e asm("x2") = function;
  asm volatile("mov x19, sp\n" WEFT_OFF_STACK WEFT_BORROW_STACK "blr x2\n"
               "mov sp, x19\n" WEFT_ON_STACK
               : "+r"(x), "+r"(t), "+r"(e)
               :
               : "x3", "x19", WEFT_CALL_CLOBBERS);
}

// Whether call_marked() may be left through its mark here: a sanitizer would have to be told that frames go.
// clang before 17 knows nothing of what asm leaves in registers for the label that it jumps to.
#if defined(__clang__) && __clang_major__ < 17
inline constexpr bool has_marks = false;
#else
inline constexpr bool has_marks = !sanitizer::watches_frames;
#endif

// What both marked calls are made of; x19: the mark, x20: `kept`.
//
// The mark's sp is that of the call. There stands what a jump to the mark has to find again, when only
// sp, x29 and x1 (the context that is continued, in every form of the switch) are known, and
// whoever borrows the mark's stack steps below it: `kept`.
#define WEFT_LEAVE_MARK                                                                                      \
  "adr x16, 1f\n"                                                                                            \
  "mrs x9, fpcr\n" WEFT_OFF_STACK "str x20, [sp, -16]!\n"                                                    \
  "mov x17, sp\n"                                                                                            \
  "stp x17, x29, [x19]\n"                                                                                    \
  "stp x16, x9, [x19, 16]\n"
#define WEFT_BACK_AT_MARK                                                                                    \
  "mrs x9, fpcr\n"                                                                                           \
  "ldr x10, [x19, 24]\n"                                                                                     \
  "cmp x9, x10\n"                                                                                            \
  "b.ne 2f\n"                                                                                                \
  "3: add sp, sp, 16\n" WEFT_ON_STACK ".subsection 1\n"                                                      \
  "2: msr fpcr, x10\n"                                                                                       \
  "b 3b\n"                                                                                                   \
  "1: " WEFT_LANDING_PAD "mov x19, x1\n"                                                                     \
  "ldr x20, [sp], 16\n"                                                                                      \
  "b %l[abandoned]\n"                                                                                        \
  ".previous\n"

// Calls `function(argument)` on the caller's own stack. Meanwhile `mark` is a context that continues where
// the call returns: restore(mark) or a switch to it abandons the call, from any depth and on any kernel
// thread. The mark goes when the call ends. True: the function returned; false: it was abandoned. `mark` and
// `kept` are in registers then. FP control is the caller's afterwards. An unwinder finds the end of the stack
// here, as below a function that was started on one: `function` must not throw.
[[gnu::always_inline]] inline bool call_marked(context*& mark, void*& kept, entry_function function,
                                               void* argument) noexcept {
  register void* x asm("x0") = argument;
  register entry_function e asm("x2") = function;
  register context* m asm("x19") = mark;
  register void* k asm("x20") = kept;
  asm goto(WEFT_LEAVE_MARK "blr x2\n" WEFT_BACK_AT_MARK
           : "+r"(m), "+r"(k), "+r"(e), "+r"(x)
           :
           : "x1", "x3", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", WEFT_CALL_CLOBBERS
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
  register void* x asm("x0") = argument;
  register void* t asm("x1") = top;
  register entry_function e asm("x2") = function;
  register context* m asm("x19") = mark;
  register void* k asm("x20") = kept;
  asm goto(WEFT_LEAVE_MARK "mov sp, x1\n"
                           "blr x2\n"
                           "ldr x17, [x19]\n"
                           "mov sp, x17\n" WEFT_BACK_AT_MARK
           : "+r"(m), "+r"(k), "+r"(e), "+r"(x), "+r"(t)
           :
           : "x3", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", WEFT_CALL_CLOBBERS
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
  register void* x asm("x0") = argument;
  register void* t asm("x1") = top;
  register entry_function e asm("x2") = function;
  asm volatile("mov x19, sp\n" WEFT_OFF_STACK "mov sp, x1\n"
               "blr x2\n"
               "mov sp, x19\n" WEFT_ON_STACK
               : "+r"(x), "+r"(t), "+r"(e)
               :
               : "x3", "x19", WEFT_CALL_CLOBBERS);
}

// A word of a context that nobody may continue, for the owner's use.
inline void*& idle_word(context& idle) noexcept {
  return idle.sp;
}

// The FP control of the running code, to come back to. Changes nothing if it is the same.
class fp_control {
 public:
  [[gnu::always_inline]] fp_control() noexcept : fpcr_(now()) {}
  [[gnu::always_inline]] void restore() const noexcept {
    if (now() != fpcr_) [[unlikely]]
      load(fpcr_);
  }
  [[gnu::always_inline]] static std::uint64_t now() noexcept {
    std::uint64_t fpcr;
    asm volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
  }
  [[gnu::always_inline]] static void load(std::uint64_t fpcr) noexcept {
    asm volatile("msr fpcr, %0" : : "r"(fpcr));
  }

  // Gives the running code, whose control this is, what keep_in(fresh) stored.
  [[gnu::always_inline]] void become_that_of(const context& fresh) const noexcept {
    if (fpcr_ != fresh.fpcr) [[unlikely]]
      load(fresh.fpcr);
  }
  [[gnu::always_inline]] void restore_quickly() const noexcept { restore(); }
  [[gnu::always_inline]] void become_that_of_quickly(const context& fresh) const noexcept {
    become_that_of(fresh);
  }
  // Whether that would change anything for the running code.
  [[gnu::always_inline]] static bool differs_from(const context& fresh) noexcept {
    return now() != fresh.fpcr;
  }
  // Stores the caller's in a context that nobody may continue.
  [[gnu::always_inline]] static void keep_in(context& idle) noexcept { idle.fpcr = now(); }

 private:
  std::uint64_t fpcr_;
};

// The low half of the stack pointer with bit 0 set, never 0: tells whose stack the caller is on, to a
// debugger that knows all stacks. One instruction, so whoever stores a constant may store this instead.
[[gnu::always_inline]] inline std::uint32_t stack_mark() noexcept {
  std::uint64_t mark;
  asm("add %0, sp, #1" : "=r"(mark));
  return static_cast<std::uint32_t>(mark);
}

// Whether the caller's frame is above `floor`, all of it. Costs the caller no frame pointer.
[[gnu::always_inline]] inline bool stack_is_above(const std::byte* const& floor) noexcept {
  const std::byte* sp;
  asm volatile("mov %0, sp" : "=r"(sp));
  return sp > floor;
}

// Bytes from `floor` up to the caller's frame; at most 0 if that is below.
[[gnu::always_inline]] inline std::ptrdiff_t stack_above(const std::byte* floor) noexcept {
  const std::byte* sp;
  asm volatile("mov %0, sp" : "=r"(sp));
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

// Does this kernel thread run with a shadow stack (guarded control stack)? The switch does not follow one:
// the first `ret` after a switch would fault. Whoever starts a worker asks, and refuses. SIGNAL-SAFE.
// `chkfeat x16`, a hint that does nothing elsewhere, clears the bit if there is one.
inline bool shadow_stack_active() noexcept {
  register std::uint64_t feature asm("x16") = 1;
  asm volatile("hint 40" : "+r"(feature));
  return feature == 0;
}

// `yield` does nothing on most cores; `isb` waits for some tens of cycles, as `pause` does on x86-64.
[[gnu::always_inline]] inline void relax() noexcept {
  asm volatile("isb" ::: "memory");
}

// The generic timer's counter; its unit is the machine's own.
[[gnu::always_inline]] inline std::uint64_t ticks() noexcept {
  std::uint64_t now;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
}

// Exports `inner`, an extern "C" function with the default calling convention, under the name of a C function
// that switches. It goes back by `ret`, which is predicted wrongly if the stack is another one: a jump would
// need a landing pad where it lands, which callers have not.
#define WEFT_EXPORT_SWITCHING(name, inner)                                                                   \
  asm(".globl " #name "\n.type " #name ", @function\n.set " #name ", " #inner)

// Reads a pointer-sized thread-local, opaque to the compiler: it must cache neither the value nor the address
// across a switch. `symbol`: declared extern "C" at namespace scope, initial-exec.
#define WEFT_READ_TLS(result, symbol)                                                                        \
  asm volatile("mrs x16, tpidr_el0\n\t"                                                                      \
               "adrp %0, :gottprel:" #symbol "\n\t"                                                          \
               "ldr %0, [%0, :gottprel_lo12:" #symbol "]\n\t"                                                \
               "ldr %0, [x16, %0]"                                                                           \
               : "=r"(result)                                                                                \
               :                                                                                             \
               : "x16")

} // namespace weft::arch

#include "weft/arch/swap_and_return.hpp"
