// SPDX-License-Identifier: MIT
// The bottom of every Weft stack on aarch64, and the first instructions of a context prepared by make().
//
//   top - 16   (make only) return address: weft_arch_thread_return
//   top - 24   (make only) argument
//   top - 32   (make only) entry function; sp points here at the first switch
//
// Not saved: thread pointer, signal mask.

// Where an indirect jump or call may land; hints, which do nothing on older CPUs.
#define BTI_C hint 34
#define BTI_J hint 36

        .text
        .p2align 4
        .globl  weft_arch_thread_base
        .type   weft_arch_thread_base, @function
        .globl  weft_arch_thread_return
        .type   weft_arch_thread_return, @function
weft_arch_thread_base:
        .cfi_startproc
        .cfi_undefined x30
        .cfi_undefined x29
        nop                             // unwinders look up (return address - 1), which is in here
weft_arch_thread_return:
        brk     1                       // an entry function returned
        .cfi_endproc
        .size   weft_arch_thread_base, . - weft_arch_thread_base
        .size   weft_arch_thread_return, . - weft_arch_thread_return

        .p2align 4
        .globl  weft_arch_first_step
        .hidden weft_arch_first_step
        .type   weft_arch_first_step, @function
weft_arch_first_step:
        .cfi_startproc
        .cfi_undefined x30
        .cfi_undefined x29
        BTI_J
        ldr     x30, [sp, 16]
        ldp     x16, x0, [sp], 32       // entry, argument
        mov     x29, xzr
        br      x16
        .cfi_endproc
        .size   weft_arch_first_step, . - weft_arch_first_step

// int weft_arch_swap_and_return(context* from, context* to)
// int weft_arch_swap_publishing_and_return(context* from, context* to, uint8_t value, uint8_t* word)
//
// swap() and swap_publishing() of context.hpp as functions of their own: who continues `from` makes the call
// return 0. It goes back by `ret`: a jump would need a landing pad in the caller.

        .macro  keep first, second, at
        stp     \first, \second, [sp, \at]
        .cfi_rel_offset \first, \at
        .cfi_rel_offset \second, \at + 8
        .endm

        .macro  take_back first, second, at
        ldp     \first, \second, [sp, \at]
        .cfi_restore \first
        .cfi_restore \second
        .endm

// The running context is complete in (x0) after this, and FP control is that of (x1).
        .macro  leave_into_x0
        BTI_C
        sub     sp, sp, 160
        .cfi_adjust_cfa_offset 160
        keep    x19, x20, 0
        keep    x21, x22, 16
        keep    x23, x24, 32
        keep    x25, x26, 48
        keep    x27, x28, 64
        keep    x29, x30, 80
        keep    d8, d9, 96
        keep    d10, d11, 112
        keep    d12, d13, 128
        keep    d14, d15, 144
        adr     x16, continued
        mov     x17, sp
        mrs     x9, fpcr
        stp     x17, x29, [x0]
        stp     x16, x9, [x0, 16]
        ldr     x10, [x1, 24]           // as WEFT_LOAD_CONTROL
        cmp     x9, x10
        b.eq    3f
        msr     fpcr, x10
3:
        .endm

        .macro  continue_x1
        .cfi_remember_state
        .cfi_undefined x30              // between two stacks
        ldp     x17, x29, [x1]
        ldr     x16, [x1, 16]
        mov     sp, x17
        br      x16
        .cfi_restore_state
        .endm

        .p2align 4
        .globl  weft_arch_swap_publishing_and_return
        .type   weft_arch_swap_publishing_and_return, @function
weft_arch_swap_publishing_and_return:
        .cfi_startproc
        leave_into_x0
        stlrb   w2, [x3]                // GONE: from
        continue_x1
        .cfi_endproc
        .size   weft_arch_swap_publishing_and_return, . - weft_arch_swap_publishing_and_return

        .p2align 4
        .globl  weft_arch_swap_and_return
        .type   weft_arch_swap_and_return, @function
weft_arch_swap_and_return:
        .cfi_startproc
        leave_into_x0
        continue_x1
continued:                              // of both: their frames are the same
        BTI_J
        take_back x19, x20, 0
        take_back x21, x22, 16
        take_back x23, x24, 32
        take_back x25, x26, 48
        take_back x27, x28, 64
        take_back x29, x30, 80
        take_back d8, d9, 96
        take_back d10, d11, 112
        take_back d12, d13, 128
        take_back d14, d15, 144
        mov     w0, 0
        add     sp, sp, 160
        .cfi_adjust_cfa_offset -160
        ret
        .cfi_endproc
        .size   weft_arch_swap_and_return, . - weft_arch_swap_and_return

        .section .note.GNU-stack, "", @progbits

#if defined(__ARM_FEATURE_BTI_DEFAULT)
// Marked for branch target identification. Not for guarded control stacks, which the switch does not follow:
// the loader starts what contains this object without one.
        .section .note.gnu.property, "a"
        .p2align 3
        .long   4, 16, 5                // sizes of name and contents; NT_GNU_PROPERTY_TYPE_0
        .asciz  "GNU"
        .long   0xc0000000, 4, 1, 0     // GNU_PROPERTY_AARCH64_FEATURE_1_AND, BTI
#endif
