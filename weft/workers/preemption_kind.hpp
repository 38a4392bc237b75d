// SPDX-License-Identifier: MIT
// How a thread may be preempted.
#pragma once

#include <cstdint>

namespace weft::sched {

enum class preemption : std::uint8_t {
  none,              // cooperative
  signal_yield,      // the handler switches away; goes on only on the same worker
  own_tls,           // the same, but the thread is on a TLS block that it keeps while it is preempted
  own_kernel_thread, // it keeps the kernel thread while it is preempted; its worker goes on on another one
  bound_tls,         // as own_tls, with one block from creation to end: `thread_local` is the thread's own
};
inline constexpr unsigned preemption_kinds = 5;

} // namespace weft::sched
