// SPDX-License-Identifier: MIT
// The default context: registers of a thread on a stack, switched by weft/arch.
#pragma once

#include <cstddef>

#include "weft/arch/arch.hpp"

namespace weft::compose {

// A context part: the higher-order switches of the composable-threads paper (its Fig. 4). Contract of all
// members: weft/arch/README.md. A `Stack` has initial_stack_pointer() and usable() as memory::stack_record.
struct native_context {
  using type = arch::context;
  using entry = arch::entry_function;
  using arrival = arch::arrival_function;
  using condition = arch::conditional_function;

  // Whether threads that switch run on the same kernel thread, which keeps what is caught and thrown.
  static constexpr bool keeps_kernel_thread = true;

  // For the context of a kernel thread's own stack, before its first switch.
  static void adopt(type& own) noexcept { arch::sanitizer::adopt_native(own.fiber); }
  // `guest` is called on the stack of `host`.
  [[gnu::always_inline]] static void share(type& guest, const type& host) noexcept {
    arch::sanitizer::share_fiber(guest.fiber, host.fiber);
  }
  // The first statement of every entry.
  [[gnu::always_inline]] static void arrived() noexcept { arch::sanitizer::first_arrival(); }

  [[gnu::always_inline]] static void swap(type& from, type& to) noexcept { arch::swap(from, to); }
  [[gnu::always_inline]] static void swap_with(type& from, type& to, arrival f, void* a) noexcept {
    arch::swap_with(from, to, f, a);
  }
  [[gnu::always_inline]] static bool cond_swap(type& from, type& to, condition f, void* a) noexcept {
    return arch::cond_swap(from, to, f, a);
  }
  template <class Stack>
  [[gnu::always_inline]] static void save(type& from, type& fresh, Stack& s, entry f, void* a) noexcept {
    arch::save(from, fresh, s.initial_stack_pointer(), s.usable(), f, a);
  }
  [[noreturn, gnu::always_inline]] static void restore(type& to) noexcept { arch::restore(to); }
  [[noreturn, gnu::always_inline]] static void restore_with(type& to, arrival f, void* a) noexcept {
    arch::restore_with(to, f, a);
  }
};

} // namespace weft::compose
