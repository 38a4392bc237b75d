// SPDX-License-Identifier: MIT
#include "weft/preemption.hpp"

#include "weft/arch/user_mode.hpp"
#include "weft/memory/annotate.hpp"
#include "weft/preempt/tick_sources.hpp"
#include "weft/sched/switch.hpp"

namespace weft {

bool can_preempt(preemption kind) noexcept {
  if (kind != preemption::none && (memory::annotate::runs_in_valgrind() || !preempt::may_send_ticks()))
    return false;
  switch (kind) {
  case preemption::none:
    return true;
  case preemption::signal_yield:
  case preemption::own_kernel_thread:
    return arch::can_preempt;
  case preemption::own_tls:
  case preemption::bound_tls:
    return arch::can_preempt && arch::can_set_thread_pointer();
  }
  return false;
}

bool this_thread::let_sched_yield_switch(bool on) {
  const sched::runtime_section in;
  sched::require_thread("let_sched_yield_switch");
  unit::descriptor& self = *sched::here().current;
  if (self.has(unit::preemptible))
    return true;
  const bool was = self.has(unit::sched_yields);
  // relaxed: for the thread itself
  if (on)
    self.traits.fetch_or_relaxed(unit::sched_yields);
  else
    self.traits.fetch_and_relaxed(~std::uint64_t{unit::sched_yields});
  return was;
}

} // namespace weft
