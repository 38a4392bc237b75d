// SPDX-License-Identifier: MIT
// Delegators: locks to which one brings the work instead of waiting for one's turn to do it. Guide:
// docs/guide/synchronisation.md.
#pragma once

#include "weft/sync/delegation.hpp"
#include "weft/thread.hpp"

#include <tuple>
#include <type_traits>

namespace weft {

using sync::consumer;
using sync::request_list;
using sync::request_ring;

/// The consumer of a delegator to which functions are brought only: it has nothing to do of its own.
struct function_consumer {
  struct delegated_func_type {};
  std::tuple<bool, sync::suspended_thread> execute(delegated_func_type&) noexcept {
    return {true, sync::suspended_thread()};
  }
  sync::suspended_thread progress() noexcept { return {}; }
  [[nodiscard]] static constexpr bool is_active() noexcept { return false; }
};

/// Mutual exclusion by lock or by delegation. Who finds it taken leaves what he wants done with it; whoever
/// owns it does that, the oldest first, without a hand-over between one critical section and the next. A
/// thread that releases it serves up to 64 requests; then, or when the consumer is active, the consumer's
/// thread goes on, so that nobody works for others without end. Without a consumer the releasing thread
/// serves all. `Queue`: request_list, unbounded, or request_ring<N>, which posts up to N functions without
/// allocating (64 by default, 64 bytes each). Meets Lockable. The wait for it has no time limit. Requests to
/// cancel a thread are not acted on here. The members are those of sync::delegation. Source: the delegator
/// of the composable-threads paper, whose members have the same names; ours are post(), the forms that take a
/// function alone, try_lock(), and that releasing threads help.
template <consumer Consumer = function_consumer, class Queue = request_list>
class delegator : public sync::delegation<Consumer, Queue> {
 public:
  delegator() noexcept = default;
  /// Stops the consumer, if it runs. *Contexts*: as stop_consumer() then, else all but signal handlers.
  ~delegator() {
    if (thread_.joinable()) {
      stop_consumer();
    }
  }

  /// Starts the consumer's thread, in the pool of the caller's worker. `c` must live until it is stopped.
  /// The delegator is offered to that thread: only who tries takes it before it has run for the first time.
  /// *Contexts*: as lock(). *Switches*: may. *Errors*: std::system_error: device_or_resource_busy if it runs,
  /// as lock(), the runtime cannot start; std::bad_alloc. *Undefined*: at the same time as stop_consumer().
  void start_consumer(Consumer& c) {
    this->adopt(c);
    try {
      thread_ = thread([this] { this->consume(); });
    } catch (...) {
      this->abandon();
      throw;
    }
    this->admit();
  }
  void start_consumer()
    requires std::is_empty_v<Consumer>
  {
    static Consumer nothing;
    start_consumer(nothing);
  }

  /// Has everything executed that was delegated before, waits until the consumer is not active, and ends its
  /// thread. Functions may still be brought afterwards. *Contexts*: thread, foreign kernel thread.
  /// *Switches*: may. *Errors*: std::system_error(invalid_argument) if it does not run; as lock().
  /// *Undefined*: delegating to the consumer at the same time or later.
  void stop_consumer() {
    this->ask_to_stop();
    thread_.join();
  }

 private:
  thread thread_;
};

} // namespace weft
