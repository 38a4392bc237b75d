// SPDX-License-Identifier: MIT
// The switch on riscv64 (lp64d, Linux). A context is four words in the descriptor, never on the stack, as on
// x86-64. The contract of every function stands in weft/arch/README.md; what this port saves and why, in
// docs/design/switch.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/prctl.h>

#include "weft/arch/publication.hpp"
#include "weft/arch/sanitizer.hpp"
#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"

// Registers that a call may change, and those that only a switch changes; a0 to a3 are operands or named
// where they are none. sp and s0 cannot be named: every form here leaves sp as it was, and saves s0 itself
// (it is the frame pointer where there is one). gp is everybody's, tp the kernel thread's.
#if defined(__riscv_vector)
#define WEFT_VECTOR_CLOBBERS                                                                                 \
  , "vl", "vtype", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",   \
      "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",      \
      "v28", "v29", "v30", "v31"
#else
#define WEFT_VECTOR_CLOBBERS
#endif
#define WEFT_CALL_CLOBBERS                                                                                   \
  "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a4", "a5", "a6", "a7", "ft0", "ft1", "ft2", "ft3", "ft4", \
      "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6",    \
      "fa7", "memory" WEFT_VECTOR_CLOBBERS
#define WEFT_SAVED_FP_CLOBBERS                                                                               \
  "fs0", "fs1", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11"
#define WEFT_SWITCH_CLOBBERS                                                                                 \
  "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", WEFT_SAVED_FP_CLOBBERS,                \
      WEFT_CALL_CLOBBERS

// While the stack pointer is not that of the enclosing function its unwind rules do not hold: a walk ends
// there. Where functions have no rules at all: define WEFT_NO_SWITCH_CFI.
#if defined(__GCC_HAVE_DWARF2_CFI_ASM) && !defined(WEFT_NO_SWITCH_CFI)
#define WEFT_OFF_STACK ".cfi_remember_state\n.cfi_undefined ra\n"
#define WEFT_ON_STACK ".cfi_restore_state\n"
#else
#define WEFT_OFF_STACK ""
#define WEFT_ON_STACK ""
#endif

// Every jump here is by t2: the return predictor takes ra and t0 for returns, and where landing pads are
// checked (Zicfilp), a jump by t2 needs none.

// Saves sp, s0, resume address and rounding mode of the running context into (a0). Leaves the last in t1.
#define WEFT_SAVE                                                                                            \
  "lla t0, 1f\n"                                                                                             \
  "frrm t1\n"                                                                                                \
  "sd sp, (a0)\n"                                                                                            \
  "sd s0, 8(a0)\n"                                                                                           \
  "sd t0, 16(a0)\n"                                                                                          \
  "sd t1, 24(a0)\n"

// Loads the rounding mode of (a1) if it differs from t1. It is all the FP control there is; the flags are
// neither compared nor changed. Changes t0.
#define WEFT_LOAD_CONTROL                                                                                    \
  "ld t0, 24(a1)\n"                                                                                          \
  "bne t0, t1, 2f\n"                                                                                         \
  "3:\n"                                                                                                     \
  ".subsection 1\n"                                                                                          \
  "2: fsrm t0\n"                                                                                             \
  "j 3b\n"                                                                                                   \
  ".previous\n"

// Continues the context in (a1), which call_marked() finds there.
#define WEFT_CONTINUE                                                                                        \
  "ld sp, (a1)\n"                                                                                            \
  "ld s0, 8(a1)\n"                                                                                           \
  "ld t2, 16(a1)\n"                                                                                          \
  "jr t2\n"

// To call a function on the stack of the suspended context in (a1). There is no red zone below sp.
#define WEFT_BORROW_STACK "ld sp, (a1)\n"

// Calls a2(a3) there. Keeps a1 in s1.
#define WEFT_ARRIVE                                                                                          \
  "mv s1, a1\n"                                                                                              \
  "mv a0, a3\n"                                                                                              \
  "jalr a2\n"                                                                                                \
  "mv a1, s1\n"

// The return address of a thread's entry function, by the global offset table: the address of the function
// itself, never of a stub that stands for it.
#define WEFT_LOAD_THREAD_RETURN                                                                              \
  "4: auipc ra, %%got_pcrel_hi(weft_arch_thread_return)\n"                                                   \
  "ld ra, %%pcrel_lo(4b)(ra)\n"

namespace weft::arch {

inline constexpr const char* port_name = "riscv64";
inline constexpr std::size_t cache_line = 64;

// Not saved, on purpose: the thread pointer (a thread migrates between kernel threads) and the signal mask.
struct context {
  void* sp;          // 0
  void* fp;          // 8
  void* resume;      // 16
  std::uint64_t frm; // 24  rounding mode
  [[no_unique_address]] sanitizer::fiber fiber;
};
static_assert(offsetof(context, sp) == 0 && offsetof(context, fp) == 8 && offsetof(context, resume) == 16);
static_assert(offsetof(context, frm) == 24);

// For debuggers: a suspended context can be walked from its sp, fp, resume, and what DWARF calls the first
// two.
inline constexpr bool has_walkable_contexts = true;
inline constexpr unsigned dwarf_sp = 2;
inline constexpr unsigned dwarf_fp = 8;

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
  register void* f asm("a0") = &from;
  register void* t asm("a1") = &to;
  asm volatile(WEFT_SAVE WEFT_LOAD_CONTROL                    // from complete
                   WEFT_OFF_STACK WEFT_CONTINUE WEFT_ON_STACK // to runs
               "1:\n"
               : "+r"(f), "+r"(t)
               :
               : "a2", "a3", WEFT_SWITCH_CLOBBERS);
  sanitizer::after_switch(from.fiber);
}

// As swap, but runs `arrive(argument)` on the stack of `to` before `to` continues. By then `from` is
// complete, so `arrive` may publish it, by a release store; after that call nothing here touches `from`
// again. `arrive` must not throw and must not switch.
[[gnu::always_inline]] inline void swap_with(context& from, context& to, arrival_function arrive,
                                             void* argument) noexcept {
  sanitizer::before_switch(from.fiber, to.fiber);
  register void* f asm("a0") = &from;
  register void* t asm("a1") = &to;
  register arrival_function a asm("a2") = arrive;
  register void* x asm("a3") = argument;
  asm volatile(WEFT_SAVE WEFT_OFF_STACK WEFT_BORROW_STACK WEFT_LOAD_CONTROL // from complete
                   WEFT_ARRIVE WEFT_CONTINUE WEFT_ON_STACK                  // GONE: from, inside arrive
               "1:\n"
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
    register void* f asm("a0") = &from;
    register void* t asm("a1") = &to;
    register std::uint64_t v asm("a2") = value;
    register void* w asm("a3") = &word;
    asm volatile(WEFT_SAVE WEFT_LOAD_CONTROL // from complete
                 "fence rw, w\n"
                 "sb a2, (a3)\n"                            // GONE: from
                 WEFT_OFF_STACK WEFT_CONTINUE WEFT_ON_STACK // to runs
                 "1:\n"
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
  register std::uint64_t f asm("a0") = reinterpret_cast<std::uint64_t>(&from);
  register void* t asm("a1") = &to;
  register conditional_function a asm("a2") = arrive;
  register void* x asm("a3") = argument;
  // s2: sp, for the way back. s3: rounding mode as it is; from may be gone when that matters.
  asm volatile(WEFT_SAVE "mv s2, sp\n"
                         "mv s3, t1\n" WEFT_OFF_STACK WEFT_BORROW_STACK WEFT_ARRIVE "andi a0, a0, 1\n"
                         "beqz a0, 6f\n"
                         "mv t1, s3\n" WEFT_LOAD_CONTROL WEFT_CONTINUE "6: mv sp, s2\n" WEFT_ON_STACK
                         "li a0, 1\n"
                         "j 7f\n"
                         "1: li a0, 0\n"
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
  register void* t asm("a1") = &to;
  asm volatile("frrm t1\n" WEFT_LOAD_CONTROL WEFT_OFF_STACK WEFT_CONTINUE WEFT_ON_STACK
               :
               : "r"(t)
               : "t0", "t1", "t2", "memory");
  __builtin_unreachable();
}

// As restore, but runs `arrive(argument)` on the stack of `to` first: the abandoned stack is free by then.
[[noreturn, gnu::always_inline]] inline void restore_with(context& to, arrival_function arrive,
                                                          void* argument) noexcept {
  sanitizer::before_last_switch(to.fiber);
  register void* t asm("a1") = &to;
  register arrival_function a asm("a2") = arrive;
  register void* x asm("a3") = argument;
  asm volatile(
      "frrm t1\n" WEFT_OFF_STACK WEFT_BORROW_STACK WEFT_LOAD_CONTROL WEFT_ARRIVE WEFT_CONTINUE WEFT_ON_STACK
      :
      : "r"(t), "r"(a), "r"(x)
      : "a0", "t0", "t1", "t2", "s1", "ra", "memory");
  __builtin_unreachable();
}

// Leaves the running context in `from` and starts `entry(argument)` on the fresh stack [top - size, top),
// where `top` is a multiple of 16. `entry` must not return. `fresh` becomes the context of what runs there:
// `entry` and all it calls pass it as `from`. (Its stack pointer starts 16 bytes below top: a frame's address
// is that of its end here, and should lie on the stack.)
[[gnu::always_inline]] inline void save(context& from, context& fresh, void* top, std::size_t size,
                                        entry_function entry, void* argument) noexcept {
  sanitizer::create_fiber(fresh.fiber, top, size);
  sanitizer::before_switch(from.fiber, fresh.fiber);
  register void* f asm("a0") = &from;
  register void* t asm("a1") = top;
  register entry_function e asm("a2") = entry;
  register void* x asm("a3") = argument;
  asm volatile(WEFT_SAVE WEFT_OFF_STACK WEFT_LOAD_THREAD_RETURN "addi sp, a1, -16\n"
                                                                "mv a0, a3\n"
                                                                "li s0, 0\n"
                                                                "mv t2, a2\n"
                                                                "jr t2\n" WEFT_ON_STACK "1:\n"
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
  register void* t asm("a1") = top;
  register entry_function e asm("a2") = entry;
  register void* x asm("a3") = argument;
  asm volatile(WEFT_OFF_STACK WEFT_LOAD_THREAD_RETURN "addi sp, a1, -16\n"
                                                      "mv a0, a3\n"
                                                      "li s0, 0\n"
                                                      "mv t2, a2\n"
                                                      "jr t2\n" WEFT_ON_STACK
               :
               : "r"(t), "r"(e), "r"(x)
               : "a0", "t2", "ra", "memory");
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
  register void* x asm("a0") = argument;
  register void* t asm("a1") = &below;
  register entry_function e asm("a2") = function;
  asm volatile("mv s1, sp\n" WEFT_OFF_STACK WEFT_BORROW_STACK "jalr a2\n"
               "mv sp, s1\n" WEFT_ON_STACK
               : "+r"(x), "+r"(t), "+r"(e)
               :
               : "a3", "s1", WEFT_CALL_CLOBBERS);
}

// Whether call_marked() may be left through its mark here: a sanitizer would have to be told that frames go.
// clang before 17 knows nothing of what asm leaves in registers for the label that it jumps to.
#if defined(__clang__) && __clang_major__ < 17
inline constexpr bool has_marks = false;
#else
inline constexpr bool has_marks = !sanitizer::watches_frames;
#endif

// What both marked calls are made of; s1: the mark, s2: `kept`.
//
// The mark's sp is that of the call. There stands what a jump to the mark has to find again, when only
// sp, s0 and a1 (the context that is continued, in every form of the switch) are known, and
// whoever borrows the mark's stack steps below it: `kept`.
#define WEFT_LEAVE_MARK                                                                                      \
  "lla t0, 1f\n"                                                                                             \
  "frrm t1\n" WEFT_OFF_STACK "addi sp, sp, -16\n"                                                            \
  "sd s2, (sp)\n"                                                                                            \
  "sd sp, (s1)\n"                                                                                            \
  "sd s0, 8(s1)\n"                                                                                           \
  "sd t0, 16(s1)\n"                                                                                          \
  "sd t1, 24(s1)\n"
#define WEFT_BACK_AT_MARK                                                                                    \
  "frrm t1\n"                                                                                                \
  "ld t0, 24(s1)\n"                                                                                          \
  "bne t0, t1, 2f\n"                                                                                         \
  "3: addi sp, sp, 16\n" WEFT_ON_STACK ".subsection 1\n"                                                     \
  "2: fsrm t0\n"                                                                                             \
  "j 3b\n"                                                                                                   \
  "1: mv s1, a1\n"                                                                                           \
  "ld s2, (sp)\n"                                                                                            \
  "addi sp, sp, 16\n"                                                                                        \
  "j %l[abandoned]\n"                                                                                        \
  ".previous\n"

// Calls `function(argument)` on the caller's own stack. Meanwhile `mark` is a context that continues where
// the call returns: restore(mark) or a switch to it abandons the call, from any depth and on any kernel
// thread. The mark goes when the call ends. True: the function returned; false: it was abandoned. `mark` and
// `kept` are in registers then. FP control is the caller's afterwards. An unwinder finds the end of the stack
// here, as below a function that was started on one: `function` must not throw.
[[gnu::always_inline]] inline bool call_marked(context*& mark, void*& kept, entry_function function,
                                               void* argument) noexcept {
  register void* x asm("a0") = argument;
  register entry_function e asm("a2") = function;
  register context* m asm("s1") = mark;
  register void* k asm("s2") = kept;
  asm goto(WEFT_LEAVE_MARK "jalr a2\n" WEFT_BACK_AT_MARK
           : "+r"(m), "+r"(k), "+r"(e), "+r"(x)
           :
           : "a1", "a3", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", WEFT_SAVED_FP_CLOBBERS,
             WEFT_CALL_CLOBBERS
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
  register void* x asm("a0") = argument;
  register void* t asm("a1") = top;
  register entry_function e asm("a2") = function;
  register context* m asm("s1") = mark;
  register void* k asm("s2") = kept;
  asm goto(WEFT_LEAVE_MARK "addi sp, a1, -16\n"
                           "jalr a2\n"
                           "ld sp, (s1)\n" WEFT_BACK_AT_MARK
           : "+r"(m), "+r"(k), "+r"(e), "+r"(x), "+r"(t)
           :
           : "a3", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", WEFT_SAVED_FP_CLOBBERS,
             WEFT_CALL_CLOBBERS
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
  register void* x asm("a0") = argument;
  register void* t asm("a1") = top;
  register entry_function e asm("a2") = function;
  asm volatile("mv s1, sp\n" WEFT_OFF_STACK "addi sp, a1, -16\n"
               "jalr a2\n"
               "mv sp, s1\n" WEFT_ON_STACK
               : "+r"(x), "+r"(t), "+r"(e)
               :
               : "a3", "s1", WEFT_CALL_CLOBBERS);
}

// A word of a context that nobody may continue, for the owner's use.
inline void*& idle_word(context& idle) noexcept {
  return idle.sp;
}

// The FP control of the running code, to come back to. Changes nothing if it is the same.
class fp_control {
 public:
  [[gnu::always_inline]] fp_control() noexcept : frm_(now()) {}
  [[gnu::always_inline]] void restore() const noexcept {
    if (now() != frm_) [[unlikely]]
      load(frm_);
  }
  [[gnu::always_inline]] static std::uint64_t now() noexcept {
    std::uint64_t frm;
    asm volatile("frrm %0" : "=r"(frm));
    return frm;
  }
  [[gnu::always_inline]] static void load(std::uint64_t frm) noexcept {
    asm volatile("fsrm %0" : : "r"(frm));
  }

  // Gives the running code, whose control this is, what keep_in(fresh) stored.
  [[gnu::always_inline]] void become_that_of(const context& fresh) const noexcept {
    if (frm_ != fresh.frm) [[unlikely]]
      load(fresh.frm);
  }
  [[gnu::always_inline]] void restore_quickly() const noexcept { restore(); }
  [[gnu::always_inline]] void become_that_of_quickly(const context& fresh) const noexcept {
    become_that_of(fresh);
  }
  // Whether that would change anything for the running code.
  [[gnu::always_inline]] static bool differs_from(const context& fresh) noexcept {
    return now() != fresh.frm;
  }
  // Stores the caller's in a context that nobody may continue.
  [[gnu::always_inline]] static void keep_in(context& idle) noexcept { idle.frm = now(); }

 private:
  std::uint64_t frm_;
};

// The low half of the stack pointer with bit 0 set, never 0: tells whose stack the caller is on, to a
// debugger that knows all stacks. One instruction, so whoever stores a constant may store this instead.
[[gnu::always_inline]] inline std::uint32_t stack_mark() noexcept {
  std::uint64_t mark;
  asm("addi %0, sp, 1" : "=r"(mark));
  return static_cast<std::uint32_t>(mark);
}

// Whether the caller's frame is above `floor`, all of it. Costs the caller no frame pointer.
[[gnu::always_inline]] inline bool stack_is_above(const std::byte* const& floor) noexcept {
  const std::byte* sp;
  asm volatile("mv %0, sp" : "=r"(sp));
  return sp > floor;
}

// Bytes from `floor` up to the caller's frame; at most 0 if that is below.
[[gnu::always_inline]] inline std::ptrdiff_t stack_above(const std::byte* floor) noexcept {
  const std::byte* sp;
  asm volatile("mv %0, sp" : "=r"(sp));
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

// Does this kernel thread run with a shadow stack (Zicfiss)? The switch does not follow one: the first return
// after a switch would fault. Whoever starts a worker asks, and refuses. SIGNAL-SAFE. Asks the kernel: the
// instruction that reads the shadow stack pointer is no hint, and an older CPU refuses it. A kernel that does
// not know the question has given none.
inline bool shadow_stack_active() noexcept {
  constexpr int get_status = 74; // PR_GET_SHADOW_STACK_STATUS, which older headers have not
  unsigned long status = 0;
  return prctl(get_status, &status, 0, 0, 0) == 0 && (status & 1) != 0;
}

// `pause` (Zihintpause), by its number: assemblers know the name only where it is asked for, and CPUs without
// it take it for an empty fence.
[[gnu::always_inline]] inline void relax() noexcept {
  asm volatile(".4byte 0x0100000f" ::: "memory");
}

// The real-time counter; its unit is the machine's own.
[[gnu::always_inline]] inline std::uint64_t ticks() noexcept {
  std::uint64_t now;
  asm volatile("rdtime %0" : "=r"(now));
  return now;
}

// Exports `inner`, an extern "C" function with the default calling convention, under the name of a C function
// that switches: called on one stack and returning on another, its return would be predicted wrongly. The
// inner function returns to one place whatever the stack, so that is predicted; the way back to the caller is
// an indirect jump.
#define WEFT_EXPORT_SWITCHING(name, inner)                                                                   \
  asm(".pushsection .text\n.p2align 2\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"           \
      ".cfi_startproc\naddi sp, sp, -16\n.cfi_adjust_cfa_offset 16\nsd ra, 8(sp)\n.cfi_rel_offset ra, 8\n"   \
      "call " #inner "\n"                                                                                    \
      "ld t2, 8(sp)\n.cfi_register ra, t2\naddi sp, sp, 16\n.cfi_adjust_cfa_offset -16\n"                    \
      "jr t2\n"                                                                                              \
      ".cfi_endproc\n.size " #name ", . - " #name "\n.popsection\n")

// Reads a pointer-sized thread-local, opaque to the compiler: it must cache neither the value nor the address
// across a switch. `symbol`: declared extern "C" at namespace scope, initial-exec.
#define WEFT_READ_TLS(result, symbol)                                                                        \
  asm volatile("la.tls.ie %0, " #symbol "\n\tadd %0, %0, tp\n\tld %0, (%0)" : "=r"(result))

} // namespace weft::arch

#include "weft/arch/swap_and_return.hpp"
