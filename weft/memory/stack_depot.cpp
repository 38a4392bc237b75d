// SPDX-License-Identifier: MIT
#include "weft/memory/stack_depot.hpp"

#include "weft/base/assert.hpp"
#include "weft/base/immortal.hpp"
#include "weft/memory/guard.hpp"
#include "weft/memory/inspection.hpp"
#include "weft/memory/stack_cache.hpp"
#include "weft/memory/stack_slab.hpp"
#include "weft/os/mapping.hpp"

#include <algorithm>
#include <new>

namespace weft::memory {
namespace {

// A full chain keeps at most this much address space from other workers, and at most this many stacks.
constexpr std::size_t chain_bytes = 8 << 20;
constexpr std::size_t chain_stacks = 128;

// For whoever reads this process from outside.
void publish(stack_depot& depot) noexcept {
  inspection::stacks.store_release(&depot);
}

} // namespace

constinit base::atomic<stack_depot*> inspection::stacks{nullptr};

stack_depot::stack_depot(const stack_options& options) noexcept
    : options_{options}, guard_{resolve_guard(options.guard, options.pages)}, pages_{options.pages} {
  options_.default_size = os::round_up_to_page(std::max(options.default_size, stack_options::min_size));
}

stack_depot::~stack_depot() {
  WEFT_ASSERT(caches_ == nullptr, "a depot outlives its caches");
  settle();
  // What is still here is the slab settle() keeps, or has live stacks, which cannot be unmapped under
  // anyone's feet.
  for (stack_slab *slab = slabs_, *next = nullptr; slab != nullptr; slab = next) {
    next = slab->next_;
    if (slab->stored_count() == slab->capacity()) {
      slab->destroy();
    }
  }
}

stack_depot& stack_depot::process() noexcept {
  struct of_knobs : stack_depot {
    of_knobs() noexcept : stack_depot{stack_options::from_knobs()} { publish(*this); }
  };
  return base::immortal<of_knobs>(); // outlives every static destructor
}

std::int32_t stack_depot::chain_limit(unsigned size_class) const noexcept {
  const std::size_t each = nominal_size(size_class) + options_.reserve;
  return static_cast<std::int32_t>(std::clamp<std::size_t>(chain_bytes / each, 1, chain_stacks));
}

void stack_depot::link_open_locked(stack_slab& slab) noexcept {
  shelf& place = shelves_[slab.size_class()];
  slab.previous_open_ = nullptr;
  slab.next_open_ = place.open;
  if (place.open != nullptr) {
    place.open->previous_open_ = &slab;
  }
  place.open = &slab;
  slab.open_ = true;
}

void stack_depot::unlink_open_locked(stack_slab& slab) noexcept {
  shelf& place = shelves_[slab.size_class()];
  (slab.previous_open_ == nullptr ? place.open : slab.previous_open_->next_open_) = slab.next_open_;
  if (slab.next_open_ != nullptr) {
    slab.next_open_->previous_open_ = slab.previous_open_;
  }
  slab.open_ = false;
}

stack_slab* stack_depot::open_slab_locked(unsigned size_class, int& error) noexcept {
  if (shelves_[size_class].open != nullptr) {
    return shelves_[size_class].open;
  }
  stack_slab* slab =
      stack_slab::create(options_, guard_, pages_, size_class, nominal_size(size_class), error);
  if (slab == nullptr) {
    return nullptr;
  }
  slab->next_ = slabs_;
  if (slabs_ != nullptr) {
    slabs_->previous_ = slab;
  }
  slabs_ = slab;
  link_open_locked(*slab);
  return slab;
}

void stack_depot::forget_locked(stack_slab& slab) noexcept {
  (slab.previous_ == nullptr ? slabs_ : slab.previous_->next_) = slab.next_;
  if (slab.next_ != nullptr) {
    slab.next_->previous_ = slab.previous_;
  }
  unlink_open_locked(slab);
}

stack_record* stack_depot::take(unsigned size_class, std::size_t& count, int& error) noexcept {
  stack_slab* slab = nullptr;
  std::uint32_t index = 0;
  {
    std::scoped_lock guard{mutex_};
    shelf& place = shelves_[size_class];
    if (stack_record* chain = place.batches) {
      place.batches = chain->next_batch;
      count = chain->batch_count;
      place.batched -= count;
      return chain;
    }
    slab = open_slab_locked(size_class, error);
    if (slab == nullptr) {
      return nullptr;
    }
    if (slab == kept_) {
      kept_ = nullptr;
    }
    index = slab->take_index();
    if (slab->stored_count() == 0) {
      unlink_open_locked(*slab);
    }
  }
  // The guard and the first touch of the page are the slow part, and the index is ours alone.
  count = 1;
  return slab->dress(index);
}

void stack_depot::give(unsigned size_class, stack_record* chain, std::size_t count) noexcept {
  if (chain == nullptr) {
    return;
  }
  std::scoped_lock guard{mutex_};
  shelf& place = shelves_[size_class];
  chain->next_batch = place.batches;
  chain->batch_count = count;
  place.batches = chain;
  place.batched += count;
}

void stack_depot::store_locked(stack_record* chain) noexcept {
  while (chain != nullptr) {
    stack_record* next = chain->next;
    stack_slab& slab = *chain->slab;
    slab.put_index(chain->index);
    if (!slab.open_) {
      link_open_locked(slab);
    }
    if (!slab.soiled_) {
      slab.soiled_ = true;
      slab.next_soiled_ = soiled_;
      soiled_ = &slab;
    }
    chain = next;
  }
}

bool stack_depot::store_batch_locked() noexcept {
  for (shelf& place : shelves_) {
    if (stack_record* chain = place.batches) {
      place.batches = chain->next_batch;
      place.batched -= chain->batch_count;
      store_locked(chain);
      return true;
    }
  }
  return false;
}

// Takes one slab off the soiled list; `free_slab` is to be destroyed after the mutex is released.
bool stack_depot::clean_one_locked(stack_slab*& free_slab) noexcept {
  stack_slab* slab = soiled_;
  if (slab == nullptr) {
    return false;
  }
  soiled_ = slab->next_soiled_;
  slab->soiled_ = false;
  const bool wholly_free = slab->stored_count() == slab->capacity();
  if (wholly_free && slab->size_class() == 0 && (kept_ == nullptr || kept_ == slab)) {
    kept_ = slab;
  } else if (wholly_free) {
    forget_locked(*slab);
    free_slab = slab;
    return true;
  }
  slab->discard_stored();
  return true;
}

std::size_t stack_depot::settle() noexcept {
  // The mutex is held for one chain or one slab at a time, so that busy workers get through.
  for (bool more = true; more;) {
    std::scoped_lock guard{mutex_};
    more = store_batch_locked();
  }
  std::size_t bytes = 0;
  for (bool more = true; more;) {
    stack_slab* free_slab = nullptr;
    {
      std::scoped_lock guard{mutex_};
      more = clean_one_locked(free_slab);
    }
    if (free_slab != nullptr) {
      bytes += free_slab->destroy();
    }
  }
  return bytes;
}

stack_depot::statistics stack_depot::count() noexcept {
  std::scoped_lock guard{mutex_};
  statistics sum = {};
  std::size_t out = 0;
  for (const stack_slab* slab = slabs_; slab != nullptr; slab = slab->next_) {
    ++sum.slabs;
    sum.mapped_bytes += slab->bytes();
    sum.stored += slab->stored_count();
    out += slab->capacity() - slab->stored_count();
  }
  for (const shelf& place : shelves_) {
    sum.cached += place.batched;
  }
  for (const stack_cache* cache = caches_; cache != nullptr; cache = cache->next_) {
    sum.cached += cache->cached();
  }
  sum.live = out > sum.cached ? out - sum.cached : 0;
  return sum;
}

void stack_depot::join(stack_cache& cache) noexcept {
  std::scoped_lock guard{mutex_};
  cache.next_ = caches_;
  caches_ = &cache;
}

void stack_depot::leave(stack_cache& cache) noexcept {
  std::scoped_lock guard{mutex_};
  stack_cache** place = &caches_;
  while (*place != &cache) {
    place = &(*place)->next_;
  }
  *place = cache.next_;
}

} // namespace weft::memory
