// SPDX-License-Identifier: MIT
#include "weft/memory/object_cache.hpp"

#include "weft/base/assert.hpp"
#include "weft/memory/fork.hpp"
#include "weft/os/mapping.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <new>

namespace weft::memory {
namespace {

// So many objects are linked when fresh ones are needed: about a page, so that a slab is touched as it is
// used.
constexpr std::size_t carve_bytes = 4 << 10;

} // namespace

object_cache_base::object_cache_base(object_depot& depot) noexcept : depot_{depot} {
  register_depot(depot);
  std::scoped_lock guard{depot.mutex_};
  next_ = depot.caches_;
  depot.caches_ = this;
  bool orphaned = false;
  estate_ = depot.take_estate_locked(orphaned);
  if (orphaned) {
    own_estate_locked();
  }
}

// The estate of a dead cache, with its slabs, has become this cache's.
void object_cache_base::own_estate_locked() noexcept {
  free_ = estate_->orphans;
  estate_->orphans = nullptr;
  for (object_slab* slab = estate_->slabs; slab != nullptr; slab = slab->next) {
    // relaxed: nobody but this worker compares it with this cache; frees elsewhere only see "not mine" either
    // way
    slab->owner.store_relaxed(this);
  }
}

object_cache_base::~object_cache_base() {
  std::scoped_lock guard{depot_.mutex_};
  object_cache_base** place = &depot_.caches_;
  while (*place != this) {
    place = &(*place)->next_;
  }
  *place = next_;
  if (estate_ == nullptr) {
    return;
  }
  for (object_slab* slab = estate_->slabs; slab != nullptr; slab = slab->next) {
    slab->owner.store_relaxed(nullptr); // relaxed: as in the constructor; adopters come through the mutex
  }
  if (filling_ != nullptr) {
    ++estate_->unfinished;
  }
  estate_->orphans = free_;
  object_estate*& list = estate_->slabs != nullptr ? depot_.orphaned_ : depot_.retired_;
  estate_->next_idle = list;
  list = estate_;
}

void object_cache_base::free_elsewhere(void* object) noexcept {
  // acquire: pairs with the release in adopt_locked(), so that the estate's fields are seen
  object_estate* estate = object_slab::of(object)->estate.load_acquire();
  void* head = estate->remote.load_relaxed(); // relaxed: only a guess for the cas
  do {
    depot_.link(object) = head;
    // (R1) release: publishes the link and all that was written to the object; pairs with (R2) in
    // take_remote()
  } while (!estate->remote.cas_weak_release(head, object));
}

// Objects of this cache join the free list; others, whose slab moved while they were on their way, go
// on.
void object_cache_base::sort(void* list) noexcept {
  while (list != nullptr) {
    void* next = depot_.link(list);
    if (object_slab::of(list)->owner.load_relaxed() == this) { // relaxed: as in object_cache::free()
      depot_.link(list) = free_;
      free_ = list;
    } else {
      free_elsewhere(list);
    }
    list = next;
  }
}

void object_cache_base::take_remote() noexcept {
  // (R2) acquire: pairs with (R1), through the release sequence of the cas chain
  void* list = estate_->remote.exchange_acquire(nullptr);
  if (!estate_->mixed && free_ == nullptr) {
    free_ = list;
  } else {
    sort(list);
  }
}

// Links the next page of the slab being filled; the first of it is returned, the rest becomes the free list.
void* object_cache_base::carve() noexcept {
  if (filling_ == nullptr) {
    return nullptr;
  }
  const std::uint32_t first = filling_->carved;
  const std::uint32_t most = static_cast<std::uint32_t>(carve_bytes / depot_.size_) + 1;
  const std::uint32_t left = depot_.capacity_ - first;
  const std::uint32_t count = left < most ? left : most;
  auto* at = reinterpret_cast<std::byte*>(filling_) + depot_.first_ + first * depot_.size_;
  for (std::uint32_t index = count; index-- > 1;) {
    void* object = at + index * depot_.size_;
    depot_.link(object) = free_;
    free_ = object;
  }
  filling_->carved = first + count;
  if (filling_->carved == depot_.capacity_) {
    filling_ = nullptr;
  }
  return at;
}

void object_cache_base::adopt_locked(object_estate& orphan) noexcept {
  while (object_slab* slab = orphan.slabs) {
    orphan.slabs = slab->next;
    slab->next = estate_->slabs;
    estate_->slabs = slab;
    slab->owner.store_relaxed(this); // relaxed: as in the constructor
    // release: publishes our estate; pairs with free_elsewhere(). A free that still reads the old estate
    // pushes there, which is right too: `mixed` makes whoever recycles that estate sort what it finds.
    slab->estate.store_release(estate_);
  }
  estate_->unfinished += orphan.unfinished;
  orphan.unfinished = 0;
  orphan.mixed = true;
  sort(orphan.orphans);
  orphan.orphans = nullptr;
  orphan.next_idle = depot_.retired_;
  depot_.retired_ = &orphan;
}

void* object_cache_base::allocate_slowly() noexcept {
  if (estate_ != nullptr) {
    take_remote();
  }
  if (free_ == nullptr) {
    if (void* fresh = carve()) {
      return fresh;
    }
    std::scoped_lock guard{depot_.mutex_};
    if (!refill_locked()) {
      return nullptr;
    }
  }
  if (free_ == nullptr) {
    return carve();
  }
  void* object = free_;
  free_ = depot_.link(object);
  return object;
}

bool object_cache_base::refill_locked() noexcept {
  bool orphaned = false;
  if (estate_ == nullptr) {
    estate_ = depot_.take_estate_locked(orphaned);
    if (estate_ == nullptr) {
      last_error_ = ENOMEM;
      return false;
    }
    if (orphaned) {
      own_estate_locked();
    }
  }
  while (object_estate* orphan = depot_.orphaned_) {
    depot_.orphaned_ = orphan->next_idle;
    adopt_locked(*orphan);
  }
  // Frees that read an estate just before its slabs moved, now or earlier.
  for (object_estate* estate = depot_.retired_; estate != nullptr; estate = estate->next_idle) {
    if (estate->remote.load_relaxed() != nullptr) {   // relaxed: what is missed now is found later
      sort(estate->remote.exchange_acquire(nullptr)); // acquire: pairs with (R1)
    }
  }
  if (free_ != nullptr) {
    return true;
  }
  if (estate_->unfinished > 0) {
    --estate_->unfinished;
    object_slab* slab = estate_->slabs;
    while (slab->carved == depot_.capacity_) {
      slab = slab->next;
    }
    filling_ = slab;
    return true;
  }
  object_slab* slab = depot_.map_slab_locked(last_error_);
  if (slab == nullptr) {
    return false;
  }
  slab->owner.store_relaxed(this);     // relaxed: published with the first object of the slab
  slab->estate.store_relaxed(estate_); // relaxed: likewise
  slab->next = estate_->slabs;
  estate_->slabs = slab;
  filling_ = slab;
  return true;
}

std::size_t object_cache_base::trim(std::size_t keep_slabs) noexcept {
  if (estate_ == nullptr) {
    return 0;
  }
  take_remote();
  object_slab* released = nullptr;
  {
    std::scoped_lock guard{depot_.mutex_};
    released = release_slabs_locked(keep_slabs);
  }
  std::size_t bytes = 0;
  while (released != nullptr) {
    object_slab* next = released->next;
    os::unmap(released, object_slab::bytes);
    bytes += object_slab::bytes;
    released = next;
  }
  return bytes;
}

// Takes wholly free slabs out of the estate and their objects out of the free list.
object_slab* object_cache_base::release_slabs_locked(std::size_t keep_slabs) noexcept {
  for (object_slab* slab = estate_->slabs; slab != nullptr; slab = slab->next) {
    slab->counted = 0;
  }
  for (void* object = free_; object != nullptr; object = depot_.link(object)) {
    ++object_slab::of(object)->counted;
  }
  object_slab* released = nullptr;
  constexpr std::uint32_t doomed = ~std::uint32_t{0};
  for (object_slab** place = &estate_->slabs; *place != nullptr;) {
    object_slab* slab = *place;
    if (slab->counted != slab->carved || (keep_slabs > 0 && keep_slabs-- > 0)) {
      place = &slab->next;
      continue;
    }
    *place = slab->next;
    if (slab == filling_) {
      filling_ = nullptr;
    } else if (slab->carved != depot_.capacity_) {
      --estate_->unfinished;
    }
    slab->counted = doomed;
    slab->next = released;
    released = slab;
    depot_.slab_count_.fetch_sub_relaxed(1); // relaxed: a figure for people
  }
  void* kept = nullptr;
  void** last = &kept;
  for (void* object = free_; object != nullptr; object = depot_.link(object)) {
    if (object_slab::of(object)->counted != doomed) {
      *last = object;
      last = &depot_.link(object);
    }
  }
  *last = nullptr;
  free_ = kept;
  return released;
}

object_estate* object_depot::take_estate_locked(bool& orphaned) noexcept {
  orphaned = orphaned_ != nullptr;
  if (object_estate* estate = orphaned ? orphaned_ : retired_) {
    (orphaned ? orphaned_ : retired_) = estate->next_idle;
    return estate;
  }
  auto* estate = new (std::nothrow) object_estate{};
  if (estate != nullptr) {
    estate->next_all = estates_;
    estates_ = estate;
  }
  return estate;
}

object_slab* object_depot::map_slab_locked(int& error) noexcept {
  void* at = nullptr;
  if (const int failed =
          os::map_aligned(object_slab::bytes, object_slab::bytes, os::page_access::read_write, &at)) {
    error = failed;
    return nullptr;
  }
  slab_count_.fetch_add_relaxed(1); // relaxed: a figure for people
  return new (at) object_slab{};
}

bool object_depot::owns(const std::vector<const object_slab*>& sorted, const void* object) const noexcept {
  const object_slab* slab = object_slab::of(object);
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(object) -
                                               reinterpret_cast<const std::byte*>(slab));
  return offset >= first_ && (offset - first_) % size_ == 0 &&
         std::binary_search(sorted.begin(), sorted.end(), slab, std::less<>());
}

// RACY: an owner may pop and push meanwhile, so each link is checked before it is followed, and no list is
// longer than all objects.
__attribute__((no_sanitize("thread"))) std::size_t
object_depot::length(void* list, const std::vector<const object_slab*>& sorted) const noexcept {
  const std::size_t limit = sorted.size() * capacity_;
  std::size_t count = 0;
  while (list != nullptr && count < limit && owns(sorted, list)) {
    ++count;
    list = *const_cast<void* volatile*>(&link(list));
  }
  return count;
}

__attribute__((no_sanitize("thread"))) object_depot::statistics object_depot::count() {
  std::scoped_lock guard{mutex_};
  statistics sum = {};
  std::size_t carved = 0;
  std::vector<const object_slab*> sorted;
  for (object_estate* estate = estates_; estate != nullptr; estate = estate->next_all) {
    for (const object_slab* slab = estate->slabs; slab != nullptr; slab = slab->next)
      sorted.push_back(slab);
  }
  std::sort(sorted.begin(), sorted.end(), std::less<>());
  for (object_estate* estate = estates_; estate != nullptr; estate = estate->next_all) {
    for (const object_slab* slab = estate->slabs; slab != nullptr; slab = slab->next) {
      ++sum.slabs;
      carved += slab->carved;
    }
    // acquire: pairs with (R1), for the links
    sum.cached += length(estate->orphans, sorted) + length(estate->remote.load_acquire(), sorted);
  }
  for (const object_cache_base* cache = caches_; cache != nullptr; cache = cache->next_) {
    sum.cached += length(*const_cast<void* volatile*>(&cache->free_), sorted);
  }
  sum.live = carved - std::min(carved, sum.cached);
  sum.mapped_bytes = sum.slabs * object_slab::bytes;
  return sum;
}

} // namespace weft::memory
