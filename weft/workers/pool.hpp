// SPDX-License-Identifier: MIT
// Pools: ready units that a user can name, attach to schedulers, and write himself. Argobots' pools with the
// access modes made into three constructions: owned (one consumer, no atomics for it), shared (a spin lock),
// deque (Chase-Lev).
//
// Ownership: a unit in a pool belongs to the pool. `owner` of an owned or deque pool is the worker whose
// scheduler lists it first; pushes by anyone else go through an inbox that the owner empties.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "weft/base/export.hpp"
#include "weft/park/parking.hpp"
#include "weft/queue/chase_lev_deque.hpp"
#include "weft/queue/intrusive_fifo.hpp"
#include "weft/queue/locked_fifo.hpp"
#include "weft/queue/mpsc_inbox.hpp"
#include "weft/queue/priority_buckets.hpp"
#include "weft/unit/descriptor.hpp"

namespace weft::sched {

using unit::descriptor;

struct worker;
class group;

// For fork(): nobody attaches or detaches a pool while the lock is held.
void lock_attaching() noexcept;
void unlock_attaching() noexcept;

// Who may push and pop at the same time. `owned` serves private, single- and multi-producer use with one
// consumer.
enum class access : std::uint8_t { priv, spsc, mpsc, spmc, mpmc };

// Classes of priority; see priority.hpp.
inline constexpr unsigned high_class = 0;
inline constexpr unsigned low_class = 1;

enum class order : std::uint8_t { fifo, lifo, priority };

// What the fast paths may do without a virtual call.
enum class fast_path : std::uint8_t { none, owned_fifo, deque };

class WEFT_API pool {
 public:
  virtual ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  // Makes `u` ready here and wakes a worker if one that serves this pool sleeps and none is searching: a
  // do_push() of a user's own need not announce(). Contexts: any but signal handlers. Switches: never.
  // Errors: none for the shipped pools.
  void push(descriptor& u);
  // The same. Contexts: in the runtime.
  void push_inside(descriptor& u) {
    do_push(u); // GONE: u may run already
    announce();
  }

  // For schedulers. Takes the unit that is next, or null. Contexts: a scheduler of a worker that serves the
  // pool. Switches: never.
  descriptor* pop(worker& here) { return do_pop(here); }
  // As pop, for a worker that is not the owner; by default the same.
  descriptor* steal(worker& thief) { return do_steal(thief); }
  // Takes the unit that waits longest, for fairness; by default the same as pop.
  descriptor* pop_oldest(worker& here) { return do_pop_oldest(here); }
  // Takes this very unit out. False: it is not here, or this pool cannot. Contexts: the owner where there is
  // one.
  bool remove(descriptor& u, worker* here) { return do_remove(u, here); }
  // Whether a joiner on a worker that serves the pool may remove() the thread it joins, out of its turn, and
  // run it.
  [[nodiscard]] virtual bool gives_to_joiners() const noexcept { return false; }
  // Whether pop() is short, calls nobody's code and needs no more stack than a thread that leaves has left:
  // then a worker whose hot pool this is need not go through its loop for it.
  [[nodiscard]] virtual bool pops_quickly() const noexcept { return false; }
  // Moves what others left in the inbox to where pop() looks. Contexts: the owner.
  virtual void drain(worker& here);

  // RACY: both may be out of date when they return.
  [[nodiscard]] virtual bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] virtual std::size_t size() const noexcept = 0;

  [[nodiscard]] fast_path fast() const noexcept { return fast_; }
  [[nodiscard]] access mode() const noexcept { return access_; }
  [[nodiscard]] bool single_consumer() const noexcept { return access_ <= access::mpsc; }
  [[nodiscard]] worker* owner() const noexcept { return owner_.load_relaxed(); }
  [[nodiscard]] bool owned_by(const worker& w) const noexcept {
    return owner_.equals_relaxed(const_cast<worker*>(&w));
  }
  // The technique of threads that are created into this pool and have none of their own: automatic at first.
  // Child-first ones (C-...) then run at once, so that creating a thread may switch. Threads with a stack
  // size of their own run as SS-L where it is SC. Contexts: all but signal handlers. Switches: never. Errors:
  // std::system_error(invalid_argument). A worker other than the caller's may create threads as before until
  // its next scheduling decision.
  void set_default_technique(unit::technique_id t);
  [[nodiscard]] unit::technique_id default_technique() const noexcept {
    return static_cast<unit::technique_id>(default_technique_.load_relaxed());
  }
  // The same for a thread that may have a stack or a stack size of its own.
  [[nodiscard]] unit::technique_id default_technique(bool own_stack) const noexcept {
    const unit::technique_id t = default_technique();
    return t == unit::technique_id::sc && own_stack ? unit::technique_id::ss_lazy : t;
  }
  // Pools that hand units to each other (work stealing): a unit of one may go on in another.
  [[nodiscard]] const group* sharing() const noexcept { return sharing_; }
  // The class of its units: those of a higher one, which has the lower number, go first (priority.hpp).
  [[nodiscard]] unsigned priority_class() const noexcept { return class_; }
  // Before the pool is used.
  void put_in_class(unsigned c) noexcept { class_ = static_cast<std::uint8_t>(c); }
  // The pool of class `c` that belongs with this one; null: there is none.
  [[nodiscard]] virtual pool* of_class(unsigned c) noexcept { return c == class_ ? this : nullptr; }
  // Whether this pool is one of several classes.
  [[nodiscard]] bool has_classes() const noexcept { return has_others_; }
  // Whether a unit that is stolen from such a pool lives in the thief's afterwards, if that is one too.
  [[nodiscard]] virtual bool goes_with_thief() const noexcept { return false; }
  // Makes a worker that runs something lower leave it, if this pool has units and nobody is idle. Contexts:
  // in the runtime. Switches: never.
  virtual void kick() noexcept {}
  // A unit that lives in this pool may go on at `other`.
  [[nodiscard]] bool same_family(const pool& other) const noexcept {
    return this == &other || (sharing_ != nullptr && sharing_ == other.sharing_);
  }

  // The list which the fast paths of the owner may use without a call, or null; on the owner, when a
  // scheduler makes this its hot pool. While it is lent, nobody else touches it. end_lending(): it is used no
  // more.
  virtual queue::intrusive_fifo* lend_list(worker&) { return nullptr; }
  virtual void end_lending(worker&) noexcept {}

  // The front whose pool this is knows it by this; null: nobody's.
  [[nodiscard]] virtual void* front() noexcept { return nullptr; }

  // Units that live here, for fronts that must know whether blocked ones will come back: counted by whoever
  // makes, ends and moves units, `by_owner` only on the owner. RACY for all but one that runs when nobody
  // counts.
  void count_unit(const worker& w, std::int64_t change) noexcept {
    if (owned_by(w)) {
      units_by_owner_ += change;
    } else {
      units_by_others_.fetch_add_acq_rel(change); // acq_rel: pairs with the acquire in units()
    }
  }
  // On the owner.
  [[gnu::always_inline]] void count_unit_here(std::int64_t change) noexcept { units_by_owner_ += change; }
  [[nodiscard]] __attribute__((no_sanitize("thread"))) std::int64_t units() const noexcept {
    return units_by_owner_ + units_by_others_.load_acquire();
  }

  park::sleepers& waiting_workers() noexcept { return sleepers_; }

  // Called when a scheduler that lists this pool starts or stops on a worker. Errors: std::system_error
  // (operation_not_permitted) if a second worker attaches to a pool with a single consumer.
  // `as_main`: the scheduler lists the pool first. A deque belongs to such a worker only, for the others
  // steal from it.
  void attach(worker& w, bool as_main = true);
  void detach(worker& w) noexcept;
  // Wakes one worker that serves this pool, if one sleeps and none searches.
  void announce() noexcept {
    if (sleepers_.any()) [[unlikely]]
      wake_one();
  }
  // Tells the owner that its inbox is not empty.
  void notify_owner() noexcept;
  // In the child of fork(): empties the pool whatever state it was caught in. A pool written by a user
  // overrides do_forget().
  void forget_after_fork();

  using server_list = std::vector<worker*>;
  // Who serves the pool. RACY: they may have come or gone; valid until the pool dies. Null: nobody yet.
  [[nodiscard]] const server_list* servers() const noexcept { return servers_.load_acquire(); }

 protected:
  explicit pool(access a, fast_path f = fast_path::none) noexcept : fast_(f), access_(a) {}

  virtual void do_push(descriptor& u) = 0;
  virtual descriptor* do_pop(worker& here) = 0;
  virtual descriptor* do_steal(worker& thief) { return do_pop(thief); }
  virtual descriptor* do_pop_oldest(worker& here) { return do_pop(here); }
  virtual bool do_remove(descriptor&, worker*) { return false; }
  virtual void do_forget() {}

  base::atomic<worker*> owner_{nullptr};
  const group* sharing_ = nullptr;
  std::uint8_t class_ = high_class;
  bool has_others_ = false; // of other classes

 private:
  void wake_one() noexcept;
  // Makes the list of `attached_`; neither takes memory: attach() has set aside what a detach() needs.
  void publish_servers(std::unique_ptr<server_list> list) noexcept;
  std::unique_ptr<server_list> take_spare_list() noexcept;

  const fast_path fast_;
  const access access_;
  base::atomic<std::uint8_t> default_technique_{static_cast<std::uint8_t>(unit::technique_id::automatic)};
  // Plain: compilers do not fold a relaxed load, an addition and a relaxed store into one instruction.
  std::int64_t units_by_owner_ = 0;
  base::atomic<std::int64_t> units_by_others_{0};
  park::sleepers sleepers_;
  // Replaced as a whole; old lists live until the pool dies, since a push may still read one. Attaching is
  // rare.
  base::atomic<const server_list*> servers_{nullptr};
  std::vector<std::unique_ptr<const server_list>> server_lists_;
  std::vector<std::unique_ptr<server_list>> spare_lists_; // one an attached worker; the nth has room for n
  std::vector<worker*> attached_;
};

// FIFO with one consumer; the own pool of most threads in a private set-up. The owner's push and pop are
// plain stores.
class WEFT_API owned_fifo final : public pool {
 public:
  explicit owned_fifo(access a = access::mpsc) noexcept : pool(a, fast_path::owned_fifo) {}

  queue::intrusive_fifo* lend_list(worker&) override { return &list_.list; }
  void drain(worker& here) override;
  [[nodiscard]] bool empty() const noexcept override;
  [[nodiscard]] std::size_t size() const noexcept override;
  // Whether there is one that the owner has seen; on the owner.
  [[nodiscard]] bool has_listed() const noexcept { return !list_.list.empty(); }

 protected:
  void do_push(descriptor& u) override;
  descriptor* do_pop(worker& here) override;
  bool do_remove(descriptor& u, worker* here) override;
  void do_forget() override;

 private:
  void insert(descriptor& u) noexcept;

  queue::guarded_fifo list_;
  queue::mpsc_inbox inbox_;
};

// LIFO or priority order with one consumer.
class WEFT_API owned_ordered final : public pool {
 public:
  owned_ordered(order o, access a) noexcept : pool(a), order_(o) {}

  void drain(worker& here) override;
  [[nodiscard]] bool empty() const noexcept override;
  [[nodiscard]] std::size_t size() const noexcept override;

 protected:
  void do_push(descriptor& u) override;
  descriptor* do_pop(worker& here) override;
  descriptor* do_pop_oldest(worker& here) override;
  bool do_remove(descriptor& u, worker* here) override;
  void do_forget() override;

 private:
  void insert(descriptor& u) noexcept;

  const order order_;
  queue::intrusive_fifo list_;                        // lifo
  queue::priority_buckets<queue::null_lock> buckets_; // priority
  queue::mpsc_inbox inbox_;
};

// A number for a shared pool, by which units say that they are in its list; 0 when all 65,535 are taken.
class WEFT_API container_number {
 public:
  container_number();
  ~container_number();
  container_number(const container_number&) = delete;
  container_number& operator=(const container_number&) = delete;
  [[nodiscard]] std::uint16_t get() const noexcept { return number_; }

 private:
  std::uint16_t number_;
};

// Writes the number into the units that enter, and takes it out of those that leave.
class unit_marks {
 public:
  explicit unit_marks(const container_number& n) noexcept : number_(n.get()) {}
  void enter(queue::link* l) const noexcept { descriptor::from(*l).container.store_relaxed(number_); }
  void leave(queue::link* l) const noexcept { descriptor::from(*l).container.store_relaxed(0); }

 private:
  std::uint16_t number_;
};

// FIFO, LIFO or priority order for any number of producers and consumers, under a spin lock.
class WEFT_API shared_pool : public pool {
 public:
  shared_pool(order o, access a) noexcept : pool(a), order_(o) {}

  [[nodiscard]] bool gives_to_joiners() const noexcept override { return order_ != order::priority; }
  [[nodiscard]] bool pops_quickly() const noexcept override { return true; }
  [[nodiscard]] std::size_t size() const noexcept override;

 protected:
  void do_push(descriptor& u) override;
  descriptor* do_pop(worker& here) override;
  descriptor* do_pop_oldest(worker& here) override;
  bool do_remove(descriptor& u, worker* here) override;
  void do_forget() override;

 private:
  const order order_;
  const container_number number_;
  queue::basic_locked_fifo<unit_marks> list_{unit_marks(number_)}; // fifo, lifo
  queue::priority_buckets<base::spin_lock> buckets_;               // priority
};

// Work stealing: the owner at the bottom, thieves at the top, others through an inbox that thieves may take
// from too.
class WEFT_API deque_pool final : public pool {
 public:
  // `family`: the group whose deques hand units to each other; null: this pool stands alone.
  explicit deque_pool(const group* family = nullptr);
  ~deque_pool() override;

  queue::chase_lev_deque<descriptor>& deque() noexcept { return *deque_; }
  void drain(worker& here) override;
  [[nodiscard]] bool empty() const noexcept override;
  [[nodiscard]] std::size_t size() const noexcept override;

 protected:
  void do_push(descriptor& u) override;
  descriptor* do_pop(worker& here) override;
  descriptor* do_steal(worker& thief) override;
  descriptor* do_pop_oldest(worker& here) override;
  void do_forget() override;

 private:
  std::optional<queue::chase_lev_deque<descriptor>> deque_; // always; made and ended in the runtime
  queue::locked_fifo inbox_;
};

// The shipped pool for an order and an access mode.
WEFT_API std::unique_ptr<pool> make_pool(order o, access a);

} // namespace weft::sched
