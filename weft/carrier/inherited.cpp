// SPDX-License-Identifier: MIT
#include "weft/carrier/inherited.hpp"

#include <new>

namespace weft::sched {

void run_as_preemptible(descriptor& u, const unit::operations& operations, preemption kind) {
  u.operations = &operations;
  try {
    user_mode::attach(u, kind == preemption::bound_tls ? preemption::own_tls : kind);
  } catch (const std::bad_alloc&) { // late for others, but right
  }
  u.operations->run(u);
}

} // namespace weft::sched
