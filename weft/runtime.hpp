// SPDX-License-Identifier: MIT
// Starting and stopping the default runtime; nothing here has to be called.
#pragma once

#include "weft/runtime/guest.hpp"
#include "weft/runtime/runtime.hpp"
#include "weft/sched/default_group.hpp"

namespace weft::runtime {

using sched::default_group;

// start() and stop() as an object.
class scope {
 public:
  explicit scope(const options& wanted = {}) { start(wanted); }
  ~scope() { stop(); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
};

} // namespace weft::runtime
