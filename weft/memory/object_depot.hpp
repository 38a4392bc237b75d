// SPDX-License-Identifier: MIT
// What the object caches of one type share: the slabs' headers, the estates that slabs belong to, and, behind
// a mutex, the slabs of caches that have died, until another cache adopts them.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace weft::memory {

class object_cache_base;
class object_depot;
struct object_estate;

// The head of each slab. Written by the slab's owner, or under the depot's mutex while it has none.
struct alignas(64) object_slab {
  static constexpr std::size_t bytes = 64 << 10;

  base::atomic<object_cache_base*> owner; // null: orphan
  base::atomic<object_estate*> estate;    // where frees from elsewhere go; never null
  object_slab* next;                      // of the same estate; guarded by the depot's mutex
  std::uint32_t carved;                   // objects handed out at least once
  std::uint32_t counted;                  // trim()'s scratch: free objects found

  static object_slab* of(const void* object) noexcept {
    return reinterpret_cast<object_slab*>(reinterpret_cast<std::uintptr_t>(object) & ~(bytes - 1));
  }
};
static_assert(sizeof(object_slab) == 64);

// The immortal part of a cache: estates are recycled and never deallocated, so that a free from elsewhere may
// push here whatever has become of the cache it read the estate for.
struct alignas(64) object_estate {
  base::atomic<void*> remote; // objects freed elsewhere: a Treiber stack, emptied as a whole
  object_slab* slabs;         // guarded by the depot's mutex
  std::uint32_t unfinished;   // slabs that are not wholly carved and not being filled; same mutex
  bool mixed;                 // remote may hold objects of slabs that have moved to another estate
  void* orphans;              // free objects of a dead cache
  object_estate* next_all;    // every estate of the depot
  object_estate* next_idle;   // orphaned or retired
};

class WEFT_API object_depot {
 public:
  constexpr object_depot(std::size_t size, std::size_t alignment, std::size_t link_offset) noexcept
      : size_{(size + alignment - 1) / alignment * alignment}, link_offset_{link_offset},
        first_{(sizeof(object_slab) + size_ - 1) / size_ * size_},
        capacity_{static_cast<std::uint32_t>((object_slab::bytes - first_) / size_)} {}
  object_depot(const object_depot&) = delete;
  object_depot& operator=(const object_depot&) = delete;

  struct statistics {
    std::size_t live;   // handed out and not freed
    std::size_t cached; // free, in caches and on their way back
    std::size_t slabs;
    std::size_t mapped_bytes;
  };
  // RACY: exact while no cache of this depot is in use. Walks every list of free objects. Contexts: any
  // kernel thread, at any time. Errors: std::bad_alloc.
  statistics count();
  // Slabs mapped now. Contexts: any kernel thread, at any time.
  std::size_t slab_count() const noexcept {
    return slab_count_.load_relaxed();
  } // relaxed: a figure for people

  std::uint32_t capacity() const noexcept { return capacity_; }

 private:
  friend class object_cache_base;
  friend struct inspection;
  friend void register_depot(object_depot& depot) noexcept;
  friend void fork_prepare() noexcept;
  friend void release_after_fork() noexcept;

  bool owns(const std::vector<const object_slab*>& sorted, const void* object) const noexcept;
  std::size_t length(void* list, const std::vector<const object_slab*>& sorted) const noexcept;
  void*& link(void* object) const noexcept {
    return *reinterpret_cast<void**>(static_cast<std::byte*>(object) + link_offset_);
  }
  object_estate* take_estate_locked(bool& orphaned) noexcept;
  object_slab* map_slab_locked(int& error) noexcept;

  std::size_t size_;
  std::size_t link_offset_;
  std::size_t first_; // offset of a slab's first object
  std::uint32_t capacity_;

  std::mutex mutex_;
  object_estate* estates_ = nullptr;  // all
  object_estate* orphaned_ = nullptr; // have slabs and no cache
  object_estate* retired_ = nullptr;  // have neither; recycled
  object_cache_base* caches_ = nullptr;
  object_depot* next_depot_ = nullptr; // in fork.cpp's list
  bool registered_ = false;
  base::atomic<std::size_t> slab_count_ = 0;
};

} // namespace weft::memory
