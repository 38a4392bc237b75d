// SPDX-License-Identifier: MIT
// omp_alloc() and its like. All memory is the heap's; an allocator adds what its traits ask for: an
// alignment, a limit of its pool, what is done when that is reached.
#include "front/openmp/gomp/abi.hpp"
#include "front/openmp/gomp/functions.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace weft::openmp;
using namespace weft::openmp::gomp;
using handle = std::uintptr_t;

namespace {

// omp_alloctrait_key_t and omp_alloctrait_value_t.
enum key : int {
  sync_hint = 1,
  alignment = 2,
  access = 3,
  pool_size = 4,
  fallback = 5,
  fallback_data = 6,
  pinned = 7,
  partition = 8
};
enum value : std::uintptr_t {
  value_false = 0,
  value_true = 1,
  default_memory_fallback = 11,
  null_fallback = 12,
  abort_fallback = 13,
  allocator_fallback = 14,
  value_default = static_cast<std::uintptr_t>(-1),
};

struct trait {
  int key;
  std::uintptr_t value;
};

struct allocator {
  std::size_t alignment = 1;
  std::size_t pool = ~std::size_t{0};
  std::uintptr_t fallback = default_memory_fallback;
  handle fallback_data = 0;
  weft::door::atomic<std::size_t> used{0};
};

constexpr handle last_predefined = 8;
constexpr handle default_memory = 1;

allocator* made(handle h) noexcept {
  return h > last_predefined ? reinterpret_cast<allocator*>(h) : nullptr;
}

// Before each block: what free and realloc need.
struct header {
  void* begin;
  std::size_t bytes; // that were asked for; the pool counts this header too
  handle from;
};

header& header_of(void* block) noexcept {
  return static_cast<header*>(block)[-1];
}

// Takes so many bytes of its pool; false: there are not so many left.
bool take_from_pool(allocator& a, std::size_t bytes) noexcept {
  if (a.pool == ~std::size_t{0})
    return true;
  std::size_t used = a.used.load_relaxed();
  do { // relaxed, all: a number
    if (bytes > a.pool || used > a.pool - bytes)
      return false;
  } while (!a.used.cas_weak_relaxed(used, used + bytes));
  return true;
}

// What a block of so many bytes takes of its pool; too much for any where that cannot be said.
std::size_t with_header(std::size_t bytes) noexcept {
  std::size_t all = 0;
  return __builtin_add_overflow(bytes, sizeof(header), &all) ? ~std::size_t{0} : all;
}

void give_back_to_pool(allocator& a, std::size_t bytes) noexcept {
  if (a.pool != ~std::size_t{0})
    a.used.fetch_sub_relaxed(bytes);
}

handle chosen(handle h) {
  return h != 0 ? h : omp_get_default_allocator();
}

void* allocate(std::size_t align, std::size_t bytes, handle h, bool zeros);

void* fall_back(std::size_t align, std::size_t bytes, const allocator& a, bool zeros) {
  switch (a.fallback) {
  case null_fallback:
    return nullptr;
  case abort_fallback:
    fatal("Out of memory allocating %lu bytes", static_cast<unsigned long>(bytes));
  case allocator_fallback:
    return allocate(align, bytes, a.fallback_data, zeros);
  default:
    // The default memory, with the alignment that was asked of this one.
    return allocate(std::max(align, a.alignment), bytes, default_memory, zeros);
  }
}

// Without a look at the pool; null: there is no memory.
void* make_block(std::size_t align, std::size_t bytes, handle h, bool zeros) {
  const allocator* const a = made(h);
  const std::size_t wanted = std::max({align, a != nullptr ? a->alignment : 1, alignof(std::max_align_t)});
  std::size_t all = 0;
  if (__builtin_add_overflow(bytes, sizeof(header) + wanted, &all))
    return nullptr;
  void* const begin = zeros ? std::calloc(1, all) : std::malloc(all);
  if (begin == nullptr)
    return nullptr;
  const auto first = reinterpret_cast<std::uintptr_t>(begin) + sizeof(header);
  void* const block = reinterpret_cast<void*>((first + wanted - 1) / wanted * wanted);
  header_of(block) = {begin, bytes, h};
  return block;
}

void* allocate(std::size_t align, std::size_t bytes, handle h, bool zeros) {
  if (bytes == 0)
    return nullptr;
  allocator* const a = made(h);
  if (a != nullptr && !take_from_pool(*a, with_header(bytes)))
    return fall_back(align, bytes, *a, zeros);
  void* const block = make_block(align, bytes, h, zeros);
  if (block != nullptr || a == nullptr)
    return block;
  give_back_to_pool(*a, with_header(bytes));
  return fall_back(align, bytes, *a, zeros);
}

bool is_power_of_two(std::size_t n) noexcept {
  return n != 0 && (n & (n - 1)) == 0;
}

// False: no such value of the trait.
bool apply(allocator& a, const trait& t) noexcept {
  const bool is_default = t.value == value_default;
  switch (t.key) {
  case sync_hint:
  case access:
  case partition:
    return true; // all that can be asked for holds
  case alignment:
    if (is_default)
      return true;
    a.alignment = t.value;
    return is_power_of_two(t.value);
  case pool_size:
    if (!is_default)
      a.pool = t.value;
    return true;
  case fallback:
    a.fallback = is_default ? std::uintptr_t{default_memory_fallback} : t.value;
    return a.fallback >= default_memory_fallback && a.fallback <= allocator_fallback;
  case fallback_data:
    a.fallback_data = t.value;
    return true;
  case pinned:
    return is_default || t.value == value_false; // true: there is none such here
  default:
    return false;
  }
}

} // namespace

OMP_EXPORT handle omp_init_allocator(handle space, int count, const void* traits) {
  constexpr handle spaces = 4;
  if (space > spaces)
    return 0;
  auto* const a = new allocator;
  const auto* const list = static_cast<const trait*>(traits);
  for (int i = 0; i < count; ++i) {
    if (apply(*a, list[i]))
      continue;
    delete a;
    return 0;
  }
  return reinterpret_cast<handle>(a);
}
OMP_EXPORT void omp_destroy_allocator(handle h) {
  delete made(h);
}
OMP_EXPORT void omp_set_default_allocator(handle h) {
  caller().current->icv.allocator = h != 0 ? h : default_memory;
}
OMP_EXPORT handle omp_get_default_allocator() {
  return caller().current->icv.allocator;
}

OMP_EXPORT void omp_free(void* block, handle /*from*/) {
  if (block == nullptr)
    return;
  const header h = header_of(block);
  if (allocator* const a = made(h.from))
    give_back_to_pool(*a, with_header(h.bytes));
  std::free(h.begin);
}
OMP_EXPORT void* omp_alloc(std::size_t bytes, handle h) {
  return allocate(1, bytes, chosen(h), false);
}
OMP_EXPORT void* omp_aligned_alloc(std::size_t align, std::size_t bytes, handle h) {
  if (!is_power_of_two(align))
    return nullptr;
  return allocate(align, bytes, chosen(h), false);
}
OMP_EXPORT void* omp_calloc(std::size_t count, std::size_t bytes, handle h) {
  std::size_t all = 0;
  return __builtin_mul_overflow(count, bytes, &all) ? nullptr : allocate(1, all, chosen(h), true);
}
OMP_EXPORT void* omp_aligned_calloc(std::size_t align, std::size_t count, std::size_t bytes, handle h) {
  std::size_t all = 0;
  if (!is_power_of_two(align) || __builtin_mul_overflow(count, bytes, &all))
    return nullptr;
  return allocate(align, all, chosen(h), true);
}

namespace {

// Of one that stays with its allocator: the pool needs room for the difference only.
void* resize(void* block, std::size_t bytes, handle h) {
  const header before = header_of(block);
  allocator* const a = made(h);
  const std::size_t more = bytes > before.bytes ? bytes - before.bytes : 0;
  void* moved = nullptr;
  const bool fits = a == nullptr || take_from_pool(*a, more);
  if (fits)
    moved = make_block(1, bytes, h, false);
  if (moved == nullptr && a != nullptr) {
    if (fits)
      give_back_to_pool(*a, more);
    moved = fall_back(1, bytes, *a, false);
    if (moved != nullptr)
      give_back_to_pool(*a, with_header(before.bytes));
  } else if (moved != nullptr && a != nullptr && bytes < before.bytes) {
    give_back_to_pool(*a, before.bytes - bytes);
  }
  if (moved == nullptr)
    return nullptr;
  std::memcpy(moved, block, std::min(bytes, before.bytes));
  std::free(before.begin);
  return moved;
}

} // namespace

OMP_EXPORT void* omp_realloc(void* block, std::size_t bytes, handle h, handle from) {
  if (block == nullptr)
    return omp_alloc(bytes, h);
  if (bytes == 0) {
    omp_free(block, from);
    return nullptr;
  }
  const header before = header_of(block);
  const handle to = h != 0 ? h : from != 0 ? from : before.from;
  if (to == before.from)
    return resize(block, bytes, to);
  void* const moved = allocate(1, bytes, to, false);
  if (moved == nullptr)
    return nullptr;
  std::memcpy(moved, block, std::min(bytes, before.bytes));
  omp_free(block, from);
  return moved;
}

// What the compiler calls for #pragma omp allocate.
OMP_EXPORT void* GOMP_alloc(std::size_t align, std::size_t bytes, handle h) {
  void* const block = omp_aligned_alloc(align, bytes, h);
  if (block == nullptr && bytes != 0)
    fatal("Out of memory allocating %lu bytes", static_cast<unsigned long>(bytes));
  return block;
}
OMP_EXPORT void GOMP_free(void* block, handle h) {
  omp_free(block, h);
}
