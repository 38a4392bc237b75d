// SPDX-License-Identifier: MIT
// Simulated cores with a cache each, for counting the cache lines that move between them: the core whose
// clock is least makes the next access. A line is with one core that may write it, or with several that read
// it; an access that finds it otherwise moves it, and takes longer. Costs are those measured on the machine
// of bench/results (docs/design/delegation.md); what is counted depends on them only through the order of
// events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace weft::lines {

enum class kind : std::uint8_t { read, write, locked };

/// Nanoseconds.
struct costs {
  static constexpr double hit = 0.5;    // with what stands around it
  static constexpr double locked = 5;   // an atomic read-modify-write of a line that is here
  static constexpr double moved = 45;   // more, if the line is elsewhere
  static constexpr double pause = 24;   // one arch::relax()
  static constexpr double notify = 700; // to make a sleeping thread ready, and wake its worker
  static constexpr double wake = 2000;  // until it runs
  static constexpr double fence = 1000; // a membarrier
};

inline constexpr std::size_t line_bytes = 64;

/// One access by the running core. Another core may run before it is made.
void access(const void* address, kind how) noexcept;
/// The running core does something that touches no shared line.
void spend(double ns) noexcept;
/// The running core stops until wake() has been called for it once more than it stopped.
void sleep() noexcept;
void wake(unsigned core) noexcept;
[[nodiscard]] unsigned self() noexcept;

/// Has lines within the object counted under a name.
void label(const void* begin, std::size_t bytes, const char* name);

/// Runs `body(core)` on each of `count` cores until the first returns and the rest are thrown away, in an
/// order that `seed` shakes. Gives the nanoseconds it took, by the clocks.
double run(unsigned count, unsigned seed, const std::function<void(unsigned)>& body);

/// Lines moved in the last run under a name; all of them if it is empty.
[[nodiscard]] std::size_t moves(const std::string& name = {});
/// How often a core that slept was woken in the last run.
[[nodiscard]] std::size_t wakes() noexcept;

} // namespace weft::lines
