// SPDX-License-Identifier: MIT
// Deadlines of waiting units, one queue a worker. A worker looks at its own queue when its budget of
// decisions is used up and when it is idle; idle workers also serve the queues of busy ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"
#include "weft/base/kernel_mutex.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/own_heap.hpp"

namespace weft::sched {

class timer_queue;

// Nanoseconds on the monotonic clock.
using deadline = std::int64_t;
inline constexpr deadline no_deadline = std::numeric_limits<deadline>::max();

// What a queue keeps of a timer. A class of its own, since compilers warn of a protected destructor that is
// not virtual where the class has a friend.
class timer_place {
  friend class timer_queue;
  deadline at_ = 0;
  std::size_t slot_ = 0;                      // index in the heap
  base::atomic<timer_queue*> queue_{nullptr}; // where it was armed last; its lock guards the other three
  bool armed_ = false;
};

// One wait. Ownership: the waiter; while armed its queue points to it.
class WEFT_API timer : public timer_place {
 public:
  // Called once, under the queue's lock, by whichever worker finds the deadline passed. May make units ready;
  // may not arm or disarm timers.
  virtual void on_expiry() noexcept = 0;

 protected:
  timer() = default;
  timer(const timer&) = delete;
  ~timer() = default;
};

// Queues are recycled and never deallocated: who ends a wait early may have read the queue of a worker that
// is going.
class WEFT_API timer_queue : public os::on_own_heap {
 public:
  struct recycler {
    void operator()(timer_queue* queue) const noexcept;
  };
  using lease = std::unique_ptr<timer_queue, recycler>;
  // An empty queue. Errors: std::bad_alloc.
  static lease take();

  // Errors: std::bad_alloc; std::system_error when the fault site timer_create is armed. The timer is not
  // armed then.
  void arm(timer& t, deadline at);

  // True: it will not fire. False: it has fired; on_expiry() has returned. Any worker may call it for any
  // queue.
  static bool disarm(timer& t) noexcept;

  // Gives all its timers to `other`: the worker has left. Waits until there is memory: a timer that is lost
  // would be a wait that never ends.
  void move_to(timer_queue& other) noexcept;

  // Runs what has expired; returns how many.
  int expire(deadline now) noexcept;

  // RACY: for choosing how long to sleep, and for a look before taking the lock.
  [[nodiscard]] deadline earliest() const noexcept { return earliest_.load_relaxed(); }
  [[nodiscard]] bool looks_empty() const noexcept { return earliest() == no_deadline; }
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  bool try_move_to(timer_queue& other) noexcept;
  void sift_up(std::size_t slot) noexcept;
  void sift_down(std::size_t slot) noexcept;
  void place(timer* t, std::size_t slot) noexcept;
  void remove_at(std::size_t slot) noexcept;

  mutable base::kernel_mutex lock_;
  std::vector<timer*, os::own_allocator<timer*>> heap_;
  base::atomic<deadline> earliest_{no_deadline};
  timer_queue* next_idle_ = nullptr;
};

// Where the time is counted for which what runs on a worker runs, if a scheduler asks for that. Ownership:
// the worker.
class running_time {
 public:
  void count(base::atomic<std::int64_t>& where, deadline now) noexcept {
    where_ = &where;
    since_ = now;
  }
  [[nodiscard]] bool is_counted() const noexcept { return where_ != nullptr; }
  // To be called before a unit leaves for the loop: once others may take it, or know that it has ended, it is
  // too late.
  void stop() noexcept {
    if (where_ != nullptr) [[unlikely]]
      add();
  }

 private:
  [[gnu::cold]] void add() noexcept {
    std::exchange(where_, nullptr)->fetch_add_relaxed(os::now_ns() - since_); // relaxed: a sum
  }
  base::atomic<std::int64_t>* where_ = nullptr; // null: nobody asks
  deadline since_ = 0;
};

// A worker's timers, and whom they woke. Ownership: the worker, but for `sleeps_until`, which all may read.
struct worker_timing {
  timer_queue::lease lease = timer_queue::take();
  timer_queue& queue = *lease;
  running_time running;
  base::atomic<deadline> sleeps_until{0}; // 0: awake
  unsigned woken = 0;                     // where the worker looks next: they come before all others
  bool woken_local = false;               // one of them stands in `local`
  bool waking = false; // who becomes ready was woken by a timer: to where the worker looks next
};

// Where the timers of a group go that has ended: waits go on, and whoever ends one early must find its queue.
// Workers of all groups look here. Contexts: any kernel thread.
timer_queue& timers_left_behind() noexcept;

} // namespace weft::sched
