// SPDX-License-Identifier: MIT
// The checker chooses schedules itself: nothing is simulated (weft/simulator/simulation.hpp).
#include "weft/simulator/simulation.hpp"

namespace weft::base {

constinit std::atomic<virtual_kernel*> virtual_kernel_of_process{nullptr};

virtual_kernel* hosted_virtual_kernel() noexcept {
  return nullptr;
}

} // namespace weft::base

namespace weft::sched {

constinit std::atomic<void (*)(bool) noexcept> simulation::told{nullptr};

void simulation::refuse_others(const char*) {}
void simulation::point(at) noexcept {}
void simulation::turn(at) noexcept {}
std::uint64_t simulation::salt() noexcept {
  return 0;
}

} // namespace weft::sched
