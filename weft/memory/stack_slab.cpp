// SPDX-License-Identifier: MIT
#include "weft/memory/stack_slab.hpp"

#include "weft/base/assert.hpp"
#include "weft/base/atomic.hpp"
#include "weft/memory/annotate.hpp"
#include "weft/memory/fork.hpp"
#include "weft/memory/guard.hpp"
#include "weft/memory/slab_registry.hpp"
#include "weft/os/mapping.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <mutex>
#include <new>

namespace weft::memory {
namespace {

constinit std::mutex records_mutex;
constinit stack_slab* free_records = nullptr; // guarded by records_mutex
constexpr std::size_t record_chunk_bytes = 64 << 10;
constinit base::atomic<bool> huge_fallback_said{false};

std::size_t round_up(std::size_t value, std::size_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

} // namespace

void lock_slab_records() noexcept {
  records_mutex.lock();
}
void unlock_slab_records() noexcept {
  records_mutex.unlock();
}

stack_layout stack_layout::of(const stack_options& options, std::size_t nominal) noexcept {
  constexpr std::size_t top = sizeof(stack_record) + (stack_slab::colours - 1) * stack_slab::colour_bytes;
  const std::size_t body = os::round_up_to_page(nominal + std::max(options.reserve, top));
  const std::size_t guard = options.guard == guard_mode::none ? 0 : os::round_up_to_page(options.guard_bytes);
  stack_layout layout = {};
  layout.nominal = nominal;
  layout.stride = body + guard;
  const std::size_t fit = std::max<std::size_t>(1, stack_slab::usual_bytes / layout.stride);
  layout.capacity = static_cast<std::uint32_t>(std::min<std::size_t>(fit, stack_slab::max_stacks));
  layout.slab_bytes = round_up(layout.capacity * layout.stride, stack_slab::granule);
  return layout;
}

stack_slab* stack_slab::new_record() noexcept {
  std::scoped_lock guard{records_mutex};
  if (free_records == nullptr) {
    void* chunk = nullptr;
    if (os::map(record_chunk_bytes, os::page_access::read_write, &chunk) != 0) {
      return nullptr;
    }
    auto* each = static_cast<std::byte*>(chunk);
    for (std::size_t left = record_chunk_bytes / sizeof(stack_slab); left > 0;
         --left, each += sizeof(stack_slab)) {
      auto* slab = new (each) stack_slab{};
      slab->next_ = free_records;
      free_records = slab;
    }
  }
  stack_slab* slab = free_records;
  free_records = slab->next_;
  return new (slab) stack_slab{};
}

void stack_slab::recycle_record(stack_slab* slab) noexcept {
  std::scoped_lock guard{records_mutex};
  slab->next_ = free_records;
  free_records = slab;
}

bool stack_slab::map(stack_pages pages, int& error) noexcept {
  void* at = nullptr;
  const std::size_t huge = os::huge_page_bytes();
  if (pages == stack_pages::huge) {
    if (huge == granule && os::map_huge(layout_.slab_bytes, &at) == 0) {
      pages_ = stack_pages::huge;
      base_ = static_cast<std::byte*>(at);
      return true;
    }
    if (!huge_fallback_said.exchange_relaxed(true)) { // relaxed: says it once, orders nothing
      base::warn(
          "WEFT_STACK_PAGES=huge: no 2 MiB pages left (vm.nr_hugepages); using transparent huge pages");
    }
    pages = stack_pages::transparent;
  }
  error = os::map_aligned(layout_.slab_bytes, granule, os::page_access::read_write, &at);
  if (error != 0) {
    return false;
  }
  // A kernel without transparent huge pages refuses both, which is as good.
  if (pages == stack_pages::transparent) {
    os::advise_huge(at, layout_.slab_bytes);
  } else {
    os::advise_no_huge(at, layout_.slab_bytes);
  }
  pages_ = pages;
  base_ = static_cast<std::byte*>(at);
  return true;
}

stack_slab* stack_slab::create(const stack_options& options, guard_mode guard, stack_pages pages,
                               unsigned size_class, std::size_t nominal, int& error) noexcept {
  stack_slab* slab = new_record();
  if (slab == nullptr) {
    error = ENOMEM;
    return nullptr;
  }
  slab->layout_ = stack_layout::of(options, nominal);
  slab->guard_ = guard;
  slab->guard_bytes_ = guard == guard_mode::none ? 0 : os::round_up_to_page(options.guard_bytes);
  slab->size_class_ = static_cast<std::uint8_t>(size_class);
  slab->inline_need_ = options.inline_need();
  if (!slab->map(pages, error)) {
    recycle_record(slab);
    return nullptr;
  }
  slab->stored_count_ = slab->layout_.capacity;
  for (std::uint32_t index = 0; index < slab->layout_.capacity; ++index) {
    slab->stored_.set(index);
  }
  if (!register_slab(reinterpret_cast<std::uintptr_t>(slab->base_), slab->layout_.slab_bytes, slab)) {
    error = ENOMEM;
    os::unmap(slab->base_, slab->layout_.slab_bytes);
    recycle_record(slab);
    return nullptr;
  }
  return slab;
}

std::size_t stack_slab::destroy() noexcept {
  WEFT_ASSERT(stored_count_ == layout_.capacity, "a slab is unmapped only when all its stacks are stored");
  const std::size_t bytes = layout_.slab_bytes;
  unregister_slab(reinterpret_cast<std::uintptr_t>(base_), bytes);
  annotate::unpoison(base_, bytes); // the addresses may be used by anyone next
  os::unmap(base_, bytes);
  return_protected_guards(protected_count_.load_relaxed()); // relaxed: a count
  recycle_record(this);
  return bytes;
}

std::uint32_t stack_slab::take_index() noexcept {
  WEFT_ASSERT(stored_count_ > 0, "taking a stack from a slab without one");
  std::uint32_t word = 0;
  while (stored_.words[word] == 0) {
    ++word;
  }
  const std::uint32_t index = word * 64 + static_cast<std::uint32_t>(std::countr_zero(stored_.words[word]));
  stored_.clear(index);
  dirty_.clear(index);
  --stored_count_;
  return index;
}

void stack_slab::put_index(std::uint32_t index) noexcept {
  WEFT_ASSERT(!stored_.test(index), "a stack came back twice");
  annotate::forget_stack(record(index)->checker_id);
  annotate::poison(stride_low(index), layout_.stride);
  stored_.set(index);
  dirty_.set(index);
  ++stored_count_;
}

stack_record* stack_slab::dress(std::uint32_t index) noexcept {
  if (dressed_[index] == dress_state::naked) {
    const bool guarded = install_stack_guard(guard_, stride_low(index), guard_bytes_);
    dressed_[index] = guarded ? dress_state::guarded : dress_state::canary;
    if (guarded && guard_ == guard_mode::mprotect) {
      protected_count_.fetch_add_relaxed(1); // relaxed: a count, read when all stacks are stored
    }
  }
  annotate::unpoison(stride_low(index), layout_.stride);
  stack_record* stack = record(index);
  stack->next = nullptr;
  stack->low = stride_low(index) + guard_bytes_;
  stack->size = layout_.nominal;
  stack->slab = this;
  stack->owner = nullptr;
  stack->function = nullptr;
  stack->inline_floor = stack_options::inline_floor(stack->low, inline_need_);
  stack->size_class = size_class_;
  stack->flags = static_cast<std::uint8_t>(dressed_[index] == dress_state::canary ? stack_has_canary : 0);
  stack->index = static_cast<std::uint16_t>(index);
  stack->checker_id = annotate::register_stack(stack->low, stack);
  return stack;
}

void stack_slab::discard_stored() noexcept {
  std::uint32_t index = 0;
  while (index < layout_.capacity) {
    if (!dirty_.test(index)) {
      ++index;
      continue;
    }
    const std::uint32_t first = index;
    for (; index < layout_.capacity && dirty_.test(index); ++index) {
      dirty_.clear(index);
    }
    // Explicit huge pages are shared by stacks, and a discard would have to cover whole ones.
    if (pages_ != stack_pages::huge) {
      os::discard(stride_low(first), (index - first) * layout_.stride);
    }
  }
}

bool stack_slab::guard_at(std::uintptr_t address, std::uint32_t& index) const noexcept {
  const std::uintptr_t offset = address - reinterpret_cast<std::uintptr_t>(base_);
  const std::uintptr_t stride = layout_.stride;
  if (offset / stride >= layout_.capacity || offset % stride >= guard_bytes_) {
    return false;
  }
  index = static_cast<std::uint32_t>(offset / stride);
  return dressed_[index] == dress_state::guarded;
}

stack_slab* stack_slab::find(std::uintptr_t address) noexcept {
  return registered_slab(address);
}

} // namespace weft::memory
