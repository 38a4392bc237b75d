// SPDX-License-Identifier: MIT
// The bottom of every Weft stack on x86-64, and the first instructions of a context prepared by make().
//
//   top - 8    return address: weft_arch_thread_return; its unwind rule for the return address: undefined
//   top - 16   (make only) unused
//   top - 24   (make only) argument
//   top - 32   (make only) entry function; rsp points here at the first switch
//
// Not saved: thread pointer, signal mask.

        .section weft_calls_units, "ax", @progbits // sched/calls_units.hpp
        .p2align 4
        .globl  weft_arch_thread_base
        .type   weft_arch_thread_base, @function
        .globl  weft_arch_thread_return
        .type   weft_arch_thread_return, @function
weft_arch_thread_base:
        .cfi_startproc
        .cfi_undefined rip
        .cfi_undefined rbp
        nop                             // unwinders look up (return address - 1), which is this byte
weft_arch_thread_return:
        ud2                             // an entry function returned
        .cfi_endproc
        .size   weft_arch_thread_base, . - weft_arch_thread_base
        .size   weft_arch_thread_return, . - weft_arch_thread_return

        .text
        .p2align 4
        .globl  weft_arch_first_step
        .hidden weft_arch_first_step
        .type   weft_arch_first_step, @function
weft_arch_first_step:
        .cfi_startproc
        .cfi_undefined rip
        .cfi_undefined rbp
        endbr64
        movq    8(%rsp), %rdi           // argument
        movq    (%rsp), %rax            // entry
        addq    $24, %rsp               // leaves the return address for the unwinder at (%rsp)
        xorl    %ebp, %ebp
        jmpq    *%rax
        .cfi_endproc
        .size   weft_arch_first_step, . - weft_arch_first_step

// int weft_arch_swap_and_return(context* from, context* to)
// int weft_arch_swap_publishing_and_return(context* from, context* to, uint8_t value, uint8_t* word)
//
// swap() and swap_publishing() of context.hpp as functions of their own: who continues `from` makes the call
// return 0. It goes back by a jump: a `ret` would be predicted to go where the other stack came from.

        .macro  push_saved register
        pushq   \register
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset \register, 0
        .endm

        .macro  pop_saved register
        popq    \register
        .cfi_adjust_cfa_offset -8
        .cfi_restore \register
        .endm

// The running context is complete in (%rdi) after this, and the FP control words are those of (%rsi).
        .macro  leave_into_rdi
        endbr64_if_tracked
        push_saved %rbx
        push_saved %r12
        push_saved %r13
        push_saved %r14
        push_saved %r15
        leaq    continued(%rip), %rax
        movq    %rsp, (%rdi)
        movq    %rbp, 8(%rdi)
        movq    %rax, 16(%rdi)
        stmxcsr 24(%rdi)
        fnstcw  28(%rdi)
        movl    24(%rdi), %eax          // as WEFT_LOAD_CONTROL_RSI
        xorl    24(%rsi), %eax
        testl   $-64, %eax
        jne     2f
3:      movzwl  28(%rdi), %eax
        cmpw    28(%rsi), %ax
        jne     4f
5:
        .subsection 1
2:      andl    $-64, %eax
        xorl    24(%rdi), %eax
        movl    %eax, 24(%rsi)
        ldmxcsr 24(%rsi)
        jmp     3b
4:      fldcw   28(%rsi)
        jmp     5b
        .previous
        .endm

        .macro  continue_rsi
        .cfi_remember_state
        .cfi_undefined rip              // between two stacks
        movq    (%rsi), %rsp
        movq    8(%rsi), %rbp
        jmpq    *16(%rsi)
        .cfi_restore_state
        .endm

        .macro  endbr64_if_tracked
#ifdef __CET__
        endbr64
#endif
        .endm

        .p2align 4
        .globl  weft_arch_swap_publishing_and_return
        .type   weft_arch_swap_publishing_and_return, @function
weft_arch_swap_publishing_and_return:
        .cfi_startproc
        leave_into_rdi
        movb    %dl, (%rcx)             // GONE: from
        continue_rsi
        .cfi_endproc
        .size   weft_arch_swap_publishing_and_return, . - weft_arch_swap_publishing_and_return

        .p2align 4
        .globl  weft_arch_swap_and_return
        .type   weft_arch_swap_and_return, @function
weft_arch_swap_and_return:
        .cfi_startproc
        leave_into_rdi
        continue_rsi
continued:                              // of both: their frames are the same
        endbr64_if_tracked
        xorl    %eax, %eax
        pop_saved %r15
        pop_saved %r14
        pop_saved %r13
        pop_saved %r12
        pop_saved %rbx
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register %rip, %rcx
        notrack jmpq *%rcx
        .cfi_endproc
        .size   weft_arch_swap_and_return, . - weft_arch_swap_and_return

        .section .note.GNU-stack, "", @progbits

#if defined(__CET__) && (__CET__ & 1)
// Marked for indirect branch tracking, deliberately not for shadow stacks, which the switch does not follow:
// the loader starts what contains this object without one.
        .section .note.gnu.property, "a"
        .p2align 3
        .long   4, 16, 5                // sizes of name and contents; NT_GNU_PROPERTY_TYPE_0
        .asciz  "GNU"
        .long   0xc0000002, 4, 1, 0     // GNU_PROPERTY_X86_FEATURE_1_AND, IBT
#endif
