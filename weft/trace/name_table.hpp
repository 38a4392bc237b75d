// SPDX-License-Identifier: MIT
// The names of the units that ran on one worker: each is kept once, and records refer to it by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace weft::trace {

// What tells units apart for people: the first of these that there is.
struct unit_name {
  char given[32];       // by the program, terminated; empty: none
  const char* label;    // static text that names the type of a function ("... Callable = type]"); null: none
  const void* function; // its code
};

// As kept, and as it stands in a raw file.
struct name_entry {
  static constexpr std::size_t text_bytes = 96;
  char text[text_bytes]; // terminated; empty until resolve() for those that are an address only
};
static_assert(std::has_unique_object_representations_v<name_entry>);

// Ownership: as ring's (ring.hpp), of which it is a part.
// Invariants: `slots` holds numbers, 0 where there is none, by open addressing; at most half of it is used.
class name_table {
 public:
  static constexpr std::uint32_t capacity = 1024;

  // Errors: false without memory.
  [[nodiscard]] bool make() noexcept;
  void free() noexcept;

  // The number of a name, from 1 on; it is added if need be. 0: it is full. Contexts: any. Switches: never.
  std::uint32_t number_of(const unit_name& name) noexcept;

  // Turns addresses into names of functions; `describe` may take its time. Once recording has stopped.
  void resolve(void (*describe)(const void* address, char* buffer, std::size_t bytes)) noexcept;

  [[nodiscard]] std::span<const name_entry> all() const noexcept { return {content_->entries, used_}; }

 private:
  struct content {
    std::uint16_t slots[2 * capacity];
    std::uint64_t keys[capacity];
    const void* functions[capacity]; // to be resolved
    name_entry entries[capacity];
  };

  content* content_ = nullptr; // straight from the kernel: resident as far as it was used
  std::uint32_t used_ = 0;
};

} // namespace weft::trace
