// SPDX-License-Identifier: MIT
#include "weft/door/process.hpp"

#include "weft/memory/guard_choice.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/memory/stack_depot.hpp"
#include "weft/memory/stack_options.hpp"
#include "weft/preempt/preparation.hpp"
#include "weft/runtime/runtime.hpp"
#include "weft/workers/group.hpp"

namespace weft::door {

void prepare_process() {
  runtime::prepare_process();
}
void release_process() noexcept {
  preempt::stop();
}

unsigned worker_count_by_default() {
  return sched::default_worker_count();
}

overflow_check overflow_check_of_stacks() noexcept {
  switch (memory::stack_depot::process().options().guard) {
  case memory::guard_mode::none:
    return overflow_check::none;
  case memory::guard_mode::canary:
    return overflow_check::canary;
  default:
    return overflow_check::pages;
  }
}

std::size_t default_stack_size() noexcept {
  return memory::stack_depot::process().options().default_size;
}

void set_overflow_check(overflow_check wanted) noexcept {
  if (wanted == overflow_check::none)
    return memory::set_default_guard(memory::guard_mode::none);
  if (wanted == overflow_check::canary)
    return memory::set_default_guard(memory::guard_mode::canary);
  const memory::guard_mode asked = memory::stack_options::from_knobs().guard;
  if (asked == memory::guard_mode::none || asked == memory::guard_mode::canary)
    memory::set_default_guard(memory::guard_mode::automatic);
}

std::size_t set_default_stack_size(std::size_t bytes) noexcept {
  const std::size_t rounded = memory::stack_options::round_to_class(bytes);
  memory::stack_options::set_default_size(rounded);
  return rounded;
}

void describe_address(const void* address, char* buffer, std::size_t bytes) noexcept {
  memory::describe_address(address, buffer, bytes);
}

} // namespace weft::door
