// SPDX-License-Identifier: MIT
// How long a wait goes on in place, and how long workers that sleep put off the next look at the table.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::mpi {

/// What the only thread that waits does next. To be suspended and found by a look costs more than a message
/// takes between two processes of one machine. After some time another process may need the CPU, as the one
/// that answers; as long as a worker would search before it yields.
enum class next_step : std::uint8_t { test, give_way, suspend };
/// `waited`: nanoseconds in place until now. *Contexts*: all. *Switches*: never.
[[nodiscard]] constexpr next_step next_step_after(std::int64_t waited) noexcept {
  constexpr std::int64_t alone = 20'000, in_place = 100'000;
  return waited < alone ? next_step::test : waited < in_place ? next_step::give_way : next_step::suspend;
}

/// The next look after nothing has come for `in_vain` nanoseconds: an eighth of that later. So a wait is at
/// most an eighth longer than it need be, however many messages of the engine's own it takes, which no look
/// can see; and a rank that waits for long costs nothing. 0: at once, since kernel threads sleep for longer
/// than they ask for, by 50 us and what it takes to wake. `has_windows`: so it is always where other ranks
/// may read and write what this one has, for which the engine takes messages that no wait here is for.
/// *Contexts*: all. *Switches*: never.
[[nodiscard]] constexpr std::int64_t patience_after(std::int64_t in_vain, bool has_windows) noexcept {
  constexpr std::int64_t shortest_sleep = 50'000, longest_sleep = 2'000'000;
  const std::int64_t part = in_vain / 8;
  return has_windows || part < shortest_sleep ? 0 : std::min(part, longest_sleep);
}

} // namespace weft::mpi
