// SPDX-License-Identifier: MIT
// A worker's descriptors: objects of one size from slabs of 64 KiB aligned at 64 KiB, so that an object's
// slab is found by a mask. Freed by its owner, an object is pushed on a list of that worker alone; freed
// elsewhere, it goes back through a lock-free stack that the owner empties with one exchange. The protocol is
// in README.md.
//
// Objects are type-stable: a freed object stays readable (its free-list link aside) until trim() unmaps its
// slab.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"
#include "weft/memory/object_depot.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>

namespace weft::memory {

// Where in a free T the list link lives, in bytes. Specialise it for a T whose first word must survive a
// free.
template <class T>
inline constexpr std::size_t object_link_offset = 0;

// The part that does not depend on T. Ownership: one worker.
class WEFT_API object_cache_base {
 public:
  object_cache_base(const object_cache_base&) = delete;
  object_cache_base& operator=(const object_cache_base&) = delete;

  // Gives wholly free slabs back to the OS, except `keep_slabs` of them. For idle workers: costs a walk over
  // the free list. Returns bytes unmapped. Contexts: the owning worker. Switches: never.
  std::size_t trim(std::size_t keep_slabs = 1) noexcept;

  // errno of the last allocation that returned null.
  int last_error() const noexcept { return last_error_; }

 protected:
  explicit object_cache_base(object_depot& depot) noexcept;
  // Its slabs become orphans; the next cache of this depot adopts them.
  ~object_cache_base();

  void* allocate_slowly() noexcept;
  void free_elsewhere(void* object) noexcept;

  void* free_ = nullptr;

 private:
  friend class object_depot;
  friend struct inspection;

  void sort(void* list) noexcept;
  void take_remote() noexcept;
  void own_estate_locked() noexcept;
  void* carve() noexcept;
  void adopt_locked(object_estate& orphan) noexcept;
  bool refill_locked() noexcept;
  object_slab* release_slabs_locked(std::size_t keep_slabs) noexcept;

  object_depot& depot_;
  object_estate* estate_;
  object_slab* filling_ = nullptr; // has objects that were never handed out
  int last_error_ = 0;
  object_cache_base* next_ = nullptr; // in the depot's list of caches
};

// T is trivially reusable: the cache neither constructs nor destroys it, and hands out whatever was left in
// it.
template <class T>
class object_cache : public object_cache_base {
  static_assert(std::is_trivially_destructible_v<T>);
  static_assert(object_link_offset<T> + sizeof(void*) <= sizeof(T) &&
                object_link_offset<T> % sizeof(void*) == 0);

 public:
  // The process-wide depot of this T.
  static object_depot& process_depot() noexcept {
    static constinit object_depot depot{sizeof(T), alignof(T), object_link_offset<T>};
    return depot;
  }

  explicit object_cache(object_depot& depot = process_depot()) noexcept : object_cache_base{depot} {}

  // A T, or null when memory is out (nothing has changed then). 5 instructions when one is cached.
  // Contexts: thread, tasklet, by the owning worker, not preemptible. Switches: never. Errors: null.
  [[gnu::always_inline]] T* allocate() noexcept {
    void* object = free_;
    if (object == nullptr) [[unlikely]] {
      return static_cast<T*>(allocate_slowly());
    }
    free_ = link(object);
    return static_cast<T*>(object);
  }

  // A T if one is cached, else null: allocate() then has to look further. 5 instructions, and no call.
  [[gnu::always_inline]] T* allocate_cached() noexcept {
    void* object = free_;
    if (object != nullptr) [[likely]]
      free_ = link(object);
    return static_cast<T*>(object);
  }

  // Takes back a T that is of this cache; false, and nothing happens, if it is not. 7 instructions.
  // `this` may be an address where there is no cache: no T is of it.
  [[gnu::always_inline]] bool free_here(T* object) noexcept {
    if (!object_slab::of(object)->owner.equals_relaxed(this)) [[unlikely]]
      return false; // relaxed: as in free()
    link(object) = free_;
    free_ = object;
    return true;
  }

  // Takes back a T of any cache of the same depot. 7 instructions when it is of this one.
  // Contexts: as allocate(). Switches: never. Errors: none.
  [[gnu::always_inline]] void free(T* object) noexcept {
    // relaxed: only this worker ever writes `this` into an owner field or replaces it, so equality is exact
    if (!object_slab::of(object)->owner.equals_relaxed(this)) [[unlikely]] {
      free_elsewhere(object);
      return;
    }
    link(object) = free_;
    free_ = object;
  }

 private:
  using link_word [[gnu::may_alias]] = void*;
  static link_word& link(void* object) noexcept {
    return *reinterpret_cast<link_word*>(static_cast<std::byte*>(object) + object_link_offset<T>);
  }
};

// For kernel threads that are no worker: one cache behind a mutex, safe from any of them.
template <class T>
class shared_object_cache {
 public:
  explicit shared_object_cache(object_depot& depot = object_cache<T>::process_depot()) noexcept
      : cache_{depot} {}

  // As object_cache's. Contexts: foreign kernel thread, thread, tasklet. Switches: never (may block the
  // kernel thread).
  T* allocate() noexcept {
    std::scoped_lock guard{mutex_};
    return cache_.allocate();
  }
  void free(T* object) noexcept {
    std::scoped_lock guard{mutex_};
    cache_.free(object);
  }
  std::size_t trim(std::size_t keep_slabs = 1) noexcept {
    std::scoped_lock guard{mutex_};
    return cache_.trim(keep_slabs);
  }

  // For fork: hold the mutex across it.
  void prepare_fork() noexcept { mutex_.lock(); }
  void after_fork() noexcept { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  object_cache<T> cache_;
};

} // namespace weft::memory
