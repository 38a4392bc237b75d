// SPDX-License-Identifier: MIT
// Where the operations of the code under test stand in its source, and the one that is weakened in this
// execution: a mutation by place and kind, for which nothing is compiled anew. tests/model/mutations.hpp
// walks over all of them. Bugs of logic are seeded the same way.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace weft::model {

enum class operation : std::uint8_t { load, store, rmw, cas, fence, heavy_fence, futex_wait, futex_wake };

enum class weakening : std::uint8_t {
  relaxed, // no order at all
  acquire, // its acquire half remains
  release, // its release half remains
  acq_rel, // no longer sequentially consistent
  dropped, // it does nothing (a fence, a wake-up); a heavy fence becomes a full one of its caller alone
  blind,   // a futex wait that sleeps whatever the word reads
  // Bugs of logic.
  unseen,    // a load that finds what stood there at first: a look that was forgotten
  late,      // a store changes places with what its thread does next
  forgotten, // a store or a read-modify-write that changes nothing
  unchecked, // a compare-and-swap that stores whatever stands there, and says that it did
};

/// One way to weaken one place.
struct mutation {
  std::source_location where;
  operation what;
  weakening how;

  /// "file: function: operation -> weakening", the same for all instances of a template.
  [[nodiscard]] std::string name() const;
};

namespace sites {

/// The place of the operation that is about to run, set by the seam. In the heap: no state of a program.
extern std::source_location& standing;

/// From now on the places that operations of weft/ pass are noted, anew.
void start_noting();
/// Every weakening of every place noted since, or every bug of logic there, in the order of the source.
/// Noting ends.
std::vector<mutation> stop_noting(bool logic = false);
/// From now on this one is in force; null: none.
void weaken(const mutation* one);

/// The order in which the operation at `standing` runs.
std::memory_order order(operation what, std::memory_order asked);
/// Whether the operation at `standing` is left out, or runs blind.
bool is_off(operation what);
/// Whether it has this bug of logic. All these are asked before the engine steps, which lets others run.
bool has(operation what, weakening bug);

} // namespace sites
} // namespace weft::model
