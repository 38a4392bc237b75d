// SPDX-License-Identifier: MIT
// The runtimes of docs/guide/own-runtime.md. tests/unit/compose runs the conformance tests over all of them.
#pragma once

#include <weft/compose.hpp>
#include <weft/compose/kernel_threads.hpp>
#include <weft/compose/sequential.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "weft/base/spin_lock.hpp"
#include "weft/os/clock.hpp"

namespace samples {

// [sample own-deque]
template <class Unit>
class locked_deque {
 public:
  static constexpr bool shared = true;  // other workers may steal()

  bool push(Unit& u) noexcept try {
    std::scoped_lock held(lock_);
    units_.push_back(&u);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
  Unit* pop() noexcept {  // what the owner runs next: the youngest
    std::scoped_lock held(lock_);
    if (units_.empty()) return nullptr;
    Unit* u = units_.back();
    units_.pop_back();
    return u;
  }
  Unit* pop_oldest() noexcept {
    std::scoped_lock held(lock_);
    if (units_.empty()) return nullptr;
    Unit* u = units_.front();
    units_.pop_front();
    return u;
  }
  bool pop_if(Unit& u) noexcept {  // for a join: if `u` is what pop() would give
    std::scoped_lock held(lock_);
    if (units_.empty() || units_.back() != &u) return false;
    units_.pop_back();
    return true;
  }
  Unit* steal() noexcept { return pop_oldest(); }
  bool empty() const noexcept {
    std::scoped_lock held(lock_);
    return units_.empty();
  }

 private:
  mutable weft::base::spin_lock lock_;  // the sections do not switch
  std::deque<Unit*> units_;
};

struct own_deque_page : weft::compose::default_policies {
  template <class Unit>
  using ready_queue = locked_deque<Unit>;
};
// [/sample]

// [sample key-scheduler]
// One heap for all workers; the thread with the earliest deadline runs first.
template <class P>
class earliest_first {
 public:
  struct attributes {  // what each thread says when it is created
    long deadline = 0;
  };
  using unit = weft::compose::unit<P>;

  template <class Worker>
  bool add(Worker&, unit& u) noexcept try {
    std::scoped_lock held(lock_);
    ready_.emplace(u.attributes.deadline, &u);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
  template <class Worker>
  unit* next(Worker&) noexcept {
    std::scoped_lock held(lock_);
    if (ready_.empty()) return nullptr;
    unit* first = ready_.begin()->second;
    ready_.erase(ready_.begin());
    return first;
  }
  template <class Worker>
  unit* next_after_yield(Worker& w) noexcept {
    return next(w);
  }
  template <class Worker>
  bool take(Worker&, unit&) noexcept {
    return false;  // a join waits until it is the thread's turn
  }
  template <class Worker>
  bool has_work(Worker&) const noexcept {
    std::scoped_lock held(lock_);
    return !ready_.empty();
  }

 private:
  mutable weft::base::spin_lock lock_;
  std::multimap<long, unit*> ready_;
};

struct earliest_first_page : weft::compose::default_policies {
  template <class P>
  using scheduler = earliest_first<P>;
};
// [/sample]

// [sample recorder]
// One a worker: a list of what happened on it, given to `all` when the run ends.
class tracing_recorder {
 public:
  struct entry {
    std::int64_t at;  // ns
    weft::trace::event what;
    const void* thread;
  };

  tracing_recorder() { mine_.reserve(1024); }
  ~tracing_recorder() {
    std::scoped_lock held(all_lock);
    all.push_back(std::move(mine_));
  }
  void note(weft::trace::event what, const void* thread) {
    mine_.push_back({weft::os::now_ns(), what, thread});
  }

  static inline std::mutex all_lock;
  static inline std::vector<std::vector<entry>> all;

 private:
  std::vector<entry> mine_;
};

struct tracing_page : weft::compose::default_policies {
  using recorder = tracing_recorder;
};
// [/sample]

// [sample spin-mutex]
// Gives its turn away instead of waiting in a list.
template <class P>
class spin_mutex {
 public:
  void lock() {
    while (!try_lock()) P::template worker<P>::yield();
  }
  bool try_lock() noexcept { return taken_.exchange_acq_rel(1) == 0; }
  void unlock() noexcept { taken_.store_release(0); }

 private:
  typename P::template atomic<int> taken_{0};
};

struct spin_mutex_page : weft::compose::default_policies {
  template <class P>
  using mutex = spin_mutex<P>;
};
// [/sample]

// [sample kernel-thread-page]
struct kernel_thread_page : weft::compose::default_policies {
  using context = weft::compose::kernel_thread_context;
  using stack_source = weft::compose::kernel_thread_stacks;
  // So that no thread runs on the kernel thread of the one that joins it.
  using techniques = weft::compose::technique_set<weft::compose::full_lazy>;
};
// [/sample]

// [sample sequential-page]
struct sequential_page : weft::compose::default_policies {
  template <class P>
  using worker = weft::compose::sequential_worker<P>;
};
// [/sample]

} // namespace samples
