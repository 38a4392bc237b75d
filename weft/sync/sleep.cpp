// SPDX-License-Identifier: MIT
#include "weft/sync/sleep.hpp"

namespace weft::sync {

bool sleep_until_deadline(sched::deadline until, const std::stop_token& stop) {
  if (stop.stop_requested()) {
    return false;
  }
  if (has_passed(until)) {
    let_others_run(); // SWITCH: may resume on another worker
    return true;
  }
  waiter w({unit::wait_kind::sleep, 0, reinterpret_cast<const void*>(until)});
  return w.wait(until, stop) == wait_result::timed_out; // SWITCH: may resume on another worker
}

} // namespace weft::sync
