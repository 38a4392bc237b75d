// SPDX-License-Identifier: MIT
// The way back from a signal handler without rt_sigreturn (weft/arch/signal_return.hpp).
//
// The return address, the flags and the two registers that are needed to the end go below the red zone of the
// interrupted code, where the kernel's frame ends with vector registers. So these are loaded first. From the
// load of rsp on, nothing of the frame is needed. A signal may come between any two instructions: what is
// still needed lies above the stack pointer at all times.
        .text

// void weft_return_from_signal(const greg_t* registers, const void* vectors, uint64_t features): those of the
// frame. Does not return.
        .globl  weft_return_from_signal
        .hidden weft_return_from_signal
        .type   weft_return_from_signal, @function
        .p2align 4
weft_return_from_signal:
        .cfi_startproc
        .cfi_undefined rip
        endbr64
        movq    %rdx, %rax
        shrq    $32, %rdx
        xrstor64 (%rsi)
        // In the order of gregset_t: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, flags.
        movq    120(%rdi), %rax
        movq    128(%rdi), %rcx
        movq    %rcx, -136(%rax)
        movq    136(%rdi), %rcx
        movq    %rcx, -144(%rax)
        movq    64(%rdi), %rcx
        movq    %rcx, -152(%rax)
        movq    104(%rdi), %rcx
        movq    %rcx, -160(%rax)
        movq    (%rdi), %r8
        movq    8(%rdi), %r9
        movq    16(%rdi), %r10
        movq    24(%rdi), %r11
        movq    32(%rdi), %r12
        movq    40(%rdi), %r13
        movq    48(%rdi), %r14
        movq    56(%rdi), %r15
        movq    72(%rdi), %rsi
        movq    80(%rdi), %rbp
        movq    88(%rdi), %rbx
        movq    96(%rdi), %rdx
        movq    112(%rdi), %rcx
        leaq    -160(%rax), %rsp
        popq    %rax
        popq    %rdi
        popfq
        ret     $128
        .cfi_endproc
        .size   weft_return_from_signal, .-weft_return_from_signal

        .section .note.GNU-stack, "", @progbits

#if defined(__CET__) && (__CET__ & 1)
// Marked for indirect branch tracking only, as context.S is, which says why.
        .section .note.gnu.property, "a"
        .p2align 3
        .long   4, 16, 5                // sizes of name and contents; NT_GNU_PROPERTY_TYPE_0
        .asciz  "GNU"
        .long   0xc0000002, 4, 1, 0     // GNU_PROPERTY_X86_FEATURE_1_AND, IBT
#endif
