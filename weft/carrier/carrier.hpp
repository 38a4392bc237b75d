// SPDX-License-Identifier: MIT
// A kernel thread that workers run on. A worker begins on its home, and ends there. A thread that must keep
// the kernel thread on which it was preempted (preemption::own_kernel_thread) holds it captive: it waits
// there, in the handler of the tick, and the worker goes on on another one, a spare. Homes are never held
// captive; but a cooperative thread that waits in the kernel may be away on one (leaving.hpp), and its worker
// cannot go home then.
//
// The protocol: a kernel thread without a worker waits in wait(); call() gives it one, once. Whoever calls
// has left everything that the worker needs (its stack above all) before, and touches neither worker nor
// carrier after. docs/design/preemption.md has the argument.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <sched.h>
#include <signal.h>

#include "weft/arch/arch.hpp"
#include "weft/arch/exception_state.hpp"
#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"
#include "weft/os/guarded_stack.hpp"
#include "weft/unit/descriptor.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {

class user_mode;

// Who runs on a kernel thread without a worker.
enum class away_here : std::uint8_t {
  nobody,
  preemptible, // is ticked once it computes: it must come back
  cooperative, // is let alone until it calls Weft
};

class WEFT_API carrier {
 public:
  // A spare, to be lived by its own kernel thread: live().
  carrier() = default;
  // Errors: std::bad_alloc.
  void prepare_spare();
  void prepare_home();

  // The life of a spare: carries one worker after the other until end() is called while it has none.
  // Contexts: the kernel thread that it is.
  void live() noexcept;
  void end() noexcept { call(nullptr); }
  // The calling kernel thread's, once, by the one who is about to carry.
  void describe_this_kernel_thread() noexcept;

  // Whether `c` is what make_gate() made last.
  [[nodiscard]] bool is_gate(const arch::context& c) const noexcept;
  [[nodiscard]] bool is_home() const noexcept { return is_home_; }
  // Whether its worker can go to this home. relaxed: nothing is published by it. Who is called before he
  // waits finds the call when he does.
  [[nodiscard]] bool is_free_home() const noexcept { return away.load_relaxed() == away_here::nobody; }

  // The worker that goes on here next; null: none will, or who waits here goes on without. Contexts: the
  // kernel thread that it is, without a worker.
  worker* wait() noexcept;
  // GONE for the caller: `w`, and *this if `w` is null.
  void call(worker* w) noexcept;
  // The worker becomes the calling kernel thread's, which is *this.
  void take_aboard(worker& w) noexcept;
  // And no more. Contexts: in the runtime, the kernel thread that it is.
  static void put_ashore() noexcept;
  // Makes the context by which a worker comes here, wherever it stands when it continues it. It goes on with
  // `resident`; null: with the captive that waits here. Contexts: nobody is in the gate that was made before.
  void make_gate(arch::context& gate, arch::context* resident) noexcept;
  // For one that goes on without a worker: what stands for it in weft_worker_here. Only the fields that the
  // way into the runtime reads are there.
  worker& nobody() noexcept;
  // A cooperative thread of `left` goes on here without a worker. Returns what it finds in place of one.
  // Contexts: the kernel thread that it is, whose worker is about to be called elsewhere.
  worker_face& begin_away(descriptor& unit, group& left) noexcept;
  // It has left the kernel thread, which waits from now on. Returns the group that it is of.
  group& end_away() noexcept;
  // Who runs here without a worker; when it was seen to compute, for whoever ticks. A home is free for its
  // worker once it reads nobody: nobody else calls it.
  base::atomic<away_here> away{away_here::nobody};
  base::atomic<const user_mode*> who_is_away{nullptr}; // the preemptible thread, while `away` says so
  std::int64_t computed_ns = 0;
  [[nodiscard]] int kernel_id() const noexcept { return kernel_id_; }
  // The signals that the kernel thread had blocked when it began to serve workers.
  [[nodiscard]] const sigset_t& mask() const noexcept { return mask_; }
  [[nodiscard]] arch::exception_globals& exceptions() const noexcept { return *exceptions_; }

  // The child of fork() runs on a copy of the caller's kernel thread: that is its worker's home now.
  void begin_anew_after_fork() noexcept;

  carrier* next = nullptr; // in a list of spares; its holder's
  arch::context idle{};    // where it waits while no captive holds it

 private:
  [[noreturn]] static void carry_from_home(void* self);
  [[noreturn]] static void pass_through_gate(void* self);
  void carry() noexcept;
  void make_room_for_nobody();

  base::atomic<std::uint32_t> called_{0}; // a futex; 1: `comes_` says who
  worker* comes_ = nullptr;
  bool is_home_ = false;
  int kernel_id_ = 0;
  void* thread_pointer_ = nullptr;
  arch::exception_globals* exceptions_ = nullptr;
  cpu_set_t bound_{};
  sigset_t mask_{};
  arch::context* resident_ = nullptr;
  os::guarded_stack gate_;              // where a gate's code runs
  std::unique_ptr<std::byte[]> nobody_; // as large as a worker
  group* left_group_ = nullptr;         // of the cooperative thread that is away here
  os::guarded_stack rest_;              // a home's: where it waits, for its own stack is the loop's
};

// Who has spare carriers. One for the process, set before the first thread needs one. Contexts of both: in
// the runtime, also in the handler of ticks. Switches: never.
class carrier_lender {
 public:
  // Null: there is none now; one may come soon.
  virtual carrier* lend() noexcept = 0;
  // The same for a thread that goes on without a worker; some are kept for these.
  virtual carrier* lend_to_alone() noexcept { return lend(); }
  virtual bool more_may_come() noexcept = 0;
  virtual void take_back(carrier* first) noexcept = 0; // a list
  // One more cooperative thread keeps a kernel thread, or one less.
  virtual void count_leaver(bool /*more*/) noexcept {}

 protected:
  ~carrier_lender() = default;
};
WEFT_API extern std::atomic<carrier_lender*> lender_of_carriers;

// How kernel threads pass a worker on: ours, and what the paper compares (its Fig. 6). Read at each step.
enum class hand_off : std::uint8_t {
  direct,     // from captive to captive, if that is next; spares by worker first
  local,      // always by the loop, on a spare: the paper's "futex + local pools"
  global,     // the same, spares from the process's list alone: its "futex"
  sigsuspend, // the same, and waiting for a signal: its "naive"
};
WEFT_API extern base::atomic<hand_off> how_to_hand_off;
// The signal of `sigsuspend`, which whoever chooses it handles.
int signal_of_hand_off() noexcept;

// Whoever runs this on `w` goes on on `to`, and so do the worker and its loop. Contexts: in the runtime, a
// thread or the loop. Switches: no thread, but the kernel thread.
void move_worker(worker& w, carrier& to) noexcept;
// A spare for `w` to go on on; null: there is none now.
carrier* take_spare(worker& w) noexcept;
carrier* take_spare_for_alone(worker& w) noexcept;
void return_spare(worker& w, carrier& c) noexcept;
// For a worker that leaves its kernel thread to who runs there: a spare, or its home, if nobody is there.
// Null: none of them.
carrier* where_to_go_on(worker& w) noexcept;
// The worker ends at home: waits until nobody is there.
void go_home(worker& w) noexcept;
void count_leaver(bool more) noexcept;

} // namespace weft::sched
