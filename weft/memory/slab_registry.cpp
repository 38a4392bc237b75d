// SPDX-License-Identifier: MIT
#include "weft/memory/slab_registry.hpp"

#include "weft/base/atomic.hpp"
#include "weft/memory/stack_slab.hpp"
#include "weft/os/mapping.hpp"

#include <bit>
#include <iterator>

namespace weft::memory {
namespace {

constexpr unsigned granule_bits = std::countr_zero(stack_slab::granule);
constexpr unsigned leaf_bits = 14;
constexpr unsigned root_bits = 48 - granule_bits - leaf_bits;

struct leaf {
  base::atomic<stack_slab*> slots[std::size_t{1} << leaf_bits];
};

constinit base::atomic<leaf*> root[std::size_t{1} << root_bits] = {};

std::size_t root_index(std::uintptr_t unit) noexcept {
  return unit >> leaf_bits;
}
std::size_t leaf_index(std::uintptr_t unit) noexcept {
  return unit & ((std::uintptr_t{1} << leaf_bits) - 1);
}

leaf* leaf_for(std::uintptr_t unit) noexcept {
  base::atomic<leaf*>& place = root[root_index(unit)];
  leaf* present = place.load_acquire(); // acquire: pairs with the cas below
  if (present != nullptr) {
    return present;
  }
  void* fresh = nullptr;
  if (os::map(os::round_up_to_page(sizeof(leaf)), os::page_access::read_write, &fresh) != 0) {
    return nullptr;
  }
  // Zero bytes are null pointers on every system we run on.
  auto* made = static_cast<leaf*>(fresh);
  if (place.cas_strong_acq_rel(present,
                               made)) { // release: publishes the leaf; pairs with the loads of a leaf
    return made;
  }
  os::unmap(fresh, os::round_up_to_page(sizeof(leaf)));
  return present;
}

void fill(std::uintptr_t first, std::uintptr_t end, stack_slab* slab) noexcept {
  for (std::uintptr_t unit = first; unit < end; ++unit) {
    // release: publishes the slab's fields; pairs with the acquire in registered_slab()
    root[root_index(unit)].load_relaxed()->slots[leaf_index(unit)].store_release(slab);
  }
}

} // namespace

bool register_slab(std::uintptr_t base, std::size_t bytes, stack_slab* slab) noexcept {
  const std::uintptr_t first = base >> granule_bits;
  const std::uintptr_t end = (base + bytes) >> granule_bits;
  if (root_index(end - 1) >= std::size(root)) {
    return false;
  }
  for (std::uintptr_t unit = first; unit < end; unit = (unit | ((std::uintptr_t{1} << leaf_bits) - 1)) + 1) {
    if (leaf_for(unit) == nullptr) {
      return false;
    }
  }
  fill(first, end, slab);
  return true;
}

void unregister_slab(std::uintptr_t base, std::size_t bytes) noexcept {
  fill(base >> granule_bits, (base + bytes) >> granule_bits, nullptr);
}

stack_slab* registered_slab(std::uintptr_t address) noexcept {
  const std::uintptr_t unit = address >> granule_bits;
  if (root_index(unit) >= std::size(root)) {
    return nullptr;
  }
  leaf* present = root[root_index(unit)].load_acquire(); // acquire: pairs with leaf_for()
  // acquire: pairs with fill()
  return present == nullptr ? nullptr : present->slots[leaf_index(unit)].load_acquire();
}

} // namespace weft::memory
