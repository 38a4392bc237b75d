// SPDX-License-Identifier: MIT
// Chooses the port. Every port offers the same names: context, swap, swap_with, cond_swap, restore,
// restore_with, save, make, call_on, relax, ticks, cache_line, port_name. The contract stands in README.md;
// weft/arch/portable is its executable form.
#pragma once

#if defined(WEFT_ARCH_PORTABLE)
#include "weft/arch/portable/context.hpp"
#elif defined(__x86_64__) && defined(__linux__) && !defined(__ILP32__)
#include "weft/arch/x86_64/context.hpp"
#else
#error "Weft has no fast port for this machine; configure with -DWEFT_ARCH=portable. Ports: x86_64, portable"
#endif
