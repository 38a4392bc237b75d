// SPDX-License-Identifier: MIT
// The workers that threads of OpenMP run on: started with the first region that needs more than its master,
// never stopped. In a child of fork() there are none, and the next region starts new ones.
#pragma once

#include "weft/door/atomic.hpp"
#include "weft/door/workers.hpp"

#include <cstddef>
#include <memory>
#include <mutex>

namespace weft::openmp {

struct thread;

/// *Ownership*: `lock_` guards the groups; the atomics are anybody's.
///
/// Pinned threads have workers of their own: one that preemptible threads use too may go on on another kernel
/// thread when one of these blocks, and its cooperative threads would find other variables there.
class engine {
 public:
  engine();
  static engine& of_process() noexcept;

  /// Where the pinned thread of that number lives, of processors() - 1.
  weft::pool& pinned_pool(unsigned number);
  /// No thread lives there any more.
  void stop_pinned() noexcept;
  /// Where preemptible ones do. A program's own workers, if it has started Weft before.
  weft::pool& shared_pool();

  const unsigned processors;
  door::atomic<unsigned> running{0};
  door::atomic<thread*> pinned_owner{nullptr};

  /// In the child of fork(), before it has other kernel threads.
  void forget() noexcept;

 private:
  std::mutex lock_;
  std::unique_ptr<weft::worker_group> pinned_, shared_;
};

} // namespace weft::openmp
