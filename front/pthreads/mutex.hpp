// SPDX-License-Identifier: MIT
#pragma once

#include "front/pthreads/limit.hpp"
#include "front/pthreads/thread.hpp"

namespace weft::pthreads {

/// The mutex of a condition variable's wait: given up altogether, however often it was taken, and taken again
/// as often. give_up(): 0, or EPERM where it is not the caller's. *Contexts*: as pthread_mutex_lock().
/// *Switches*: may.
class given_up_mutex {
 public:
  explicit given_up_mutex(pthread_mutex_t& m) noexcept : mutex_(m) {}
  [[nodiscard]] int give_up() noexcept;
  [[nodiscard]] int take_again() noexcept;

 private:
  void count_user(int more) noexcept;
  pthread_mutex_t& mutex_;
  unsigned more_ = 0; // how often it was taken beside once
};

} // namespace weft::pthreads
