// SPDX-License-Identifier: MIT
// Tells AddressSanitizer and ThreadSanitizer of every switch, in one place for every port, so that they run
// on the switch that ships. Without a sanitizer every function here is empty and `fiber` takes no room.
//
// What a user of arch has to do for them: adopt_native() on the context of a kernel thread's own stack before
// its first switch, and first_arrival() as the first statement of every entry function.
#pragma once

#include <cstddef>

#include "weft/base/export.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define WEFT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_ASAN 1
#elif __has_feature(thread_sanitizer)
#define WEFT_TSAN 1
#endif
#endif

#if defined(WEFT_ASAN)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(WEFT_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

// A context and a switch are other ones with each sanitizer, and both are inlined into programs. So every
// file that is compiled with these headers asks for a symbol that only a library of its own kind has: what
// does not fit does not link, and the linker says why (docs/guide/sanitizers.md). libabt.so exports them too,
// for programs in C (abt.h).
#if defined(WEFT_ASAN)
#define WEFT_BUILT_ALIKE                                                                                     \
  this_program_has_AddressSanitizer_so_it_needs_a_libweft_that_was_built_with_it__sanitizer_address
#elif defined(WEFT_TSAN)
#define WEFT_BUILT_ALIKE                                                                                     \
  this_program_has_ThreadSanitizer_so_it_needs_a_libweft_that_was_built_with_it__sanitizer_thread
#else
#define WEFT_BUILT_ALIKE this_program_has_no_sanitizer_but_the_libweft_it_is_linked_to_was_built_with_one
#endif
extern "C" WEFT_API const char WEFT_BUILT_ALIKE;

namespace weft::arch::sanitizer {

#if defined(WEFT_ASAN)

inline constexpr const char* name = "address";
[[gnu::used, gnu::retain]] inline const char* const needs_address = &WEFT_BUILT_ALIKE;
inline constexpr bool watches_frames = true;
inline constexpr bool watches_atomics = false;

struct fiber {
  void* fake_stack = nullptr;
  const void* low = nullptr;
  std::size_t size = 0;
};

// The stack may have been abandoned by restore() in the middle of a call: its frames' red zones are lifted
// here.
inline void create_fiber(fiber& f, void* top, std::size_t size) noexcept {
  f = {nullptr, static_cast<char*>(top) - size, size};
  __asan_unpoison_memory_region(f.low, size);
}

// For a context that was made and will never be started.
inline void discard_fiber(fiber&) noexcept {}

// The native stack of the calling kernel thread.
inline void adopt_native(fiber& f) noexcept {
  pthread_attr_t attributes;
  void* low = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return;
  }
  pthread_attr_getstack(&attributes, &low, &f.size);
  pthread_attr_destroy(&attributes);
  f.low = low;
}

[[gnu::always_inline]] inline void before_switch(fiber& from, const fiber& to) noexcept {
  __sanitizer_start_switch_fiber(&from.fake_stack, to.low, to.size);
}
[[gnu::always_inline]] inline void before_last_switch(const fiber& to) noexcept {
  __sanitizer_start_switch_fiber(nullptr, to.low, to.size);
}
[[gnu::always_inline]] inline void after_switch(fiber& self) noexcept {
  __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
}
// A switch that has been announced is not taken. ASan knows no way back, so: arrive there, and return.
[[gnu::always_inline]] inline void cancelled_switch(fiber& self) noexcept {
  const void* low = nullptr;
  std::size_t size = 0;
  void* none = nullptr;
  __sanitizer_finish_switch_fiber(nullptr, &low, &size);
  __sanitizer_start_switch_fiber(&none, low, size);
  __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
}
[[gnu::always_inline]] inline void first_arrival() noexcept {
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
}

// `guest` runs on the stack of `host`.
inline void share_fiber(fiber& guest, const fiber& host) noexcept {
  guest = {nullptr, host.low, host.size};
}

// The stack that the caller runs on, whosever it is. ASan tells it only to who has left it: so leave for
// `other`, and come back.
inline void adopt_current(fiber& f, const fiber& other) noexcept {
  void* fake_stack = nullptr;
  void* none = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, other.low, other.size);
  __sanitizer_finish_switch_fiber(nullptr, &f.low, &f.size);
  __sanitizer_start_switch_fiber(&none, f.low, f.size);
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
}
// What lies below `top` has ended by a restore(), in the middle of its last frames.
inline void forget_frames(void* top, std::size_t size) noexcept {
  __asan_unpoison_memory_region(static_cast<char*>(top) - size, size);
}

class borrow_stack {
 public:
  explicit borrow_stack(const fiber& below) noexcept {
    __sanitizer_start_switch_fiber(&fake_stack_, below.low, below.size);
    __sanitizer_finish_switch_fiber(fake_stack_, &low_, &size_);
  }
  ~borrow_stack() {
    __sanitizer_start_switch_fiber(&fake_stack_, low_, size_);
    __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr);
  }
  borrow_stack(const borrow_stack&) = delete;
  borrow_stack& operator=(const borrow_stack&) = delete;

 private:
  void* fake_stack_ = nullptr;
  const void* low_ = nullptr;
  std::size_t size_ = 0;
};

#elif defined(WEFT_TSAN)

inline constexpr const char* name = "thread";
[[gnu::used, gnu::retain]] inline const char* const needs_thread = &WEFT_BUILT_ALIKE;
inline constexpr bool watches_frames = true;
inline constexpr bool watches_atomics = true;

struct fiber {
  void* handle = nullptr;
};

inline void create_fiber(fiber& f, void*, std::size_t) noexcept {
  f.handle = __tsan_create_fiber(0);
}
inline void discard_fiber(fiber& f) noexcept {
  __tsan_destroy_fiber(f.handle);
}
inline void adopt_native(fiber& f) noexcept {
  f.handle = __tsan_get_current_fiber();
}
[[gnu::always_inline]] inline void before_switch(fiber& from, const fiber& to) noexcept {
  from.handle = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.handle, 0);
}
// A fiber may not destroy itself, so it goes once TSan believes that the next one runs.
[[gnu::always_inline]] inline void before_last_switch(const fiber& to) noexcept {
  void* self = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.handle, 0);
  __tsan_destroy_fiber(self);
}
[[gnu::always_inline]] inline void after_switch(fiber&) noexcept {}
[[gnu::always_inline]] inline void cancelled_switch(fiber& self) noexcept {
  __tsan_switch_to_fiber(self.handle, 0);
}
[[gnu::always_inline]] inline void first_arrival() noexcept {}

inline void share_fiber(fiber&, const fiber&) noexcept {}
inline void adopt_current(fiber& f, const fiber&) noexcept {
  adopt_native(f);
}
inline void forget_frames(void*, std::size_t) noexcept {}

class borrow_stack {
 public:
  explicit borrow_stack(const fiber&) noexcept {}
};

#else

inline constexpr const char* name = "none";
[[gnu::used, gnu::retain]] inline const char* const needs_none = &WEFT_BUILT_ALIKE;
inline constexpr bool watches_frames = false;
inline constexpr bool watches_atomics = false;

struct fiber {};

inline void create_fiber(fiber&, void*, std::size_t) noexcept {}
inline void discard_fiber(fiber&) noexcept {}
inline void adopt_native(fiber&) noexcept {}
[[gnu::always_inline]] inline void before_switch(fiber&, const fiber&) noexcept {}
[[gnu::always_inline]] inline void before_last_switch(const fiber&) noexcept {}
[[gnu::always_inline]] inline void after_switch(fiber&) noexcept {}
[[gnu::always_inline]] inline void cancelled_switch(fiber&) noexcept {}
[[gnu::always_inline]] inline void first_arrival() noexcept {}

inline void share_fiber(fiber&, const fiber&) noexcept {}
inline void adopt_current(fiber&, const fiber&) noexcept {}
inline void forget_frames(void*, std::size_t) noexcept {}

class borrow_stack {
 public:
  explicit borrow_stack(const fiber&) noexcept {}
};

#endif

} // namespace weft::arch::sanitizer
