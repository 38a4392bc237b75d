// SPDX-License-Identifier: MIT
// One mapping split into strides of guard and stack. The slab's own record lives elsewhere (it is recycled,
// never unmapped), so that the fault handler may read it and a fully discarded slab costs no page.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/memory/stack_options.hpp"
#include "weft/memory/stack_record.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::memory {

// How the stacks of one class are laid out.
struct stack_layout {
  std::size_t nominal;
  std::size_t stride;
  std::size_t slab_bytes; // a multiple of stack_slab::granule
  std::uint32_t capacity;

  // Zero capacity: the size does not fit the address space.
  static stack_layout of(const stack_options& options, std::size_t nominal) noexcept;
};

// Ownership: the depot, under its mutex; the holder of a stack may read everything but the bitmaps, and the
// fault handler reads what is constant while a stack of the slab is live.
class stack_slab {
 public:
  static constexpr std::size_t granule = 2 << 20;     // alignment of slabs, and the registry's unit
  static constexpr std::size_t usual_bytes = 4 << 20; // larger only where a single stack is
  static constexpr unsigned max_stacks = 512;
  static constexpr unsigned colours = 48;
  static constexpr std::size_t colour_bytes = 64;

  // Null with an errno in `error`; nothing is left mapped then.
  static stack_slab* create(const stack_options& options, guard_mode guard, stack_pages pages,
                            unsigned size_class, std::size_t nominal, int& error) noexcept;
  // Unmaps; all stacks are stored. Returns the bytes unmapped.
  std::size_t destroy() noexcept;

  std::byte* base() const noexcept { return base_; }
  std::size_t bytes() const noexcept { return layout_.slab_bytes; }
  std::uint32_t capacity() const noexcept { return layout_.capacity; }
  std::uint32_t stored_count() const noexcept { return stored_count_; }
  unsigned size_class() const noexcept { return size_class_; }

  // Takes the lowest stored stack: its index. There is one.
  std::uint32_t take_index() noexcept;
  void put_index(std::uint32_t index) noexcept;
  // Guards the stack if it is not yet, and writes its record. By whoever took the index; no lock needed.
  stack_record* dress(std::uint32_t index) noexcept;
  // Discards the pages of stacks that came back since the last time.
  void discard_stored() noexcept;

  std::byte* stride_low(std::uint32_t index) const noexcept { return base_ + index * layout_.stride; }
  stack_record* record(std::uint32_t index) const noexcept {
    return reinterpret_cast<stack_record*>(stride_low(index) + layout_.stride - sizeof(stack_record) -
                                           (index % colours) * colour_bytes);
  }
  std::size_t guard_bytes() const noexcept { return guard_bytes_; }
  // Index of the stack whose guard holds `address`; false if none does. SIGNAL-SAFE.
  bool guard_at(std::uintptr_t address, std::uint32_t& index) const noexcept;

  // The slab that holds `address`, or null. Lock-free. Contexts: all, SIGNAL-SAFE. The answer stays true
  // while a stack of that slab is live.
  static stack_slab* find(std::uintptr_t address) noexcept;

 private:
  friend class stack_depot;
  friend struct inspection;

  static stack_slab* new_record() noexcept;
  static void recycle_record(stack_slab* slab) noexcept;

  bool map(stack_pages pages, int& error) noexcept;

  enum class dress_state : std::uint8_t { naked, guarded, canary };

  struct bitmap {
    std::uint64_t words[max_stacks / 64];
    bool test(std::uint32_t index) const noexcept { return (words[index / 64] >> (index % 64)) & 1; }
    void set(std::uint32_t index) noexcept { words[index / 64] |= std::uint64_t{1} << (index % 64); }
    void clear(std::uint32_t index) noexcept { words[index / 64] &= ~(std::uint64_t{1} << (index % 64)); }
  };

  std::byte* base_;
  stack_layout layout_;
  std::size_t guard_bytes_;
  std::size_t inline_need_; // what a unit that runs on its joiner's stack must find left
  guard_mode guard_;
  stack_pages pages_;
  std::uint8_t size_class_;
  std::uint32_t stored_count_;
  base::atomic<std::uint32_t> protected_count_; // guards that count against vm.max_map_count
  bitmap stored_;                               // free, and in no chain
  bitmap dirty_;                                // stored, and perhaps with pages
  dress_state dressed_[max_stacks];             // written by the holder of the index
  stack_slab *next_, *previous_;                // all slabs of the depot; next_ also links free records
  stack_slab *next_open_, *previous_open_;      // slabs with stored stacks
  stack_slab* next_soiled_;                     // slabs with dirty stacks
  bool open_;
  bool soiled_;
};

} // namespace weft::memory
