// SPDX-License-Identifier: MIT
// The bottom of every Weft stack on riscv64, and the first instructions of a context prepared by make().
//
//   top - 16   (make only) return address: weft_arch_thread_return
//   top - 24   (make only) argument
//   top - 32   (make only) entry function; sp points here at the first switch
//
// Not saved: thread pointer, signal mask.

        .text
        .p2align 2
        .globl  weft_arch_thread_base
        .type   weft_arch_thread_base, @function
        .globl  weft_arch_thread_return
        .type   weft_arch_thread_return, @function
weft_arch_thread_base:
        .cfi_startproc
        .cfi_undefined ra
        .cfi_undefined s0
        nop                             // unwinders look up (return address - 1), which is in here
weft_arch_thread_return:
        unimp                           // an entry function returned
        .cfi_endproc
        .size   weft_arch_thread_base, . - weft_arch_thread_base
        .size   weft_arch_thread_return, . - weft_arch_thread_return

        .p2align 2
        .globl  weft_arch_first_step
        .hidden weft_arch_first_step
        .type   weft_arch_first_step, @function
weft_arch_first_step:
        .cfi_startproc
        .cfi_undefined ra
        .cfi_undefined s0
        ld      t2, (sp)                // entry
        ld      a0, 8(sp)               // argument
        ld      ra, 16(sp)
        addi    sp, sp, 16
        li      s0, 0
        jr      t2
        .cfi_endproc
        .size   weft_arch_first_step, . - weft_arch_first_step

// int weft_arch_swap_and_return(context* from, context* to)
// int weft_arch_swap_publishing_and_return(context* from, context* to, uint8_t value, uint8_t* word)
//
// swap() and swap_publishing() of context.hpp as functions of their own: who continues `from` makes the call
// return 0. It goes back by a jump that the CPU does not take for a return, which it would predict to go
// where the other stack came from.

        .macro  keep register, at
        sd      \register, \at(sp)
        .cfi_rel_offset \register, \at
        .endm
        .macro  keep_fp register, at
        fsd     \register, \at(sp)
        .cfi_rel_offset \register, \at
        .endm
        .macro  take_back register, at
        ld      \register, \at(sp)
        .cfi_restore \register
        .endm
        .macro  take_back_fp register, at
        fld     \register, \at(sp)
        .cfi_restore \register
        .endm

// Each callee-saved register but s0, which the context keeps, and its place.
        .macro  each_saved integer, floating
        \integer s1, 0
        \integer s2, 8
        \integer s3, 16
        \integer s4, 24
        \integer s5, 32
        \integer s6, 40
        \integer s7, 48
        \integer s8, 56
        \integer s9, 64
        \integer s10, 72
        \integer s11, 80
        \floating fs0, 96
        \floating fs1, 104
        \floating fs2, 112
        \floating fs3, 120
        \floating fs4, 128
        \floating fs5, 136
        \floating fs6, 144
        \floating fs7, 152
        \floating fs8, 160
        \floating fs9, 168
        \floating fs10, 176
        \floating fs11, 184
        .endm

// The running context is complete in (a0) after this, and the rounding mode is that of (a1).
        .macro  leave_into_a0
        addi    sp, sp, -192
        .cfi_adjust_cfa_offset 192
        keep    ra, 88
        each_saved keep, keep_fp
        lla     t0, continued
        frrm    t1
        sd      sp, (a0)
        sd      s0, 8(a0)
        sd      t0, 16(a0)
        sd      t1, 24(a0)
        ld      t0, 24(a1)              // as WEFT_LOAD_CONTROL
        beq     t0, t1, 3f
        fsrm    t0
3:
        .endm

        .macro  continue_a1
        .cfi_remember_state
        .cfi_undefined ra               // between two stacks
        ld      sp, (a1)
        ld      s0, 8(a1)
        ld      t2, 16(a1)
        jr      t2
        .cfi_restore_state
        .endm

        .p2align 2
        .globl  weft_arch_swap_publishing_and_return
        .type   weft_arch_swap_publishing_and_return, @function
weft_arch_swap_publishing_and_return:
        .cfi_startproc
        leave_into_a0
        fence   rw, w
        sb      a2, (a3)                // GONE: from
        continue_a1
        .cfi_endproc
        .size   weft_arch_swap_publishing_and_return, . - weft_arch_swap_publishing_and_return

        .p2align 2
        .globl  weft_arch_swap_and_return
        .type   weft_arch_swap_and_return, @function
weft_arch_swap_and_return:
        .cfi_startproc
        leave_into_a0
        continue_a1
continued:                              // of both: their frames are the same
        each_saved take_back, take_back_fp
        ld      t2, 88(sp)
        .cfi_register ra, t2
        addi    sp, sp, 192
        .cfi_adjust_cfa_offset -192
        li      a0, 0
        jr      t2
        .cfi_endproc
        .size   weft_arch_swap_and_return, . - weft_arch_swap_and_return

        .section .note.GNU-stack, "", @progbits
