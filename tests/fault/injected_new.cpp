// SPDX-License-Identifier: MIT
// Every form of operator new and delete, so that none is left that the library's own pairs with. malloc is
// below all of them, as sanitizers expect.
#include "tests/fault/injected_new.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "weft/os/fault.hpp"
#include "weft/os/kernel_thread.hpp"

namespace weft::fault_test {
namespace {

constexpr pid_t closed = 0;
constexpr pid_t open_to_all = -1;

// relaxed: a test opens and closes it on one kernel thread; what others allocate at that moment may count
// either way
constinit std::atomic<pid_t> door{closed};
// relaxed: read where nobody allocates
constinit std::atomic<std::int64_t> live{0};

bool refused() noexcept {
  const pid_t whose = door.load(std::memory_order_relaxed);
  return whose != closed && (whose == open_to_all || whose == os::this_kernel_thread_id()) &&
         os::fault(os::fault_site::memory) != 0;
}

void* counted(void* block) noexcept {
  live.fetch_add(block != nullptr ? 1 : 0, std::memory_order_relaxed);
  return block;
}

void release(void* block) noexcept {
  live.fetch_sub(block != nullptr ? 1 : 0, std::memory_order_relaxed);
  std::free(block);
}

void* allocate(std::size_t bytes) noexcept {
  return refused() ? nullptr : counted(std::malloc(std::max<std::size_t>(bytes, 1)));
}

void* allocate(std::size_t bytes, std::align_val_t alignment) noexcept {
  const auto boundary = static_cast<std::size_t>(alignment);
  // aligned_alloc wants a multiple of the alignment
  return refused() ? nullptr
                   : counted(std::aligned_alloc(boundary, (std::max<std::size_t>(bytes, 1) + boundary - 1) /
                                                              boundary * boundary));
}

void* or_throw(void* at) {
  if (at == nullptr)
    throw std::bad_alloc();
  return at;
}

} // namespace

allocations_may_fail::allocations_may_fail(reach whose) noexcept {
  door.store(whose == reach::everywhere ? open_to_all : os::this_kernel_thread_id(),
             std::memory_order_relaxed);
}

allocations_may_fail::~allocations_may_fail() {
  door.store(closed, std::memory_order_relaxed);
}

std::int64_t live_allocations() noexcept {
  return live.load(std::memory_order_relaxed);
}

} // namespace weft::fault_test

using weft::fault_test::allocate;
using weft::fault_test::or_throw;
using weft::fault_test::release;

void* operator new(std::size_t n) {
  return or_throw(allocate(n));
}
void* operator new[](std::size_t n) {
  return or_throw(allocate(n));
}
void* operator new(std::size_t n, std::align_val_t a) {
  return or_throw(allocate(n, a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return or_throw(allocate(n, a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return allocate(n);
}
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return allocate(n);
}
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, a);
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, a);
}

void operator delete(void* p) noexcept {
  release(p);
}
void operator delete[](void* p) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  release(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  release(p);
}
void operator delete(void* p, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete[](void* p, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  release(p);
}
