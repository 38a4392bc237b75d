// SPDX-License-Identifier: MIT
// What the memory checkers are told about stacks, chosen here and nowhere else. ASan: the frames of a thread
// that ended without unwinding leave poisoned shadow behind, so a stack is unpoisoned when it is handed out;
// and a stack that is back in its slab is poisoned as a whole. Valgrind: each stack is registered while it is
// carved, so that a switch is not mistaken for a huge frame. Without either, every function here is empty.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_MEMORY_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_MEMORY_ASAN 1
#endif
#endif

#if defined(WEFT_MEMORY_ASAN)
#include <sanitizer/asan_interface.h>
#endif
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define WEFT_MEMORY_VALGRIND 1
#endif

namespace weft::memory::annotate {

#if defined(WEFT_MEMORY_ASAN)
inline void poison(const void* low, std::size_t bytes) noexcept {
  __asan_poison_memory_region(low, bytes);
}
inline void unpoison(const void* low, std::size_t bytes) noexcept {
  __asan_unpoison_memory_region(low, bytes);
}
#else
inline void poison(const void*, std::size_t) noexcept {}
inline void unpoison(const void*, std::size_t) noexcept {}
#endif

#if defined(WEFT_MEMORY_VALGRIND)
// Where valgrind's header does not know the CPU, its requests are nothing, and use nothing.
inline std::uint32_t register_stack([[maybe_unused]] const void* low,
                                    [[maybe_unused]] const void* top) noexcept {
  return static_cast<std::uint32_t>(VALGRIND_STACK_REGISTER(low, top));
}
inline void forget_stack([[maybe_unused]] std::uint32_t id) noexcept {
  VALGRIND_STACK_DEREGISTER(id);
}
[[nodiscard]] inline bool runs_in_valgrind() noexcept {
  return RUNNING_ON_VALGRIND != 0;
}
// Memory below a stack pointer that we read or clear on purpose.
inline void define([[maybe_unused]] const void* low, [[maybe_unused]] std::size_t bytes) noexcept {
  VALGRIND_MAKE_MEM_DEFINED(low, bytes);
}
#else
[[nodiscard]] inline bool runs_in_valgrind() noexcept { // or nobody knows
  return false;
}
inline void define(const void*, std::size_t) noexcept {}
inline std::uint32_t register_stack(const void*, const void*) noexcept {
  return 0;
}
inline void forget_stack(std::uint32_t) noexcept {}
#endif

} // namespace weft::memory::annotate
