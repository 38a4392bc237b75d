// SPDX-License-Identifier: MIT
// Merging: an execution that comes to a state from which all executions have been run, or are about to be, is
// not gone on with. What makes a state, and why nothing is missed: tests/model/README.md, "Merging".
#pragma once

#include "tests/model/checker/quarantine.hpp"
#include "tests/model/checker/view.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::model {

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t x = a * 0x9E3779B97F4A7C15U + b + 0x7F4A7C15F39CC060U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// What locations are called, by index: the index itself depends on who came first.
using location_names = std::array<std::uint64_t, max_locations>;

/// A set of 64-bit hashes. With n of them two states are taken for one with probability n^2 / 2^65.
class seen_states {
 public:
  void clear() noexcept {
    slots_.assign(std::size_t{1} << 12, 0);
    count_ = 0;
  }
  std::size_t count() const noexcept { return count_; }

  /// Whether it is new.
  bool insert(std::uint64_t hash) {
    hash |= hash == 0 ? 1 : 0;
    if (2 * (count_ + 1) > slots_.size())
      grow();
    std::uint64_t& slot = find(hash);
    if (slot == hash)
      return false;
    slot = hash;
    ++count_;
    return true;
  }

 private:
  using table = std::vector<std::uint64_t, host_allocator<std::uint64_t>>;

  std::uint64_t& find(std::uint64_t hash) noexcept {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != 0 && slots_[at] != hash)
      at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    table old(2 * slots_.size(), 0);
    old.swap(slots_);
    for (const std::uint64_t each : old) {
      if (each != 0)
        find(each) = each;
    }
  }

  table slots_ = table(std::size_t{1} << 12, 0);
  std::size_t count_ = 0;
};

} // namespace weft::model
