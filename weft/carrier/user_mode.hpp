// SPDX-License-Identifier: MIT
// Preemptible threads. While one runs the user's code ("user mode"), what here() finds on its kernel thread
// is not the worker but a face of the thread's own, which has no list, no deque and no budget: the inlined
// fast paths read nothing else, find nothing to be fast with and call their slow twins. These enter the
// runtime, where here() finds the worker again, and whatever handles ticks sees by here() alone that the
// thread must not be preempted now. So threads that are not preemptible pay nothing, and a preemption between
// any two instructions of user mode is safe: what they have read of the face is true on every worker.
//
// docs/design/preemption.md has the argument, and what was rejected.
#pragma once

#include <ucontext.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/base/export.hpp"
#include "weft/carrier/carrier.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/carrier/tls_block.hpp"
#include "weft/workers/preemption_kind.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {

// Whose ticks are for whichever preemptible thread leaves the runtime next.
inline constexpr std::uint32_t whichever_thread = 2;

// What a preemptible thread has beside its descriptor, from its creation to the end of its function.
//
// Ownership: the thread, and before its start and while it is ready whoever holds its unit; `pending` is
// anyone's. Invariant: weft_current_worker == &face on a kernel thread exactly while the thread runs in user
// mode there.
class WEFT_API user_mode {
 public:
  // Makes `u`, whose operations and traits are set and which is in no pool, preemptible. Switches: for
  // bound_tls, while its block is made. Errors: std::bad_alloc; of bound_tls also what bind() throws; nothing
  // has changed then.
  static void attach(descriptor& u, preemption kind);
  // Undoes it, for one that is not submitted after all.
  static void detach(descriptor& u) noexcept;
  // For a thread in the runtime for good, before its front tells anybody that it has ended: gives back what
  // takes time. Switches: bound_tls: yes.
  static void prepare_end(descriptor& self) noexcept;
  // Null: `u` is cooperative, or its function has ended. Contexts: who runs or holds `u`, and handlers of
  // signals on its worker.
  static user_mode* of(const descriptor& u) noexcept;
  // Whether it has a block for life, from its start on.
  [[nodiscard]] static bool has_bound_block(const descriptor& u) noexcept;
  // The caller runs on the other's from now on, until they exchange them back. Contexts: in the runtime, of
  // the thread `self`; both have one; `other` is suspended and nobody resumes it before. Switches: never.
  static void exchange_bound_blocks(descriptor& self, descriptor& other) noexcept;
  // The calling kernel thread, which is no worker, runs on the block of `other` from now on, until it calls
  // leave_bound_block() with what this returns. Contexts: a foreign kernel thread; `other` has a block, is
  // suspended, and nobody resumes it before. Switches: never.
  static void* enter_bound_block(descriptor& other) noexcept;
  static void leave_bound_block(void* own_thread_pointer) noexcept;
  static user_mode& behind(worker_face& face) noexcept { return reinterpret_cast<user_mode&>(face); }

  // Into the runtime: returns the worker. Contexts: in user mode of this thread. Switches: never.
  worker& enter_runtime() noexcept;
  // Back to user mode; first lets others run if a tick came meanwhile. Contexts: in the runtime, this thread
  // runs. Switches: may.
  void leave_runtime() noexcept;
  // For the handler of ticks: lets others run now; returns in the runtime, the worker that goes on with the
  // thread. The handler then calls return_to_user_mode() and returns. Contexts: a signal handler that has
  // interrupted user mode, and not one that enters the runtime. Switches: yes. Null: it cannot now, and will
  // at the next chance; it is in user mode still.
  worker* preempt() noexcept;
  void return_to_user_mode() noexcept;
  // For the handler of ticks that has interrupted a system call: the worker goes on elsewhere; the handler
  // returns, and the thread goes on in the kernel, without a worker. Contexts: as preempt(). False: it cannot
  // now; it is in user mode still, on its worker, and preempt() makes it one that can the next time.
  bool let_worker_go() noexcept;
  // It is in a handler of a signal, on the alternative stack of its kernel thread, where who ran there next
  // would overwrite its frames: it neither leaves that kernel thread nor lets others run on it. The first
  // costs a system call, the second is for the handler of ticks. Contexts: this thread. SIGNAL-SAFE.
  [[nodiscard]] bool stays_on_signal_stack() const noexcept;
  [[nodiscard]] bool stays_on_signal_stack(const ucontext_t& interrupted) const noexcept;
  // It runs without a worker, until it enters the runtime.
  [[nodiscard]] bool is_away() const noexcept { return away_on_ != nullptr; }
  // For the handler: from now on it waits for a worker like any thread that is ready. Contexts: as preempt(),
  // away. Null: it is away still.
  worker* wait_for_worker() noexcept;
  // For the handler on the kernel thread of `w`, whose cooperative thread or tasklet waits in the kernel: a
  // thread that is ready on `w` because it was preempted goes on without a worker, as it may hold what is
  // waited for. False: there is none, or no kernel thread for it. Switches: never.
  static bool let_one_go_alone(worker& w) noexcept;
  // A tick came at a moment when the thread must not be preempted: it will be when it leaves the runtime.
  // Contexts: all.
  void remember_tick() noexcept { pending_.store_relaxed(1); }
  // The same for the handler that finds the worker in the runtime. On the way out of it, or into it, the flag
  // of the worker is not looked at again, but what the thread itself remembers is.
  static void remember_tick_in_runtime(worker& w) noexcept;
  // It has read which worker it is on, perhaps, and has not acted on it yet: who preempted it now would leave
  // it with the thread pointer of another kernel thread. For the handler, whatever it has interrupted: it may
  // stand on other handlers.
  [[nodiscard]] bool is_entering() const noexcept { return entering_.load_relaxed() != 0; }
  // Somebody wants the thread to call `heed_interruption` (below) in user mode, as soon as may be: also where
  // it computes, or waits in the kernel. It does not end meanwhile. Contexts: all but signal handlers.
  // Switches: never.
  void interrupt() noexcept;
  [[nodiscard]] bool is_interrupted() const noexcept { return interrupted_.load_relaxed() != 0; }
  // For the handler of ticks and for who leaves the runtime: calls it. True: a system call that was
  // interrupted returns EINTR. Contexts: in user mode. Switches: may.
  bool heed() noexcept;
  // How often that was so: who has interrupted a call, or makes one, sees whether it ends. Contexts: this
  // thread, and handlers of signals that have interrupted it.
  [[nodiscard]] std::uint32_t calls_ended() const noexcept { return calls_ended_.load_relaxed(); }
  // The thread has shown that it is in user mode, and looks no further: who has interrupted it before that,
  // as (I1) has it, is heeded by a tick. Contexts: in user mode of this thread. SIGNAL-SAFE. Switches: at a
  // tick.
  void heed_soon() const noexcept;
  [[nodiscard]] std::uint32_t serial() const noexcept { return serial_; }
  // The thread itself asked not to be preempted: counts, for handlers on its kernel thread. Contexts: in user
  // mode of this thread. Switches: the last let_go(), if a tick came.
  void hold() noexcept {
    held_.store_relaxed(held_.load_relaxed() + 1);
    base::backend::compiler_fence(); // nothing of the scope comes before
  }
  void let_go() noexcept {
    base::backend::compiler_fence(); // or after
    const std::uint32_t still = held_.load_relaxed() - 1;
    held_.store_relaxed(still);
    if (still == 0 && pending_.load_relaxed() != 0) [[unlikely]]
      heed_remembered();
  }
  // It ends the process: neither is it preempted from now on, nor does it let its worker go in the kernel,
  // nor is it interrupted. Contexts: as hold().
  void hold_for_good() noexcept { held_.store_relaxed(held_.load_relaxed() | for_good); }
  // The same, but that it is interrupted: its worker, and the kernel thread that this is on, are for it
  // alone. Contexts: this thread, in the runtime.
  void keep_worker() noexcept {
    held_.store_relaxed(held_.load_relaxed() | keeps);
    keeps_away_from_homes_ = false;
  }
  [[nodiscard]] bool keeps_worker() const noexcept {
    return (held_.load_relaxed() & (for_good | keeps)) != 0;
  }
  [[nodiscard]] bool is_held_for_good() const noexcept { return (held_.load_relaxed() & for_good) != 0; }
  // Whether the variables in use are those that the thread has in user mode: for assertions. Contexts: in
  // user mode of this thread, and not entering the runtime. SIGNAL-SAFE.
  [[nodiscard]] bool is_in_place() const noexcept;
  [[nodiscard]] bool is_held() const noexcept { return held_.load_relaxed() != 0; }
  [[nodiscard]] bool has_remembered() const noexcept { return pending_.load_relaxed() != 0; }
  [[nodiscard]] preemption kind() const noexcept { return kind_; }
  // How many there are in the process. Who makes the first one rouses the monitor.
  static base::atomic<std::uint32_t>& live() noexcept;

 private:
  static constexpr std::uint32_t for_good = 1U << 31, keeps = 1U << 30;
  user_mode(descriptor& u, preemption kind) noexcept;
  // What is called in pools of the user's could be what the thread was interrupted in.
  static bool is_ours(const pool& p) noexcept;
  static void run(descriptor& u);
  static void drop(descriptor& u);
  [[noreturn]] static void end(descriptor& u);
  worker& enter_keeping_block() noexcept;
  void show_face(worker& w) noexcept;
  worker* preempt_in_place() noexcept;
  void pass_worker_on(worker& w, carrier& mine, carrier& elsewhere) noexcept;
  descriptor* start_direct_hand_off(worker& w) noexcept;
  [[nodiscard]] bool is_captive() const noexcept { return captive_on_ != nullptr; }
  void leave_home() noexcept;
  void wait_away_from_home() noexcept;
  worker& come_back() noexcept;
  worker& wait_after_all() noexcept;
  worker& wait_as_captive(carrier& mine) noexcept;
  bool go_alone(worker& w) noexcept;
  worker& begin_alone() noexcept;
  void show_face_away() noexcept;
  void heed_remembered() noexcept;
  void note_whether_alone(worker& w) const noexcept; // before it leaves because of a tick
  void go_to_user_mode(worker& w) noexcept;
  void take_block(worker& w) noexcept;
  void await_block() noexcept;
  static bool find_block(worker& w) noexcept;
  static tls_block* borrow_block(worker& w) noexcept;
  static void return_block(worker& w, tls_block& block) noexcept;
  // Whether it runs on a TLS block in user mode.
  [[nodiscard]] bool has_block() const noexcept {
    return kind_ == preemption::own_tls || kind_ == preemption::bound_tls;
  }
  worker& enter_as_it_is() noexcept;
  void begin_on_block() noexcept;
  void end_on_block() noexcept;
  void give_block_back(worker& w) noexcept;
  void finish() noexcept;
  void finish_running() noexcept;

  // As large as a worker, for inlined code takes it for one: addresses of members are formed, and what is
  // read behind the face is zero.
  union {
    worker_face face_;
    alignas(worker) std::byte room_[sizeof(worker)];
  };
  descriptor& unit_;
  const unit::operations* real_;
  unit::operations mine_;
  tls_block* block_ = nullptr;     // own_tls, bound_tls: in user mode, and while preempted
  tls_block* bound_ = nullptr;     // bound_tls: from its start, if not before
  bool has_ended_on_block_ = true; // false from its first instruction in user mode on a made one to its last
  carrier* captive_on_ = nullptr;  // the kernel thread that it keeps, without a worker, while it is ready
  carrier* away_on_ = nullptr;     // the same, while it runs
  group* left_group_ = nullptr;    // of the worker that went on without it
  // While it is ready: whether it may go on without a worker, being in user mode but for a tick.
  enum class alone : std::uint8_t { no, where_it_waits, on_a_spare } may_go_alone_ = alone::no;
  bool keeps_away_from_homes_;
  base::atomic<std::uint32_t> pending_{0};
  base::atomic<std::uint32_t> entering_{0};
  base::atomic<std::uint32_t> held_{0};
  base::atomic<std::uint32_t> interrupted_{0};
  base::atomic<std::uint32_t> calls_ended_{0};
  const preemption kind_;
  const std::uint32_t serial_; // tells it from others, for who looks from outside; not 0
};

// What an interrupted thread calls: set by the front that interrupts its threads, once for the process. True:
// a system call that was interrupted returns EINTR. Contexts: in user mode of the thread, in a handler of a
// signal or in a call of Weft that is about to return; it may be left by a longjmp.
using interruption = bool (*)(descriptor& self) noexcept;
WEFT_API extern std::atomic<interruption> heed_interruption;

// Whether it is that of a preemptible thread.
[[nodiscard]] inline bool is_in_user_mode(const worker_face& face) noexcept {
  return (face.attention.load_relaxed() & (user_code | without_worker)) == user_code;
}

// While one is in scope the calling thread is not preempted where it computes; a tick that came meanwhile is
// honoured at its end. What a thread has stays its own: variables, errno, locks of libc's. One that blocks in
// the kernel lets others run as it does elsewhere, since their threads may have what it waits for. May be
// nested; the thread may wait, and is held when it is back. Nothing for threads that are not preemptible.
// Contexts: all but signal handlers. Switches: at its end, if a tick came.
class [[nodiscard]] no_preemption {
 public:
  no_preemption() noexcept {
    worker_face& face = sched::here();
    if (!is_in_user_mode(face))
      return;
    thread_ = &user_mode::behind(face);
    thread_->hold();
  }
  ~no_preemption() {
    if (thread_ != nullptr)
      thread_->let_go();
  }
  no_preemption(const no_preemption&) = delete;
  no_preemption& operator=(const no_preemption&) = delete;

 private:
  user_mode* thread_ = nullptr;
};

// The opposite of a runtime_section, for a callback of the user's: a thread that may be preempted is back in
// user mode until the scope ends, and may hold locks of libc's there. Contexts: in the runtime, no lock held.
// Switches: at its beginning, if a tick came; who calls looks for its worker again.
class [[nodiscard]] user_code_section {
 public:
  user_code_section() noexcept {
    worker_face& face = sched::here();
    if (face.attention.any_relaxed(not_a_worker | user_code))
      return;
    thread_ = user_mode::of(*static_cast<worker&>(face).current);
    if (thread_ != nullptr)
      thread_->leave_runtime();
  }
  ~user_code_section() {
    if (thread_ != nullptr)
      thread_->enter_runtime();
  }
  user_code_section(const user_code_section&) = delete;
  user_code_section& operator=(const user_code_section&) = delete;

 private:
  user_mode* thread_ = nullptr;
};

// For exit(): the caller, if it is preemptible, is not preempted any more and lets no worker go in the
// kernel; if it has no worker it does not come back to one.
void keep_for_exit() noexcept;

} // namespace weft::sched
