// SPDX-License-Identifier: MIT
// Threads of two classes: those of the low one run only while a worker finds none of the high one, and leave
// at once when one comes ("kick on push"). After the LAMMPS experiment of Shiina, Iwasaki, Taura, Balaji,
// "Lightweight Preemptive User-Level Threads", PPoPP 2021, section 4.3, where a low thread learns of a high
// one by the next tick of a timer. The argument: docs/design/priorities.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "weft/base/export.hpp"
#include "weft/sched/scheduler.hpp"
#include "weft/sched/worker.hpp"

namespace weft::sched {

enum class priority : std::uint8_t {
  of_creator, // that of the thread that creates it; of what is created elsewhere: high
  high,       // first come, first served; workers without one take others'
  low,        // the youngest first, where it was created; others take it when they find nothing else at all
};
inline constexpr unsigned priorities = 3;

// A pool of one class. One of the high class has a low one beside it, for the same worker.
//
// Ownership: as a shared_pool. Any number of workers push and pop.
class WEFT_API class_pool final : public shared_pool {
 public:
  // A pool of the high class, and its low one. `of_low`: the default technique of that one.
  explicit class_pool(unit::technique_id of_low = unit::technique_id::automatic);

  [[nodiscard]] pool* of_class(unsigned c) noexcept override;
  // The other of the pair: what schedulers list beside this one.
  [[nodiscard]] const std::shared_ptr<class_pool>& low() const noexcept { return low_; }
  // A joiner that runs a low thread in its turn would keep a worker from the high ones.
  [[nodiscard]] bool gives_to_joiners() const noexcept override { return priority_class() == high_class; }
  [[nodiscard]] bool goes_with_thief() const noexcept override { return true; }
  // Sends for a worker that runs something lower, if there are units here and no worker is idle. Contexts: in
  // the runtime. Switches: never.
  void kick() noexcept override;

 protected:
  void do_push(descriptor& u) override;
  // The one that waits longest: what is warm stays.
  descriptor* do_steal(worker& thief) override { return do_pop_oldest(thief); }
  void do_forget() override;

 private:
  explicit class_pool(class_pool& high);
  // The loop of a worker that serves this pool takes what it has pushed, such as a thread that yielded.
  [[nodiscard]] bool pusher_looks_itself() const noexcept;
  // The running thread of a pushing worker that serves this pool leaves when it goes back to user mode. True:
  // it will do so for this push.
  bool pusher_leaves() noexcept;
  [[nodiscard]] bool is_served_by(const worker& w) const noexcept; // RACY: as servers()

  class_pool* const high_;
  const std::shared_ptr<class_pool> low_; // null: this is one
};

// Strict order of classes: of each the own pool, then the others' from a random one on, before the next. Of
// the last class, the theft is the last thing a worker tries. Threads that were preempted and must go on
// where they are stand between the last class and those before it.
class WEFT_API class_scheduler final : public scheduler {
 public:
  // For each class, first the first, its pools: the worker's own, then the others'. Errors:
  // std::system_error(invalid_argument): no class, a class without pools, a null pool.
  explicit class_scheduler(std::vector<std::vector<std::shared_ptr<pool>>> classes);

  descriptor* next(worker& here) override { return pick(here, turn::none); }
  // A low one that was preempted goes on before the others: only who yields lets them.
  descriptor* next_oldest(worker& here) override;
  [[nodiscard]] pool* pool_of_pinned(const descriptor& u) const noexcept override;

 private:
  struct range {
    std::size_t first, last; // of pools(); the first is the own one
  };
  enum class turn : std::uint8_t { none, of_high, of_all }; // where the oldest goes first
  descriptor* pick(worker& here, turn t);

  std::vector<range> classes_;
  std::uint64_t seed_ = 0;
};

// For the worker of mains[index]: its classes and those of the others. All are class_pools of the high class.
std::shared_ptr<scheduler> scheduler_of_classes(std::size_t index,
                                                const std::vector<std::shared_ptr<pool>>& mains);

// Makes the kernel thread of the worker leave what it runs in user mode. Null: nothing is preemptible yet.
// Contexts of what it points to: in the runtime; it may not take a lock.
WEFT_API extern std::atomic<void (*)(worker&) noexcept> kick_worker;

// The pool for a new unit of this priority, where `own_pool` is that of its creator or what it asked for.
// Errors: std::system_error(not_supported) for low where there are no classes.
[[nodiscard]] WEFT_API pool& pool_of_priority(pool& own_pool, priority p);

// --- for user_mode.cpp, worker.cpp and pool.cpp, of a worker whose attention has `worker_has_classes` ---

// Somebody whom only this worker runs has become ready, and stands where it looks.
void kick_owner(worker& w) noexcept;

// The running thread goes to user mode, its serial is shown. True: somebody of a higher class is there, and
// the thread must leave again. (K2)
bool enters_user_mode(worker& w, const descriptor& u) noexcept;
// Whether a tick is of use: who would run if the thread did not. RACY: a hint.
bool others_wait_in_classes(worker& w) noexcept;
// The worker has left its search: pushes may have counted on it for more than the one unit that it takes.
void kick_for_the_rest(worker& w) noexcept;

} // namespace weft::sched
