// SPDX-License-Identifier: MIT
// "What is caught now" and "how many fly" are the C++ run time's per kernel thread: they stay with the thread
// that leaves, and go to whichever worker it resumes on.
#pragma once

#include "weft/workers/worker.hpp"

namespace weft::sched {

class exceptions_kept {
 public:
  explicit exceptions_kept(worker& w) noexcept : any_(arch::any(*w.exceptions)) {
    if (any_) [[unlikely]]
      kept_ = arch::save_and_clear(*w.exceptions);
  }
  ~exceptions_kept() {
    if (any_) [[unlikely]]
      arch::restore(*here().exceptions, kept_); // fetched again: another worker
  }
  exceptions_kept(const exceptions_kept&) = delete;
  exceptions_kept& operator=(const exceptions_kept&) = delete;

 private:
  const bool any_;
  arch::exception_state kept_;
};

} // namespace weft::sched
