// SPDX-License-Identifier: MIT
// weft::thread: a thread that costs nanoseconds, with the interface of std::thread and what a user-level
// thread can do beyond.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include "weft/arrange/priority.hpp"
#include "weft/base/export.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/closure.hpp"
#include "weft/pool.hpp"
#include "weft/sched/join.hpp"
#include "weft/sched/requests.hpp"
#include "weft/sched/switch.hpp"
#include "weft/sync/waiter.hpp"
#include "weft/unit/extension.hpp"

namespace weft {

using sched::preemption;
using sched::priority;
using unit::technique_id;

// What a thread or tasklet may differ in. Every field's default means: as the runtime has it.
struct thread_attributes {
  std::size_t stack_size = 0; // bytes, rounded up to a size class; at most 1 GiB; 0: WEFT_STACK_SIZE
  const char* name = nullptr; // copied, cut to 31 characters
  weft::pool* pool = nullptr; // where it becomes ready; it must outlive the thread
  int level = 0;              // priority, -32 (first) .. 31 (last); only priority pools look
  // How a thread starts and ends, and when it has a stack: docs/guide/techniques.md. Tasklets have none.
  technique_id technique = technique_id::automatic;
  // Whether others can make it leave its worker while it computes: docs/guide/preemption.md. Threads only.
  weft::preemption preemption = weft::preemption::none;
  // Of which class, where the runtime has classes: docs/guide/priorities.md.
  weft::priority priority = weft::priority::of_creator;
};

template <technique_id>
class thread_of; // techniques.hpp

namespace detail {

// The traits word of a unit of this kind. Errors: std::system_error(invalid_argument).
WEFT_API std::uint64_t traits_of(const thread_attributes& a, std::uint64_t kind);
// Fills in what few ask for and pushes the unit. Errors: as traits_of, std::bad_alloc; the caller then still
// owns `u`.
WEFT_API void submit_with(unit::descriptor& u, const unit::operations& o, std::uint64_t traits,
                          const thread_attributes& a, bool now = false);
// join with a time limit or a stop token. False: neither ended.
WEFT_API bool join_until(unit::descriptor& u, sched::deadline until, const std::stop_token& stop);
WEFT_API void detach(unit::descriptor& u) noexcept;
[[noreturn]] WEFT_API void throw_not_joinable();
// A handle of a unit that nobody has joined or detached goes: names the unit, and calls std::terminate().
[[noreturn, gnu::cold]] WEFT_API void terminate_forgotten(unit::descriptor& u) noexcept;

template <class Callable>
unit::descriptor& create_with(const thread_attributes& a, const unit::operations& o, std::uint64_t kind,
                              Callable&& c, bool now = false) {
  const std::uint64_t traits = traits_of(a, kind);
  unit::descriptor& u = sched::allocate_unit_slowly();
  bool filled = false;
  try {
    closure<Callable>::fill(u, std::forward<Callable>(c));
    filled = true;
    submit_with(u, o, traits, a, now);
  } catch (...) {
    if (filled)
      closure<Callable>::drop(u);
    sched::free_unit(sched::here(), u);
    throw;
  }
  return u;
}

} // namespace detail

class thread {
 public:
  // Which thread; a value that compares, hashes and prints. Valid until the thread is joined, or has ended
  // detached.
  class id {
   public:
    constexpr id() noexcept = default;
    constexpr explicit id(const unit::descriptor* u) noexcept : unit_(u) {}
    friend constexpr auto operator<=>(id, id) noexcept = default;
    [[nodiscard]] const void* address() const noexcept { return unit_; }

   private:
    const unit::descriptor* unit_ = nullptr;
  };

  thread() noexcept = default;

  // Starts a thread that calls f(arguments...), decayed copies of them; it becomes ready in the pool of the
  // caller's worker. Contexts: thread, tasklet, foreign kernel thread. Switches: never (copying the arguments
  // may). Errors: std::bad_alloc; std::system_error if the runtime cannot start. An exception that leaves f
  // ends the process.
  template <class F, class... Arguments>
    requires(!std::is_base_of_v<thread, std::remove_cvref_t<F>> &&
             !std::is_same_v<std::remove_cvref_t<F>, thread_attributes>)
  [[gnu::always_inline]] explicit thread(F&& f, Arguments&&... arguments) {
    auto call = detail::bind_call(std::forward<F>(f), std::forward<Arguments>(arguments)...);
    using closure = detail::closure<decltype(call)>;
    unit_ =
        &sched::create<closure::trivial>(closure::thread_operations, unit::kind_thread,
                                         [&call](unit::descriptor& u) { closure::fill(u, std::move(call)); });
  }

  // The same with attributes. Errors: also std::system_error(invalid_argument) for a stack size above 1 GiB
  // or a level out of range.
  template <class F, class... Arguments>
  thread(const thread_attributes& a, F&& f, Arguments&&... arguments) {
    auto call = detail::bind_call(std::forward<F>(f), std::forward<Arguments>(arguments)...);
    using closure = detail::closure<decltype(call)>;
    unit_ = &detail::create_with(a, closure::thread_operations, unit::kind_thread, std::move(call));
  }

  // Starts a thread and switches to it at once; the caller becomes ready. (Argobots' create_to.)
  // Contexts: as the constructor; a caller that is no thread on a worker does not switch. Switches: may.
  template <class F, class... Arguments>
  [[nodiscard]] static thread create_to(const thread_attributes& a, F&& f, Arguments&&... arguments) {
    auto call = detail::bind_call(std::forward<F>(f), std::forward<Arguments>(arguments)...);
    using closure = detail::closure<decltype(call)>;
    thread t;
    t.unit_ = &detail::create_with(a, closure::thread_operations, unit::kind_thread, std::move(call), true);
    return t;
  }

  thread(thread&& other) noexcept : unit_(std::exchange(other.unit_, nullptr)) {}
  thread& operator=(thread&& other) noexcept {
    if (joinable()) [[unlikely]]
      detail::terminate_forgotten(*unit_);
    unit_ = std::exchange(other.unit_, nullptr);
    return *this;
  }
  // A joinable thread must not be forgotten: std::terminate, as std::thread.
  ~thread() {
    if (joinable()) [[unlikely]]
      detail::terminate_forgotten(*unit_);
  }

  void swap(thread& other) noexcept { std::swap(unit_, other.unit_); }
  friend void swap(thread& a, thread& b) noexcept { a.swap(b); }

  [[nodiscard]] bool joinable() const noexcept { return unit_ != nullptr; }
  [[nodiscard]] id get_id() const noexcept { return id(unit_); }

  // Waits until the thread has ended. Contexts: thread, foreign kernel thread. Switches: may.
  // Errors: std::system_error: invalid_argument if not joinable, resource_deadlock_would_occur for itself,
  // operation_not_permitted from a tasklet.
  [[gnu::always_inline]] void join() {
    if (unit_ == nullptr) [[unlikely]]
      detail::throw_not_joinable();
    unit::descriptor& u = *unit_;
    sched::worker& now = sched::join(u);
    unit_ = nullptr;
    sched::free_unit(now, u);
  }
  // The same, no longer than told; false: the thread has not ended and stays joinable. Errors: also if no
  // timer can be had.
  template <class Rep, class Period>
  bool try_join_for(const std::chrono::duration<Rep, Period>& length, const std::stop_token& stop = {}) {
    return try_join(sync::deadline_of(length), stop);
  }
  template <class Clock, class Duration>
  bool try_join_until(const std::chrono::time_point<Clock, Duration>& at, const std::stop_token& stop = {}) {
    return sync::wait_by_clock(at, stop, [&](sched::deadline until) { return try_join(until, stop); });
  }
  // Until the thread ends or a stop is requested.
  bool join(const std::stop_token& stop) { return try_join(sched::no_deadline, stop); }

  // Nobody will join; the thread frees itself when it ends. Errors: std::system_error(invalid_argument) if
  // not joinable.
  void detach() {
    if (unit_ == nullptr)
      detail::throw_not_joinable();
    detail::detach(*std::exchange(unit_, nullptr));
  }

  // The thread ends at its next scheduling point (yield, suspend) by unwinding its stack, or never
  // starts. It must still be joined. Waits for locks and the like are not interrupted: use a stop token for
  // those. Errors: if not joinable.
  void cancel() { sched::request_cancel(checked()); }

  // It goes on in `target` from its next scheduling point; `callback(unit, argument)` is called on the way.
  // Contexts: all but signal handlers. Switches: never. Errors: std::system_error(invalid_argument);
  // std::bad_alloc.
  void migrate_to(weft::pool& target, unit::migration_callback callback = nullptr, void* argument = nullptr) {
    sched::request_migration(checked(), target, callback, argument);
  }
  // The same, and waits until it has moved or ended. Contexts: thread, foreign kernel thread. Switches: may.
  WEFT_API void migrate_to_and_wait(weft::pool& target);

  // Lets a thread that is, or soon will be, in this_thread::suspend() go on. Contexts: all but signal
  // handlers.
  void resume() { sched::resume(checked()); }

  // A copy: the thread may end at any time, and its name with it. Empty if it has none or has ended.
  // Contexts: all but signal handlers. Switches: never. Errors: std::bad_alloc.
  [[nodiscard]] std::string name() const {
    return unit_ != nullptr ? std::string(copy_name().data()) : std::string();
  }
  // RACY: for display.
  [[nodiscard]] unit::state state() const noexcept {
    return unit_ != nullptr ? unit_->state.load() : unit::state::finished;
  }
  // For schedulers and pools. Null if not joinable.
  [[nodiscard]] unit::descriptor* native_handle() const noexcept { return unit_; }

  // How many can run at the same time: the workers.
  [[nodiscard]] WEFT_API static unsigned hardware_concurrency() noexcept;

 private:
  unit::descriptor& checked() {
    if (unit_ == nullptr)
      detail::throw_not_joinable();
    return *unit_;
  }
  std::array<char, unit::name_size> copy_name() const noexcept {
    const sched::runtime_section in;
    return unit::copy_name(*unit_);
  }
  bool try_join(sched::deadline until, const std::stop_token& stop) {
    if (!detail::join_until(checked(), until, stop))
      return false;
    sched::release_kept_stack(*unit_);
    sched::free_unit(sched::here(), *std::exchange(unit_, nullptr));
    return true;
  }

  template <technique_id>
  friend class thread_of;

  unit::descriptor* unit_ = nullptr;
};

WEFT_API std::ostream& operator<<(std::ostream& out, thread::id id);

namespace this_thread {

// Lets others run; see sched::yield(). On a foreign kernel thread: sched_yield(2).
[[gnu::always_inline]] inline void yield() {
  sched::yield();
}
// The same, and `t` runs next if it is ready where it can be taken from.
[[gnu::always_inline]] inline void yield_to(const thread& t) {
  if (t.native_handle() != nullptr)
    return sched::yield_to(*t.native_handle());
  sched::yield();
}
// Waits for resume(); returns at once if that came since the last suspend(). Contexts: thread. Switches: may.
// Errors: std::system_error(operation_not_permitted) from elsewhere.
inline void suspend() {
  sched::suspend();
}

// Blocks the caller and continues `t`, which is blocked. Nobody else may resume either meanwhile, and both
// live in a pool that this worker serves: nothing of that is checked, which is why it costs no more than the
// switch. For hand-over between a few threads of one worker; suspended_thread::swap is the checked form.
// Contexts: thread. Switches: always.
[[gnu::always_inline]] inline void suspend_to(const thread& t) {
  sched::suspend_to(*t.native_handle());
}

// Null-like on a kernel thread that Weft did not start.
[[nodiscard]] inline thread::id get_id() noexcept {
  return thread::id(sched::on_worker() ? sched::here().current : nullptr);
}

// Ends the calling thread or tasklet by unwinding its stack. Errors:
// std::system_error(operation_not_permitted) elsewhere and from the primary thread.
[[noreturn]] WEFT_API void exit();
WEFT_API void set_name(const char* name);
[[nodiscard]] WEFT_API const char* name() noexcept;
// Bytes left on the running thread's stack, its guard not counted. 0 where that is unknown (foreign kernel
// threads).
[[nodiscard]] WEFT_API std::size_t stack_left() noexcept;
// Moves the calling thread to `target`; returns when it runs there.
WEFT_API void migrate_to(weft::pool& target);

} // namespace this_thread

// A thread that is asked to stop and joined when it goes out of scope, as std::jthread.
class jthread {
 public:
  jthread() noexcept : stop_(std::nostopstate) {}
  template <class F, class... Arguments>
    requires(!std::is_same_v<std::remove_cvref_t<F>, jthread>)
  explicit jthread(F&& f, Arguments&&... arguments)
      : thread_(start(stop_, std::forward<F>(f), std::forward<Arguments>(arguments)...)) {}
  jthread(jthread&&) noexcept = default;
  jthread& operator=(jthread&& other) noexcept {
    if (this != &other) { // LWG 3788: to itself, no effect
      finish();
      thread_ = std::move(other.thread_);
      stop_ = std::move(other.stop_);
    }
    return *this;
  }
  ~jthread() { finish(); }

  void swap(jthread& other) noexcept {
    std::swap(stop_, other.stop_);
    thread_.swap(other.thread_);
  }
  friend void swap(jthread& a, jthread& b) noexcept { a.swap(b); }

  [[nodiscard]] bool joinable() const noexcept { return thread_.joinable(); }
  [[nodiscard]] thread::id get_id() const noexcept { return thread_.get_id(); }
  void join() { thread_.join(); }
  void detach() { thread_.detach(); }
  [[nodiscard]] std::stop_source get_stop_source() noexcept { return stop_; }
  [[nodiscard]] std::stop_token get_stop_token() const noexcept { return stop_.get_token(); }
  bool request_stop() noexcept { return stop_.request_stop(); }
  thread& native() noexcept { return thread_; }
  [[nodiscard]] static unsigned hardware_concurrency() noexcept { return thread::hardware_concurrency(); }

 private:
  template <class F, class... Arguments>
  static thread start(std::stop_source& stop, F&& f, Arguments&&... arguments) {
    if constexpr (std::is_invocable_v<std::decay_t<F>, std::stop_token, std::decay_t<Arguments>...>) {
      return thread(std::forward<F>(f), stop.get_token(), std::forward<Arguments>(arguments)...);
    } else {
      return thread(std::forward<F>(f), std::forward<Arguments>(arguments)...);
    }
  }
  void finish() noexcept {
    if (!thread_.joinable())
      return;
    stop_.request_stop();
    thread_.join();
  }

  std::stop_source stop_;
  thread thread_;
};

// A unit without a stack: cheaper than a thread, may not wait (yield, lock, join …: std::system_error).
// Joining runs it by a call if it has not started and the caller's worker may take it from a FIFO of its own.
class tasklet {
 public:
  tasklet() noexcept = default;
  // Contexts, errors: as thread.
  template <class F, class... Arguments>
    requires(!std::is_same_v<std::remove_cvref_t<F>, tasklet> &&
             !std::is_same_v<std::remove_cvref_t<F>, thread_attributes>)
  [[gnu::always_inline]] explicit tasklet(F&& f, Arguments&&... arguments) {
    auto call = detail::bind_call(std::forward<F>(f), std::forward<Arguments>(arguments)...);
    using closure = detail::closure<decltype(call)>;
    unit_ =
        &sched::create<closure::trivial>(closure::tasklet_operations, unit::kind_tasklet,
                                         [&call](unit::descriptor& u) { closure::fill(u, std::move(call)); });
  }
  template <class F, class... Arguments>
  tasklet(const thread_attributes& a, F&& f, Arguments&&... arguments) {
    auto call = detail::bind_call(std::forward<F>(f), std::forward<Arguments>(arguments)...);
    using closure = detail::closure<decltype(call)>;
    unit_ = &detail::create_with(a, closure::tasklet_operations, unit::kind_tasklet, std::move(call));
  }
  tasklet(tasklet&& other) noexcept : unit_(std::exchange(other.unit_, nullptr)) {}
  tasklet& operator=(tasklet&& other) noexcept {
    if (joinable()) [[unlikely]]
      detail::terminate_forgotten(*unit_);
    unit_ = std::exchange(other.unit_, nullptr);
    return *this;
  }
  ~tasklet() {
    if (joinable()) [[unlikely]]
      detail::terminate_forgotten(*unit_);
  }

  [[nodiscard]] bool joinable() const noexcept { return unit_ != nullptr; }
  [[gnu::always_inline]] void join() {
    if (unit_ == nullptr) [[unlikely]]
      detail::throw_not_joinable();
    sched::join_tasklet(*unit_); // may refuse: the handle keeps the tasklet then
    unit_ = nullptr;
  }
  void detach() {
    if (unit_ == nullptr)
      detail::throw_not_joinable();
    detail::detach(*std::exchange(unit_, nullptr));
  }
  // It never runs if it has not started.
  void cancel() {
    if (unit_ == nullptr)
      detail::throw_not_joinable();
    sched::request_cancel(*unit_);
  }
  [[nodiscard]] unit::descriptor* native_handle() const noexcept { return unit_; }

 private:
  unit::descriptor* unit_ = nullptr;
};

} // namespace weft

template <>
struct std::hash<weft::thread::id> {
  std::size_t operator()(weft::thread::id id) const noexcept {
    return std::hash<const void*>()(id.address());
  }
};
