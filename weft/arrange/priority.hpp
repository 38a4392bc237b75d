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
#include "weft/workers/scheduler.hpp"
#include "weft/workers/worker.hpp"

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

// The pool for a new unit of this priority, where `own_pool` is that of its creator or what it asked for.
// Errors: std::system_error(not_supported) for low where there are no classes.
[[nodiscard]] WEFT_API pool& pool_of_priority(pool& own_pool, priority p);

} // namespace weft::sched
