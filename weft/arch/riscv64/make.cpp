// SPDX-License-Identifier: MIT
// Prepares a context for its first switch; the frame picture stands in context.S.
#include "weft/arch/riscv64/context.hpp"

extern "C" void weft_arch_first_step();
extern "C" void weft_arch_thread_return();

namespace weft::arch {

void make(context& fresh, void* top, std::size_t size, entry_function entry, void* argument) noexcept {
  sanitizer::create_fiber(fresh.fiber, top, size);
  auto* frame = static_cast<void**>(top) - 4;
  frame[0] = reinterpret_cast<void*>(entry);
  frame[1] = argument;
  frame[2] = reinterpret_cast<void*>(&weft_arch_thread_return);
  frame[3] = nullptr;
  fresh.sp = frame;
  fresh.fp = nullptr;
  fresh.resume = reinterpret_cast<void*>(&weft_arch_first_step);
  fresh.frm = fp_control::now();
}

} // namespace weft::arch
