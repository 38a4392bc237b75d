// SPDX-License-Identifier: MIT
// The public door to the trace room.
#include "weft/trace.hpp"

#include <utility>

#include "weft/runtime/runtime.hpp"
#include "weft/sched/default_group.hpp"
#include "weft/trace/session.hpp"
#include "weft/workers/group.hpp"

namespace weft::trace {
void start(std::string path) {
  session::of_process().start(std::move(path));
}

void start() {
  session::of_process().start_in_memory();
}

summary stop_and_summarise() {
  session::of_process().stop();
  // The events stay with the session until they have been looked at.
  return session::of_process().summarise_kept();
}

void stop() {
  session::of_process().stop();
  session::of_process().write();
}

void write(const std::string& path) {
  session::of_process().write(path);
}

void discard() noexcept {
  session::of_process().discard();
}

bool active() noexcept {
  return session::recording();
}

counters total() noexcept {
  return session::of_process().total();
}

} // namespace weft::trace
