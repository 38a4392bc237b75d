// SPDX-License-Identifier: MIT
// Start files with landing pads, for a program whose every page is guarded (aarch64, -z force-bti): those of
// the distribution may have none.
        .text
        .globl  _start
        .type   _start, @function
_start:
        .cfi_startproc
        .cfi_undefined x30
        hint    34
        mov     x29, 0
        mov     x30, 0
        mov     x5, x0                  // what the loader wants to be run at exit
        ldr     x1, [sp]
        add     x2, sp, 8
        mov     x6, sp
        adrp    x0, :got:main
        ldr     x0, [x0, :got_lo12:main]
        mov     x3, 0
        mov     x4, 0
        bl      __libc_start_main
        brk     1
        .cfi_endproc
        .size   _start, . - _start

        .data
        .p2align 3
        .globl  __dso_handle
        .hidden __dso_handle
__dso_handle:
        .quad   __dso_handle

        .section .note.GNU-stack, "", @progbits
