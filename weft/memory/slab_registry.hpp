// SPDX-License-Identifier: MIT
// Which slab an address belongs to, for a fault handler that may take no lock: a two-level radix table over
// 48 bits of address in units of stack_slab::granule. Leaves are mapped when first needed and never unmapped.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::memory {

class stack_slab;

// Enters `slab` for [base, base + bytes). False when a leaf cannot be mapped or the address has more than 48
// bits; nothing is entered then.
bool register_slab(std::uintptr_t base, std::size_t bytes, stack_slab* slab) noexcept;
void unregister_slab(std::uintptr_t base, std::size_t bytes) noexcept;
// SIGNAL-SAFE, lock-free.
stack_slab* registered_slab(std::uintptr_t address) noexcept;

} // namespace weft::memory
