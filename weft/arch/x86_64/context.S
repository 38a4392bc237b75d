// SPDX-License-Identifier: MIT
// The bottom of every Weft stack on x86-64, and the first instructions of a context prepared by make().
//
//   top - 8    return address: weft_arch_thread_return; its unwind rule for the return address: undefined
//   top - 16   (make only) unused
//   top - 24   (make only) argument
//   top - 32   (make only) entry function; rsp points here at the first switch
//
// Not saved: thread pointer, signal mask.

        .text
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
