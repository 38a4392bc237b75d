// SPDX-License-Identifier: MIT
// A hash table from addresses to small records that is emptied in constant time: one execution is over in
// microseconds, and there are millions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace weft::model {

template <class Record>
class address_table {
 public:
  void clear() noexcept {
    ++generation_;
    count_ = 0;
  }

  /// The record of `address`, or null.
  Record* find(const void* address) noexcept {
    entry& found = probe(address);
    return found.generation == generation_ ? &found.record : nullptr;
  }

  /// The record of `address`, new or not.
  Record& at(const void* address) noexcept {
    entry& found = probe(address);
    if (found.generation != generation_) {
      if (++count_ > capacity / 2) {
        std::fputs("model: too many addresses in one execution\n", stderr);
        std::abort();
      }
      found = {address, generation_, Record{}};
      (*used_)[count_ - 1] = static_cast<std::uint16_t>(&found - entries_->data());
    }
    return found.record;
  }

  /// Calls visit(address, record) for each.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < count_; ++i) {
      const entry& e = (*entries_)[(*used_)[i]];
      visit(e.address, e.record);
    }
  }

 private:
  static constexpr std::size_t capacity = 4096;

  struct entry {
    const void* address = nullptr;
    std::uint64_t generation = 0;
    Record record{};
  };

  entry& probe(const void* address) noexcept {
    auto slot = (reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15U) >> 52;
    while ((*entries_)[slot].generation == generation_ && (*entries_)[slot].address != address) {
      slot = (slot + 1) % capacity;
    }
    return (*entries_)[slot];
  }

  std::unique_ptr<std::array<entry, capacity>> entries_ = std::make_unique<std::array<entry, capacity>>();
  std::unique_ptr<std::array<std::uint16_t, capacity / 2>> used_ =
      std::make_unique<std::array<std::uint16_t, capacity / 2>>();
  std::uint64_t generation_ = 1;
  std::size_t count_ = 0;
};

} // namespace weft::model
