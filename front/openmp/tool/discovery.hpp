// SPDX-License-Identifier: MIT
// A tool: how it is found, what it listens to, and how it learns of the functions that it may call.
#pragma once

#include "front/openmp/tool/tool.hpp"
#include "weft/door/errno_kept.hpp"

#include <array>
#include <cstddef>

namespace weft::openmp::tool {

/// ompt_callbacks_t.
enum class event : unsigned {
  thread_begin = 1,
  thread_end = 2,
  parallel_begin = 3,
  parallel_end = 4,
  task_create = 5,
  task_schedule = 6,
  implicit_task = 7,
  control_tool = 11,
  sync_region_wait = 16,
  mutex_released = 17,
  dependences = 18,
  task_dependence = 19,
  work = 20,
  masked = 21,
  sync_region = 23,
  lock_init = 24,
  lock_destroy = 25,
  mutex_acquire = 26,
  mutex_acquired = 27,
  nest_lock = 28,
  flush = 29,
  cancel = 30,
  reduction = 31,
  dispatch = 32,
  error = 37,
};
inline constexpr unsigned events = 38;

using function = void (*)();

/// What the tool has given for each event; null: nothing. Changed at any time, by any thread.
extern constinit std::array<door::atomic<function>, events> listeners;

[[nodiscard]] inline function listener_of(event e) noexcept {
  return listeners[static_cast<std::size_t>(e)].load_acquire(); // pairs with the release in set_callback()
}

/// Calls the tool's function, if it has given one. The program's errno stays.
template <class... Argument>
void tell(event e, Argument... arguments) {
  const function f = listener_of(e);
  if (f == nullptr)
    return;
  const door::errno_kept as_it_was;
  reinterpret_cast<void (*)(Argument...)>(f)(arguments...);
}

/// Looks for a tool as the environment says, and starts it: is_on. Only the first call does anything; others
/// that come meanwhile wait.
void start_once();
/// Tells the tool that it is over, once. Nothing is told after that.
void finish() noexcept;

/// A function that a tool may call, by its name; null: there is none.
function look_up(const char* name) noexcept;

} // namespace weft::openmp::tool
