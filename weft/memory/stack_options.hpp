// SPDX-License-Identifier: MIT
// How stacks are made: sizes, guards and pages, chosen once when a depot is built; the process's own depot
// reads the knobs WEFT_STACK_SIZE, WEFT_STACK_RESERVE, WEFT_INLINE_JOIN, WEFT_GUARD, WEFT_GUARD_SIZE,
// WEFT_STACK_PAGES and WEFT_STACK_WATERMARK. Also the size classes: 4 KiB, 8, 12, 16, 24, 32, 48, 64, 96 ...
// 64 GiB, powers of two and one and a half of them.
#pragma once

#include "weft/base/export.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace weft::memory {

enum class guard_mode : std::uint8_t {
  automatic, // madvise where the kernel has it, else mprotect; canary on huge pages
  madvise,   // MADV_GUARD_INSTALL (Linux 6.13): no mapping of its own
  mprotect,  // two mappings a stack; canary once half of vm.max_map_count is used
  canary,    // a readable zone that must stay zero, checked at free and by check_canary()
  none
};

enum class stack_pages : std::uint8_t { normal, huge, transparent };

struct stack_options {
  static constexpr std::size_t min_size = 4 << 10;
  static constexpr std::size_t max_size = std::size_t{64} << 30;
  static constexpr std::size_t max_guard_bytes = 1 << 20;
  // Class 0 is the default size, whatever it is; the others follow from the size alone.
  static constexpr unsigned class_count = 49;

  std::size_t default_size = 64 << 10;
  // Lazily touched bytes beyond the nominal size: what a chain of inline joins may use up.
  std::size_t reserve = 16 << 10;
  std::size_t guard_bytes = 4 << 10;
  guard_mode guard = guard_mode::automatic;
  stack_pages pages = stack_pages::normal;
  // Whether a unit may run on the stack of the thread that joins it.
  bool inline_joins = true;

  // Bytes that a unit must find left on its joiner's stack to run there: the default size, whatever the
  // joiner's own is. Contexts: all.
  constexpr std::size_t inline_need() const noexcept { return inline_joins ? default_size : ~std::size_t{0}; }
  // stack_record::inline_floor for a stack whose lowest usable byte is `low`. Contexts: all.
  static const std::byte* inline_floor(const std::byte* low, std::size_t need) noexcept {
    constexpr auto never =
        static_cast<std::uintptr_t>(-1) / 2; // above every frame, and below none by subtraction
    const auto at = reinterpret_cast<std::uintptr_t>(low);
    return reinterpret_cast<const std::byte*>(need > never - at ? never : at + need);
  }

  // As the knobs say. Contexts: thread, foreign kernel thread. Switches: never. Errors: a bad value is said
  // by its knob.
  WEFT_API static stack_options from_knobs() noexcept;

  // In place of the knob's value, for depots that are built from now on. Contexts: all but signal handlers.
  WEFT_API static void set_default_size(std::size_t bytes) noexcept;

  // Rounded up to a class; `size` is in min_size..max_size. Contexts: all.
  static constexpr std::size_t round_to_class(std::size_t size) noexcept {
    return class_size(class_of(size));
  }

  // Class of a size in 1..max_size, at least 1.
  static constexpr unsigned class_of(std::size_t size) noexcept {
    if (size <= min_size) {
      return 1;
    }
    const unsigned log = static_cast<unsigned>(std::bit_width(size - 1)) - 1; // 2^log < size <= 2^(log+1)
    const std::size_t middle = (std::size_t{1} << log) + (std::size_t{1} << (log - 1));
    // 6 KiB is no multiple of the page, so the first step has no middle.
    if (size <= middle && log > 12) {
      return 2 * (log - 12) + 1;
    }
    return 2 * (log - 11);
  }
  static constexpr std::size_t class_size(unsigned index) noexcept {
    if (index <= 1) {
      return min_size;
    }
    const unsigned half = index / 2;
    return index % 2 == 0 ? min_size << half : (min_size << half) + ((min_size << half) >> 1);
  }
};

static_assert(stack_options::class_of(4096) == 1 && stack_options::class_size(1) == 4096);
static_assert(stack_options::class_of(4097) == 2 && stack_options::class_size(2) == 8192);
static_assert(stack_options::class_of(8193) == 3 && stack_options::class_size(3) == 12288);
static_assert(stack_options::class_of(12289) == 4 && stack_options::class_size(4) == 16384);
static_assert(stack_options::class_size(stack_options::class_of(20000)) == 24 << 10);
static_assert(stack_options::class_of(stack_options::max_size) == stack_options::class_count - 1);

} // namespace weft::memory
