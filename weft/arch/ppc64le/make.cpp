// SPDX-License-Identifier: MIT
// Prepares a context for its first switch; the frame picture stands in context.S.
#include "weft/arch/ppc64le/context.hpp"

extern "C" void weft_arch_first_step();
extern "C" void weft_arch_thread_return();

namespace weft::arch {

void make(context& fresh, void* top, std::size_t size, entry_function entry, void* argument) noexcept {
  sanitizer::create_fiber(fresh.fiber, top, size);
  auto* frame = static_cast<void**>(top) - 8;
  frame[0] = nullptr;
  frame[1] = reinterpret_cast<void*>(entry);
  frame[2] = argument;
  frame[3] = reinterpret_cast<void*>(&weft_arch_thread_return);
  frame[4] = nullptr;
  fresh.sp = frame;
  fresh.fp = nullptr;
  fresh.resume = reinterpret_cast<void*>(&weft_arch_first_step);
  asm volatile("mr %0, 2" : "=r"(fresh.toc)); // nobody's: the entry function finds its own
  fresh.control = fp_control::now();
}

} // namespace weft::arch
