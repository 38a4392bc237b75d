// SPDX-License-Identifier: MIT
// What was recorded, as those who write, convert or summarise it see it, whether it comes from the rings of
// this process or from a raw file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "weft/trace/event.hpp"
#include "weft/trace/name_table.hpp"
#include "weft/trace/record.hpp"

namespace weft::trace {

// The events of one worker, or of all kernel threads that are none. Invariants: times do not decrease and lie
// within the recording; a name number that is not on the list counts as none.
struct track {
  unsigned number = 0;       // of the worker in its group; workers of two groups may have the same
  std::uint32_t id = 0;      // no two tracks of a recording have the same
  bool outside = false;      // the kernel threads that are no workers
  std::uint64_t dropped = 0; // events older than those that are here
  std::span<const record> older;
  std::span<const record> newer;
  std::span<const name_entry> names;

  [[nodiscard]] std::size_t size() const noexcept { return older.size() + newer.size(); }
  [[nodiscard]] const record& at(std::size_t index) const noexcept {
    return index < older.size() ? older[index] : newer[index - older.size()];
  }
  // Of a unit that ran here, by the argument of event::run; null: not known.
  [[nodiscard]] const char* name_of(std::uint32_t argument) const noexcept {
    const std::uint32_t number_of_name = name_in(argument);
    const bool known = number_of_name != 0 && number_of_name <= names.size();
    return known && names[number_of_name - 1].text[0] != '\0' ? names[number_of_name - 1].text : nullptr;
  }
};

// Begin and end in nanoseconds of os::now_ns().
struct recording {
  static constexpr std::size_t program_bytes = 64;

  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  int process = 0;
  char program[program_bytes] = {}; // terminated
  counters totals;                  // since the process began
  std::vector<track> tracks;
  std::shared_ptr<const void> memory; // of what the tracks refer to; null: somebody else keeps it

  [[nodiscard]] std::uint64_t kept() const noexcept {
    std::uint64_t sum = 0;
    for (const track& t : tracks) {
      sum += t.size();
    }
    return sum;
  }
  [[nodiscard]] std::uint64_t dropped() const noexcept {
    std::uint64_t sum = 0;
    for (const track& t : tracks) {
      sum += t.dropped;
    }
    return sum;
  }
};

} // namespace weft::trace
