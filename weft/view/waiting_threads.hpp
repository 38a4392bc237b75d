// SPDX-License-Identifier: MIT
// The threads of the process that wait, for whoever tells people that nobody can go on.
#pragma once

namespace weft::sched {

// Contexts of both: while no unit runs on any worker, or comes or goes. Switches: never.
// Every thread that waits and what for, on stderr; `most` at most.
void name_waiting_threads(unsigned most = ~0U) noexcept;
[[nodiscard]] unsigned count_waiting_threads() noexcept;

} // namespace weft::sched
