// SPDX-License-Identifier: MIT
// The pools of the C API: first in first out, RANDWS's, and the user's. The design, with what was rejected:
// docs/design/abt-pools.md.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "front/abt/abt.h"
#include "front/abt/object.hpp"
#include "front/abt/unit.hpp"
#include "weft/door/atomic.hpp"
#include "weft/door/pool.hpp"
#include "weft/pool.hpp"

namespace weft::abt {

struct pool_config;

// Ownership: `self` keeps the pool alive until ABT_pool_free or, if it is automatic, until its last scheduler
// goes; schedulers and units under way hold references of their own or rely on the user's word.
class pool : public weft::pool, public object {
 public:
  static constexpr kind own_kind = kind::pool;

  const ABT_pool_access access;
  const int id;
  bool automatic = false;
  std::atomic<int> schedulers{0}; // that list it
  void* data = nullptr;
  std::shared_ptr<pool> self;
  const bool new_units_first; // and their creators that make way for them: RANDWS

  // --- what users may ask; all: Contexts: any; Switches: never, unless the user's callback does ---
  // A unit that was just made or revived.
  void push_new(descriptor& u) { push_from_user(u, ABT_POOL_CONTEXT_OP_THREAD_CREATE); }
  virtual void push_from_user(descriptor& u, ABT_pool_context why);
  // The same for a new unit that is no more than its descriptor.
  virtual void push_plain(descriptor& u) { push_new(u); }
  // The popped unit is its taker's: in no container.
  virtual descriptor* pop_for_user(ABT_pool_context why) = 0;
  virtual descriptor* pop_wait(double seconds, ABT_pool_context why);
  [[nodiscard]] virtual std::size_t exact_size() = 0;
  [[nodiscard]] virtual bool exact_empty() { return exact_size() == 0; }
  [[nodiscard]] virtual bool has_size() const noexcept { return true; }
  [[nodiscard]] virtual bool has_pop_wait() const noexcept { return true; }
  [[nodiscard]] virtual bool has_pop_many() const noexcept { return true; }
  [[nodiscard]] virtual bool has_push_many() const noexcept { return true; }
  [[nodiscard]] virtual bool has_remove() const noexcept { return true; }
  [[nodiscard]] virtual bool has_print() const noexcept { return true; }
  virtual std::size_t pop_many(ABT_thread* into, std::size_t most, ABT_pool_context why);
  virtual void push_many(const std::vector<descriptor*>& units, ABT_pool_context why);
  // Calls `f` for each unit. The pool is locked meanwhile, or the user's.
  virtual void for_each(void* argument, void (*f)(void* argument, ABT_thread)) = 0;
  // Whether it is in the pool now; RACY for all but who keeps it from being popped.
  virtual bool remove_for_user(descriptor& u);

  // --- user-defined pools give units names of their own ---
  [[nodiscard]] bool names_units() const noexcept { return names_units_; }
  virtual ABT_unit name_unit(descriptor&, unit_info&) { return ABT_UNIT_NULL; }
  virtual void drop_name(ABT_unit) noexcept {}

  [[nodiscard]] void* front() noexcept final { return this; }

  // Units that live here and have not ended: ready, running and blocked ones.
  using weft::pool::units;
  // While schedulers of the pool are told to finish, how many: who takes the last unit away tells their
  // streams.
  std::atomic<int> draining{0};
  // A unit lives here no more. Contexts: any.
  void count_leaving(const worker& w) noexcept {
    count_unit(w, -1);
    if (draining.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      tell_drained();
  }
  void tell_drained() noexcept;
  [[nodiscard]] bool drained() const noexcept { return units() == 0; }
  [[nodiscard]] bool holds_units() const noexcept { return !looks_empty(); }
  [[nodiscard]] bool empty() const noexcept final;
  [[nodiscard]] std::size_t size() const noexcept final;

  // Wakes kernel threads in pop_wait(), whether there is a unit or not.
  void wake_waiters() noexcept;

  // For ABT_pool_print_*.
  [[nodiscard]] virtual const char* kind_name() const noexcept = 0;

 protected:
  // `names`: it is a user's. `new_first`: new_units_first.
  pool(ABT_pool_access a, door::fast_path f, bool new_first = false, bool names = false);

  [[nodiscard]] virtual bool looks_empty() const noexcept = 0;
  // After each push that does not come from the owner's fast path.
  void tell_waiters() noexcept;
  // Whether kernel threads wait, behind such a push and a light fence.
  [[nodiscard]] bool is_waited_for() const noexcept { return waiting_.load_relaxed() != 0; }

 private:
  const bool names_units_;
  door::atomic<std::uint32_t> waiting_{0}; // kernel threads in pop_wait()
  door::atomic<std::uint32_t> pushes_{0};  // they sleep on it
};

// One list for its owner alone while a scheduler of ours runs it as its first pool, and one under a lock for
// everybody else; the owner gives the first one up when somebody else wants what is in it.
class fifo_pool final : public pool {
 public:
  fifo_pool(ABT_pool_access a, ABT_pool_kind k);

  void push_plain(descriptor& u) override;
  door::unit_list* lend_list(worker& w) override;
  void end_lending(worker& w) noexcept override;
  descriptor* pop_for_user(ABT_pool_context why) override;
  std::size_t pop_many(ABT_thread* into, std::size_t most, ABT_pool_context why) override;
  std::size_t exact_size() override;
  void for_each(void* argument, void (*f)(void*, ABT_thread)) override;
  [[nodiscard]] const char* kind_name() const noexcept override;
  // Not the owner's list; where that is not in use, all units stand in the one for everybody.
  [[nodiscard]] bool gives_to_joiners() const noexcept override {
    return !lends() || !in_use_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool pops_quickly() const noexcept override { return true; }
  void drain(worker& w) override;

 protected:
  void do_push(descriptor& u) override;
  descriptor* do_pop(worker& here) override;
  bool do_remove(descriptor& u, worker* here) override;
  void do_forget() override;
  [[nodiscard]] bool looks_empty() const noexcept override;

 private:
  // Whether its owner may have a list for itself.
  [[nodiscard]] bool lends() const noexcept { return access <= ABT_POOL_ACCESS_MPSC; }
  [[nodiscard]] bool mine(const worker* w) const noexcept;
  // For the owner of a list that is in use.
  bool remove_listed(descriptor& u, worker& here);
  // For all others.
  void push_shared(descriptor& u);
  descriptor* pop_shared();
  // Somebody who is not the owner wants to see all.
  void ask_to_share() noexcept;

  const ABT_pool_kind kind_;
  const door::pool_number number_;
  door::lent_list own_; // the owner's
  door::locked_list shared_{door::marks_of(number_)};
  std::atomic<bool> in_use_{false};     // own_ is lent: the owner's; RACY for others
  std::atomic<bool> must_share_{false}; // for good
};

// New units, and creators that made way for one, go to its head, others to its tail; secondary owners pop
// from the tail. Which push is which: docs/guide/abt/pool.md.
class randws_pool final : public pool {
 public:
  explicit randws_pool(ABT_pool_access a);

  void push_from_user(descriptor& u, ABT_pool_context why) override;
  descriptor* pop_for_user(ABT_pool_context why) override;
  std::size_t exact_size() override { return units_.size(); }
  void for_each(void* argument, void (*f)(void*, ABT_thread)) override;
  [[nodiscard]] const char* kind_name() const noexcept override { return "RANDWS"; }
  [[nodiscard]] bool gives_to_joiners() const noexcept override { return true; }
  [[nodiscard]] bool pops_quickly() const noexcept override { return true; }

 protected:
  void do_push(descriptor& u) override;
  descriptor* do_pop(worker& here) override;
  descriptor* do_steal(worker& thief) override;
  bool do_remove(descriptor& u, worker* here) override;
  void do_forget() override;
  [[nodiscard]] bool looks_empty() const noexcept override { return units_.empty(); }

 private:
  void insert(descriptor& u, bool at_head) noexcept;

  const door::pool_number number_;
  door::locked_list units_{door::marks_of(number_)};
};

// The callbacks of either definition, one form for both.
struct pool_callbacks;

class user_pool final : public pool {
 public:
  user_pool(ABT_pool_access a, std::unique_ptr<pool_callbacks> callbacks);
  ~user_pool() override;
  // Calls the user's init. Errors: failure with the code it returned.
  void initialise(ABT_pool_config config);

  descriptor* pop_for_user(ABT_pool_context why) override;
  descriptor* pop_wait(double seconds, ABT_pool_context why) override;
  descriptor* pop_timed_wait(double deadline);
  std::size_t exact_size() override;
  bool exact_empty() override;
  [[nodiscard]] bool has_size() const noexcept override;
  [[nodiscard]] bool has_pop_wait() const noexcept override;
  [[nodiscard]] bool has_pop_many() const noexcept override;
  [[nodiscard]] bool has_push_many() const noexcept override;
  [[nodiscard]] bool has_remove() const noexcept override;
  [[nodiscard]] bool has_print() const noexcept override;
  [[nodiscard]] bool has_timed_wait() const noexcept;
  [[nodiscard]] bool is_old_style() const noexcept;
  std::size_t pop_many(ABT_thread* into, std::size_t most, ABT_pool_context why) override;
  void push_many(const std::vector<descriptor*>& units, ABT_pool_context why) override;
  void for_each(void* argument, void (*f)(void*, ABT_thread)) override;
  bool remove_for_user(descriptor& u) override;
  int remove_unit(ABT_unit unit);
  bool print_units(void* argument, void (*f)(void*, ABT_unit));
  ABT_unit name_unit(descriptor& u, unit_info& info) override;
  void drop_name(ABT_unit name) noexcept override;
  [[nodiscard]] const char* kind_name() const noexcept override { return "user-defined"; }

 protected:
  void do_push(descriptor& u) override;
  descriptor* do_pop(worker& here) override;
  descriptor* do_steal(worker& thief) override;
  bool do_remove(descriptor& u, worker* here) override;
  [[nodiscard]] bool looks_empty() const noexcept override;

 private:
  [[nodiscard]] ABT_pool handle() const noexcept;
  void push_foreign(descriptor& u);
  descriptor* taken(ABT_thread t) noexcept;

  std::unique_ptr<pool_callbacks> callbacks_;
  bool initialised_ = false;
};

inline pool* checked_pool(ABT_pool handle) noexcept {
  if (is_null(handle) || reinterpret_cast<std::uintptr_t>(handle) % alignof(void*) != 0)
    return nullptr;
  auto* p = reinterpret_cast<pool*>(handle);
  return p->is(kind::pool) ? p : nullptr;
}
inline ABT_pool handle_of(pool& p) noexcept {
  return reinterpret_cast<ABT_pool>(&p);
}

// Ready and blocked units that live in it, as far as can be told.
std::size_t total_size(pool& p);
// Errors: std::bad_alloc.
pool& make_pool(ABT_pool_kind k, ABT_pool_access a, bool automatic);
// Lets go of a pool that nobody uses.
void release_pool(pool& p) noexcept;

} // namespace weft::abt
