// SPDX-License-Identifier: MIT
// The events of one worker in one session: the newest `capacity` of them, in memory straight from the kernel
// (it counts as resident only as far as it was written).
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/trace/name_table.hpp"
#include "weft/trace/record.hpp"

namespace weft::trace {

// Ownership: one writer, or one reader after the writer has been seen outside add() (recorder.hpp).
// Invariants: written events, of which the newest min(written, capacity) are kept; next == written %
// capacity.
struct ring {
  record* records;
  std::size_t capacity;
  std::size_t next;
  std::uint64_t written;
  std::uint64_t lost; // events before it could be allocated
  unsigned number;    // of the worker
  std::uint32_t track;
  bool outside;    // of the kernel threads that are no workers
  ring* following; // in the session's list
  name_table names;

  // Null without memory. Contexts: all but signal handlers. Switches: never.
  static ring* make(std::size_t capacity) noexcept;
  static void free(ring* r) noexcept;
  static void free_list(ring* first) noexcept;

  void append(const record& r) noexcept {
    records[next] = r;
    next = next + 1 == capacity ? 0 : next + 1;
    ++written;
  }
  [[nodiscard]] std::uint64_t kept() const noexcept { return written < capacity ? written : capacity; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return lost + written - kept(); }
  // The oldest has index 0.
  [[nodiscard]] const record& at(std::uint64_t index) const noexcept {
    return records[(next + capacity - kept() + index) % capacity];
  }
  // What is kept, in two parts: the newer one follows the older.
  [[nodiscard]] std::span<const record> older() const noexcept {
    return written < capacity ? std::span<const record>{}
                              : std::span<const record>{records + next, capacity - next};
  }
  [[nodiscard]] std::span<const record> newer() const noexcept { return {records, next}; }
};

} // namespace weft::trace
