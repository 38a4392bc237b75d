// SPDX-License-Identifier: MIT
// Chooses the port. Every port offers the same names: context, swap, swap_with, cond_swap, restore,
// restore_with, save, make, call_on, relax, ticks, cache_line, port_name. The contract stands in README.md;
// weft/arch/portable is its executable form.
#pragma once

#if defined(WEFT_ARCH_PORTABLE)
#include "weft/arch/portable/context.hpp"
#elif defined(__x86_64__) && defined(__linux__) && !defined(__ILP32__)
#include "weft/arch/x86_64/context.hpp"
#elif defined(__aarch64__) && defined(__AARCH64EL__) && defined(__linux__) && !defined(__ILP32__)
#include "weft/arch/aarch64/context.hpp"
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__) && defined(__linux__) && _CALL_ELF == 2
#include "weft/arch/ppc64le/context.hpp"
#elif defined(__riscv) && __riscv_xlen == 64 && defined(__riscv_float_abi_double) && defined(__linux__)
#include "weft/arch/riscv64/context.hpp"
#else
#error "No fast port for this machine (x86_64, aarch64, ppc64le, riscv64); use -DWEFT_ARCH=portable"
#endif
