// SPDX-License-Identifier: MIT
// The bottom of every Weft stack on ppc64le, and the first instructions of a context prepared by make().
//
//   top - 32   the frame that an entry function finds: back chain (0: the last), and room for what the entry
//              function saves in its caller's frame: CR, return address, TOC pointer
//   top - 40   (make only) return address: weft_arch_thread_return
//   top - 48   (make only) argument
//   top - 56   (make only) entry function
//   top - 64   (make only) 0, a back chain; r1 points here at the first switch
//
// Not saved: thread pointer (r13), signal mask.

        .abiversion 2
        .text
        .p2align 4
        .globl  weft_arch_thread_base
        .type   weft_arch_thread_base, @function
        .globl  weft_arch_thread_return
        .type   weft_arch_thread_return, @function
weft_arch_thread_base:
        .cfi_startproc
        .cfi_undefined lr
        nop                             // unwinders look up (return address - 1), which is in here
weft_arch_thread_return:
        trap                            // an entry function returned
        .cfi_endproc
        .size   weft_arch_thread_base, . - weft_arch_thread_base
        .size   weft_arch_thread_return, . - weft_arch_thread_return

        .p2align 4
        .globl  weft_arch_first_step
        .hidden weft_arch_first_step
        .type   weft_arch_first_step, @function
weft_arch_first_step:
        .cfi_startproc
        .cfi_undefined lr
        ld      %r12, 8(%r1)            // entry, where it looks for its own address
        ld      %r3, 16(%r1)            // argument
        ld      %r0, 24(%r1)
        mtlr    %r0
        mtctr   %r12
        li      %r31, 0
        addi    %r1, %r1, 32
        bctr
        .cfi_endproc
        .size   weft_arch_first_step, . - weft_arch_first_step

// int weft_arch_swap_and_return(context* from, context* to)
// int weft_arch_swap_publishing_and_return(context* from, context* to, uint8_t value, uint8_t* word)
//
// swap() and swap_publishing() of context.hpp as functions of their own: who continues `from` makes the call
// return 0. It goes back by way of the count register: the CPU would take a jump by the link register for a
// return, and predict it to go where the other stack came from. They use no TOC pointer, and keep the
// caller's.

        .set    frame, 544              // 32 for who is called, then as below

        .macro  keep register, at
        std     \register, \at(%r1)
        .cfi_rel_offset \register, \at
        .endm
        .macro  keep_fp register, at
        stfd    \register, \at(%r1)
        .cfi_rel_offset \register, \at
        .endm
        .macro  take_back register, at
        ld      \register, \at(%r1)
        .cfi_restore \register
        .endm
        .macro  take_back_fp register, at
        lfd     \register, \at(%r1)
        .cfi_restore \register
        .endm
        .macro  keep_vector number, at
        li      %r0, \at
        stvx    \number, %r1, %r0
        .cfi_rel_offset 77+\number, \at
        .endm
        .macro  take_back_vector number, at
        li      %r0, \at
        lvx     \number, %r1, %r0
        .cfi_restore 77+\number
        .endm

// Each callee-saved register but r31, which the context keeps, and its place.
        .macro  each_saved integer, floating, vector
        .irp    number, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
        \integer %r\number, 32+8*(\number-14)
        .endr
        .irp    number, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        \floating %f\number, 176+8*(\number-14)
        .endr
        .irp    number, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        \vector \number, 336+16*(\number-20)
        .endr
        .endm

// FP control in eleven bits, see context.hpp. Changes f0 and r9.
        .macro  read_control to
        .long   0xfc18048e              // mffsl f0
        mfvsrd  %r9, 0
        rldicl  \to, %r9, 32, 61
        rldimi  \to, %r9, 3, 53
        .endm

// The running context is complete in (r3) after this, and FP control is that of (r4).
        .macro  leave_into_r3
        mflr    %r0
        mfcr    %r11
        std     %r0, 16(%r1)
        .cfi_offset lr, 16
        stw     %r11, 8(%r1)
        .cfi_offset cr2, 8
        stdu    %r1, -frame(%r1)
        .cfi_adjust_cfa_offset frame
        each_saved keep, keep_fp, keep_vector
        bcl     20, 31, 1f              // no predictor takes this form for a call
1:      mflr    %r11
        addi    %r11, %r11, continued - 1b
        read_control %r10
        std     %r1, 0(%r3)
        std     %r31, 8(%r3)
        std     %r11, 16(%r3)
        std     %r2, 24(%r3)
        std     %r10, 32(%r3)
        ld      %r9, 32(%r4)            // as WEFT_LOAD_CONTROL
        cmpld   %r9, %r10
        beq+    3f
        rldicl  %r10, %r9, 61, 56
        rldimi  %r10, %r9, 32, 29
        mtvsrd  0, %r10
        mtfsf   3, %f0
        mtfsf   1, %f0, 0, 1
3:
        .endm

        .macro  continue_r4
        .cfi_remember_state
        .cfi_undefined lr               // between two stacks
        ld      %r0, 16(%r4)
        mtctr   %r0
        ld      %r2, 24(%r4)
        ld      %r31, 8(%r4)
        ld      %r1, 0(%r4)
        bctr
        .cfi_restore_state
        .endm

        .p2align 4
        .globl  weft_arch_swap_publishing_and_return
        .type   weft_arch_swap_publishing_and_return, @function
weft_arch_swap_publishing_and_return:
        .cfi_startproc
        leave_into_r3
        lwsync
        stb     %r5, 0(%r6)             // GONE: from
        continue_r4
        .cfi_endproc
        .size   weft_arch_swap_publishing_and_return, . - weft_arch_swap_publishing_and_return

        .p2align 4
        .globl  weft_arch_swap_and_return
        .type   weft_arch_swap_and_return, @function
weft_arch_swap_and_return:
        .cfi_startproc
        leave_into_r3
        continue_r4
continued:                              // of both: their frames are the same
        each_saved take_back, take_back_fp, take_back_vector
        addi    %r1, %r1, frame
        .cfi_adjust_cfa_offset -frame
        lwz     %r11, 8(%r1)
        ld      %r0, 16(%r1)
        mtcrf   0x38, %r11
        .cfi_restore cr2
        mtlr    %r0
        .cfi_restore lr
        mtctr   %r0
        li      %r3, 0
        bctr
        .cfi_endproc
        .size   weft_arch_swap_and_return, . - weft_arch_swap_and_return

        .section .note.GNU-stack, "", @progbits
