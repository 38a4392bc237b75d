// SPDX-License-Identifier: MIT
// Memory that an execution frees is kept until the execution ends, so that an access to it is seen as a use
// after free and no address means two things. Where executions are merged (seen_states.hpp), what they
// allocate comes from a region of the model thread that asks, piece after piece: so an address depends on
// nothing but what its thread has done, and an execution that is left in the middle leaves nothing behind.
// Replaces operator new and delete of the test program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace weft::model {

namespace quarantine {

enum class memory_of : unsigned char { host, execution, merged_execution };

/// Whose memory operator new and delete give and take from now on.
void use(memory_of whose) noexcept;

/// Whether operator new gives what a merged execution allocates.
bool merges() noexcept;

/// Whether `address` lies in memory that has been deleted since the last release_all().
bool holds(const void* address) noexcept;

/// Of all that a merged execution has allocated, what stands there, and what of it has been deleted.
std::uint64_t hash() noexcept;

/// Takes everything back.
void release_all() noexcept;

} // namespace quarantine

/// For what the checker itself keeps from one execution to the next.
template <class T>
struct host_allocator {
  using value_type = T;
  host_allocator() noexcept = default;
  template <class U>
  host_allocator(const host_allocator<U>&) noexcept {}
  T* allocate(std::size_t count) {
    void* const got = std::aligned_alloc(alignof(std::max_align_t),
                                         (count * sizeof(T) + alignof(std::max_align_t) - 1) /
                                             alignof(std::max_align_t) * alignof(std::max_align_t));
    if (got == nullptr)
      throw std::bad_alloc();
    return static_cast<T*>(got);
  }
  void deallocate(T* p, std::size_t) noexcept { std::free(p); }
  friend bool operator==(const host_allocator&, const host_allocator&) noexcept { return true; }
};

} // namespace weft::model
