// SPDX-License-Identifier: MIT
#include "weft/base/atomic_backend.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/sched/switch.hpp"
#include "weft/sync/waiter.hpp"

namespace weft::sync {

void let_others_run() {
  const sched::runtime_section in;
  if (!sched::on_worker())
    return base::backend::yield_kernel_thread();
  unit::descriptor& self = *sched::here().current;
  if (self.kind() != unit::kind_thread)
    return;
  // While a thread unwinds it is not cancelled once more, which is what is wanted here. Relaxed: only this
  // thread looks.
  const bool unwinds = (self.traits.fetch_or_relaxed(unit::unwinding) & unit::unwinding) != 0;
  sched::yield(); // SWITCH: may resume on another worker
  if (!unwinds)
    self.traits.fetch_and_relaxed(~std::uint64_t{unit::unwinding});
}

} // namespace weft::sync
