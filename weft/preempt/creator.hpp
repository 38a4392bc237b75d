// SPDX-License-Identifier: MIT
// A kernel thread that makes kernel threads, donors and spares, and TLS blocks, for those who find that there
// is none. They
// cannot do so themselves: the handler of ticks may have interrupted malloc, and a worker that waited in
// pthread_create(3) for a lock of libc's, whose owner was preempted and is in that worker's own pool, would
// wait for ever.
#pragma once

#include <cstdint>

namespace weft::preempt {

enum wanted : std::uint32_t {
  spares_wanted = 1,
  donors_wanted = 2,
  bound_donors_wanted = 8,
  donors_leave = 16,
  made_blocks_wanted = 32
};

// Starts it, unless it runs. Contexts: thread, foreign kernel thread. Switches: never. Errors:
// std::system_error if no kernel thread can be had.
void start_creator();
// Ends it and waits until it is gone. Contexts: as runtime::stop().
void stop_creator() noexcept;
void forget_creator_after_fork() noexcept;
// Contexts: all, SIGNAL-SAFE. Switches: never.
void ask_creator(wanted what) noexcept;

} // namespace weft::preempt
