// SPDX-License-Identifier: MIT
// The way of a preemptible thread from the user's code into the runtime (weft/carrier/user_mode.hpp). After
// the load of the worker and before the store or write that follows, a preemption would move the thread away
// from that worker: user_mode::is_entering() tells whoever handles ticks, which puts the preemption off.
        .text

// worker* weft_enter_runtime(ptrdiff_t here, ptrdiff_t current): copies the thread-local word at `here` to
// the one at `current`, both counted from the thread pointer, and returns it.
        .globl  weft_enter_runtime
        .hidden weft_enter_runtime
        .type   weft_enter_runtime, @function
        .p2align 4
weft_enter_runtime:
        .cfi_startproc
        endbr64
        movq    %fs:(%rdi), %rax
        movq    %rax, %fs:(%rsi)
        ret
        .cfi_endproc
        .size   weft_enter_runtime, .-weft_enter_runtime

// worker* weft_enter_runtime_from_block(ptrdiff_t here, ptrdiff_t own): for a thread on a TLS block of its
// own: loads the thread pointer that stands `own` bytes into the worker.
        .globl  weft_enter_runtime_from_block
        .hidden weft_enter_runtime_from_block
        .type   weft_enter_runtime_from_block, @function
weft_enter_runtime_from_block:
        .cfi_startproc
        endbr64
        movq    %fs:(%rdi), %rax
        movq    (%rax,%rsi), %rdx
        wrfsbase %rdx
        ret
        .cfi_endproc
        .size   weft_enter_runtime_from_block, .-weft_enter_runtime_from_block

        .section .note.GNU-stack, "", @progbits

#if defined(__CET__) && (__CET__ & 1)
// Marked for indirect branch tracking only, as context.S is, which says why.
        .section .note.gnu.property, "a"
        .p2align 3
        .long   4, 16, 5                // sizes of name and contents; NT_GNU_PROPERTY_TYPE_0
        .asciz  "GNU"
        .long   0xc0000002, 4, 1, 0     // GNU_PROPERTY_X86_FEATURE_1_AND, IBT
#endif
