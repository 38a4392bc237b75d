// SPDX-License-Identifier: MIT
// The memory model: C++20 atomics as histories of stores and views. Every location keeps all stores of the
// execution; a load may return any that its thread's view does not hide. See tests/model/README.md for what
// is exact and what is bounded.
#pragma once

#include "tests/model/checker/quarantine.hpp"
#include "tests/model/checker/seen_states.hpp"
#include "tests/model/checker/view.hpp"
#include "tests/model/checker/whole_state.hpp"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::model {

/// The bytes of an atomic's value.
using word = std::uint64_t;

enum class rmw_op : std::uint8_t { exchange, add, subtract, bit_or, bit_and, bit_xor };

/// The part of a model thread that the memory model keeps.
struct thread_memory {
  view now;             ///< what the thread has seen
  view release_fence;   ///< `now` at its last release fence: what its relaxed stores publish
  view acquire_pending; ///< what its relaxed loads would have acquired: taken by its next acquire fence
  /// relax() count, and per location the count when it was last read: a spinning thread makes progress.
  std::uint32_t relaxations = 1;
  std::array<std::uint32_t, max_locations> read_at{};
};

/// What a load found.
struct load_result {
  word value;
  bool stale; ///< not the newest store
};

class memory {
 public:
  /// Forgets everything.
  void reset() noexcept;

  /// A new atomic location, constructed by a thread at a point of its clock; its index.
  int add_location(unsigned constructor, std::uint32_t constructor_clock, word initial);

  /// How many stores a load by `by` may return, newest first; 1 means no choice.
  unsigned readable(const thread_memory& by, int location, std::memory_order order) const noexcept;

  load_result load(thread_memory& by, int location, std::memory_order order, unsigned stores_back);
  void store(thread_memory& by, int location, std::memory_order order, word value);
  /// How many places in the modification order a store by `by` may take, the newest first; 1 means no choice.
  unsigned placements(const thread_memory& by, int location, std::memory_order order) const noexcept;
  /// Makes room for a store `places_back` before the end, in what this object keeps; returns its index, by
  /// which the views of threads must make_room() too.
  int make_room(int location, unsigned places_back) noexcept;
  /// Fills the room.
  void store_into(thread_memory& by, int location, int index, std::memory_order order, word value);
  /// Replaces the newest store; the value it had.
  word replace(thread_memory& by, int location, std::memory_order order, word value);
  /// Value of the store that lies `stores_back` behind the newest.
  word peek(int location, unsigned stores_back = 0) const noexcept;
  /// How far its first store lies behind the newest.
  unsigned oldest(int location) const noexcept;

  void fence(thread_memory& by, std::memory_order order) noexcept;

  int locations() const noexcept { return count_; }

  /// What the threads know that have not finished.
  using readers = std::span<const view* const>;
  /// Of what some thread can still find. `names`: of the locations; those without one are gone.
  std::uint64_t hash(const views_told_apart& views, const location_names& names,
                     const readers& live) const noexcept;

  /// The two sides of the construction rule: an access must happen after the constructor.
  bool constructed_before(const thread_memory& by, int location) const noexcept;

 private:
  struct store_record {
    word value;
    view published;        ///< what an acquire load of this store sees
    bool replaces = false; ///< a read-modify-write: nothing comes between it and the store before
  };
  struct location_record {
    std::vector<store_record, host_allocator<store_record>> stores;
    unsigned constructor;
    std::uint32_t constructor_clock;
  };

  static view known_to_readers(const readers& live, std::size_t location, std::size_t store) noexcept;
  template <class Visit>
  void visit_live(const views_told_apart& views, const location_names& names, Visit visit) const;
  void acquire_from(thread_memory& by, const store_record& from, std::memory_order order) noexcept;
  store_record& append(thread_memory& by, int location, std::memory_order order, word value);

  std::vector<location_record, host_allocator<location_record>> locations_;
  int count_ = 0;
  view sequential_; ///< what the last sequentially consistent operations and fences have made common
};

/// The result of applying `op`, cut to `mask`.
word apply(rmw_op op, word old, word operand, word mask) noexcept;

} // namespace weft::model
