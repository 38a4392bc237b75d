// SPDX-License-Identifier: MIT
// swap() and swap_publishing() as the last thing that a function does, for every port that has them in
// assembly: included by the port's own header, behind its context and its switches.
#pragma once

#include "weft/arch/arch.hpp"

namespace weft::arch {

extern "C" WEFT_API int weft_arch_swap_and_return(context* from, context* to) noexcept;
extern "C" WEFT_API int weft_arch_swap_publishing_and_return(context* from, context* to, std::uint8_t value,
                                                             base::atomic<std::uint8_t>* word) noexcept;

// swap() as the last thing that a function does which returns an int: `return swap_and_return(from, to);` is
// a jump, nothing of the function's own stays on the stack, and its caller goes on by a jump, with 0.
[[gnu::always_inline]] inline int swap_and_return(context& from, context& to) noexcept {
  if constexpr (sanitizer::watches_frames || sanitizer::watches_atomics) {
    swap(from, to);
    return 0;
  } else {
    return weft_arch_swap_and_return(&from, &to);
  }
}
// The same of swap_publishing().
[[gnu::always_inline]] inline int swap_publishing_and_return(context& from, context& to,
                                                             base::atomic<std::uint8_t>& word,
                                                             std::uint8_t value) noexcept {
  if constexpr (sanitizer::watches_frames || sanitizer::watches_atomics) {
    swap_publishing(from, to, word, value);
    return 0;
  } else {
    return weft_arch_swap_publishing_and_return(&from, &to, value, &word);
  }
}

} // namespace weft::arch
