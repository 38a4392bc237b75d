// SPDX-License-Identifier: MIT
// Lets a mutex be released from within a switch, off the stack of its owner.
#pragma once

namespace weft::sync {

/// An empty base of `Mutex`, which has release_for_owner(). suspended_thread takes a callable by address and
/// calls it once the thread can be resumed, when nothing may refer to that thread's frame; this callable lies
/// in the mutex itself.
template <class Mutex>
class release_action {
 public:
  bool operator()() noexcept {
    static_cast<Mutex*>(this)->release_for_owner();
    return true;
  }

 protected:
  constexpr release_action() noexcept = default;
  release_action& action() noexcept { return *this; }
};

} // namespace weft::sync
