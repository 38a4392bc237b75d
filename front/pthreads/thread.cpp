// SPDX-License-Identifier: MIT
// pthread_create() to pthread_join().
#include "front/pthreads/thread.hpp"
#include "front/pthreads/exported.hpp"

#include "front/pthreads/descriptor_wait.hpp"
#include "front/pthreads/engine.hpp"
#include "front/pthreads/kernel_attributes.hpp"
#include "front/pthreads/kernel_mutex.hpp"
#include "front/pthreads/leaving_library.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/libc_cancellation.hpp"
#include "front/pthreads/native_threads.hpp"
#include "front/pthreads/process_signals.hpp"
#include "front/pthreads/processes.hpp"
#include "front/pthreads/promotion.hpp"
#include "front/pthreads/requests.hpp"
#include "front/pthreads/signal_queue.hpp"
#include "front/pthreads/takeover.hpp"
#include "front/pthreads/thread_ids.hpp"
#include "weft/door/own_thread.hpp"
#include "weft/door/preemptible.hpp"
#include "weft/door/process.hpp"
#include "weft/door/section.hpp"
#include "weft/preemption.hpp"

#include <algorithm>
#include <system_error>

namespace weft::pthreads {

__thread thread* self __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

__thread std::uint32_t number_of_self __attribute__((tls_model("initial-exec"))) = 0;

std::uint16_t next_generation() noexcept {
  static constinit door::atomic<std::uint32_t> last{0};
  return static_cast<std::uint16_t>(last.fetch_add_relaxed(1) & 0x7fff); // relaxed: a number
}

// --- the thread ---

[[WEFT_PTHREADS_CALLS_OTHERS]] void run_function(void* as_thread) {
  thread& t = *static_cast<thread*>(as_thread);
  // relaxed: who was interrupted before there was a `self` has seen it
  if (t.signals_sent.load_relaxed() != 0)
    handle_sent_signals(t);
  t.result = t.function(t.argument);
  handle_sent_signals(t); // what has come is not lost
}

// Returns also when pthread_exit() has unwound the function.
void run_to_its_end(thread& t) {
  if (!call_to_its_end(&run_function, &t) && !t.exits)
    t.result = PTHREAD_CANCELED; // by libc
}

// Each way into the runtime and back costs more than what is done there, so it is one for all.
void begin_life(thread& t) {
  self = &t;
  futex_word* const word = libcs_word_here();
  const door::runtime_section in;
  list(t);
  begin_on_libcs_block(t, word);
}

void end_life(thread& t) {
  if (futex_word* const word = t.clears_at_end) {
    end_on_libcs_block(t);
    word->store_release(0); // for who waits by futex(2), here or in the kernel
    door::futex_wake_anywhere(word, 1);
  }
  pass_on_what_woke(t); // a cancellation leaves frames as they are
  take_own_id_back(t);
  bool has_signals = false;
  {
    const door::runtime_section in;
    end_on_libcs_block(t);
    t.exits = true; // destructors are not cancelled
    unlist(t);
    has_signals = !stop_taking_signals(t);
  }
  if (has_signals)
    give_signals_back(t);
}

void live(void* as_thread) {
  thread& t = *static_cast<thread*>(as_thread);
  begin_life(t);
  run_to_its_end(t);
  return_mask(t);
  end_life(t);
  t.done.store_release(1); // (T1)
  door::futex_wake(&t.done, door::all_futex_waiters);
  if (alive().fetch_sub_release(1) == 1) // pairs with the acquire in outlive_main()
    door::futex_wake(&alive(), door::all_futex_waiters);
}

// In the runtime.
void free_thread(thread& t) noexcept {
  forget_id(t);
  drop_queue(t);
  give_kernel_thread_back(t);
  door::destroy(&t);
}

void discard(void* as_thread) {
  free_thread(*static_cast<thread*>(as_thread));
}

// --- attributes ---

struct wishes {
  std::size_t stack_bytes = 0, guard_bytes = 0;
  bool detached = false;
  bool has_mask = false;
  sigset_t mask{};
  bool needs_kernel_thread = false; // a stack of the user's, CPUs, real time
};

bool has_own_cpus(const pthread_attr_t& a) noexcept {
  cpu_set_t asked;
  return ::pthread_attr_getaffinity_np(&a, sizeof asked, &asked) == 0 && !are_all_of_process(asked);
}

bool is_real_time(int policy) noexcept {
  return policy == SCHED_FIFO || policy == SCHED_RR;
}

wishes wishes_of(const pthread_attr_t& a) noexcept {
  wishes w;
  int state = PTHREAD_CREATE_JOINABLE, inherits = PTHREAD_INHERIT_SCHED, policy = SCHED_OTHER;
  sched_param priority{};
  void* stack = nullptr;
  std::size_t bytes = 0;
  libc.pthread_attr_getdetachstate(&a, &state);
  libc.pthread_attr_getstacksize(&a, &w.stack_bytes);
  libc.pthread_attr_getguardsize(&a, &w.guard_bytes);
  ::pthread_attr_getinheritsched(&a, &inherits);
  libc.pthread_attr_getschedpolicy(&a, &policy);
  libc.pthread_attr_getschedparam(&a, &priority);
  w.detached = state == PTHREAD_CREATE_DETACHED;
  w.has_mask = ::pthread_attr_getsigmask_np(&a, &w.mask) == 0; // else PTHREAD_ATTR_NO_SIGMASK_NP
  // The lowest address of a stack that nobody has set is that many bytes below 0.
  const bool supplied = libc.pthread_attr_getstack(&a, &stack, &bytes) == 0 && stack != nullptr &&
                        reinterpret_cast<std::uintptr_t>(stack) < std::uintptr_t{1} << 47;
  // Of a priority that its policy does not have libc says what is wrong.
  w.needs_kernel_thread =
      supplied || has_own_cpus(a) ||
      (inherits == PTHREAD_EXPLICIT_SCHED && (policy != SCHED_OTHER || priority.sched_priority != 0));
  return w;
}

// Who has a kernel thread for itself may have a policy of real time, or certain CPUs, to pass on; `cpus` are
// written for such a creator.
void inherit_from_kernel_thread(wishes& w, int inherits, cpu_set_t& cpus) noexcept {
  if (self != nullptr && !self->is_on_kernel_thread)
    return;
  if (libc.sched_getaffinity(0, sizeof cpus, &cpus) != 0)
    CPU_ZERO(&cpus);
  else if (!are_all_of_process(cpus))
    w.needs_kernel_thread = true;
  if (inherits == PTHREAD_INHERIT_SCHED && is_real_time(libc.sched_getscheduler(0)))
    w.needs_kernel_thread = true;
}

// Of whom nothing is said: asked for once, and again when the program has changed it. *Ordering*: the three
// are written before `is_known` (release), and read after it (acquire).
struct usual_wishes {
  door::atomic<bool> is_known{false};
  door::atomic<std::size_t> stack_bytes{0}, guard_bytes{0};
  door::atomic<bool> detached{false}, needs_kernel_thread{false};
};
constinit usual_wishes usual;

wishes learn_usual() noexcept {
  pthread_attr_t a;
  if (::pthread_getattr_default_np(&a) != 0)
    return {};
  const wishes w = wishes_of(a);
  libc.pthread_attr_destroy(&a);
  if (w.has_mask) // too seldom to be kept
    return w;
  usual.stack_bytes.store_relaxed(w.stack_bytes);
  usual.guard_bytes.store_relaxed(w.guard_bytes);
  usual.detached.store_relaxed(w.detached);
  usual.needs_kernel_thread.store_relaxed(w.needs_kernel_thread);
  usual.is_known.store_release(true);
  return w;
}

wishes usual_now() noexcept {
  if (!usual.is_known.load_acquire())
    return learn_usual();
  wishes w;
  w.stack_bytes = usual.stack_bytes.load_relaxed();
  w.guard_bytes = usual.guard_bytes.load_relaxed();
  w.detached = usual.detached.load_relaxed();
  w.needs_kernel_thread = usual.needs_kernel_thread.load_relaxed();
  return w;
}

wishes wishes_of(const pthread_attr_t* a, cpu_set_t& cpus) noexcept {
  int inherits = PTHREAD_INHERIT_SCHED;
  wishes w = a != nullptr ? wishes_of(*a) : usual_now();
  if (a != nullptr)
    ::pthread_attr_getinheritsched(a, &inherits);
  inherit_from_kernel_thread(w, inherits, cpus);
  return w;
}

std::uint64_t blocked_here() noexcept {
  sigset_t mask;
  if (self != nullptr)
    return self->blocked_signals.load_relaxed(); // relaxed: its own
  return libc.pthread_sigmask(SIG_SETMASK, nullptr, &mask) == 0 ? mask.__val[0] : 0;
}

// In the runtime.
thread& make_thread(const wishes& w, void* (*function)(void*), void* argument) {
  thread& t = *door::make<thread>(next_generation());
  t.function = function;
  t.argument = argument;
  t.stack_bytes = w.stack_bytes;
  t.guard_bytes = w.guard_bytes;
  t.held.store_relaxed(w.detached ? thread::detached : thread::joinable); // relaxed: nobody knows it yet
  return t;
}

void start(thread& t, weft::pool& own_pool, unsigned workers) {
  const bool detached = t.held.load_relaxed() == thread::detached; // before others have the handle
  door::descriptor& u = door::start_own_thread(own_pool,
                                               {.stack_size = t.stack_bytes,
                                                .preemption = preemption::bound_tls,
                                                .workers = workers,
                                                .discard = &discard,
                                                .made = &t.unit},
                                               &live, &t); // SWITCH: may resume on another worker
  if (detached)
    door::detach_own_thread(u); // GONE: t, if it has ended
}

// The handle stands where the program wants it before the thread runs.
// `cpus`: a kernel thread's that creates it.
int create(pthread_t* handle, const wishes& w, const cpu_set_t& cpus, void* (*function)(void*),
           void* argument) {
  const errno_kept as_it_was;
  const thread* const creator = self;
  thread* t = nullptr;
  try {
    engine& e = engine::of_process();
    const std::uint64_t blocked = w.has_mask ? w.mask.__val[0] : blocked_here(); // before it is changed
    const engine::kernel_threads_made made_here(e);                              // of the first thread's
    weft::pool& any_pool = e.pool();
    const door::runtime_section in; // one for all
    weft::pool& own_pool = creator != nullptr ? door::pool_here(any_pool) : any_pool;
    t = &make_thread(w, function, argument);
    t->blocked_signals.store_relaxed(blocked); // relaxed: nobody knows it yet
    t->cpus = creator != nullptr ? creator->cpus : cpus;
    *handle = t->handle();
    alive().fetch_add_relaxed(1);     // relaxed: the creator lives meanwhile
    start(*t, own_pool, e.workers()); // SWITCH: may resume on another worker
  } catch (...) {
    if (t != nullptr) {
      alive().fetch_sub_relaxed(1);
      const door::runtime_section in;
      free_thread(*t);
    }
    return EAGAIN;
  }
  return 0;
}

// --- joining ---

// 0, and the caller alone may join; else why not.
int claim(thread& t) noexcept {
  std::uint32_t seen = thread::joinable;
  return t.held.cas_strong_acq_rel(seen, thread::being_joined) ? 0 : EINVAL;
}

void give_back_claim(thread& t) noexcept {
  t.held.store_release(thread::joinable); // pairs with the compare-and-swap of the next one
}

bool joins_caller(const thread& t) noexcept {
  return self != nullptr && t.joins.load_acquire() == self;
}

// Where `until` is null there is no limit. Destructors still run when `done` is set.
int join_until(thread& t, void** result, clockid_t clock, const std::timespec* until) {
  if (&t == self || joins_caller(t))
    return EDEADLK;
  if (const int why_not = claim(t))
    return why_not;
  if (self != nullptr)
    self->joins.store_release(&t);
  int error = 0;
  while (t.done.load_acquire() == 0 && error != ETIMEDOUT && error != EINVAL) { // pairs with (T1)
    error = wait_unless_asked(t.done, 0, {.until = until, .clock = clock, .kind = door::wait_kind::join});
    if (error == ECANCELED || error == EINTR) {
      give_back_claim(t);
      act_on_requests(); // may not return
      if (const int why_not = claim(t))
        return why_not;
    }
  }
  if (self != nullptr)
    self->joins.store_relaxed(nullptr); // relaxed: a hint against mistakes
  if (t.done.load_acquire() == 0) {
    give_back_claim(t);
    return error;
  }
  void* found = nullptr;
  {
    const door::runtime_section in;
    door::join_own_thread(*t.unit); // SWITCH: may resume on another worker
    found = t.result;
    free_thread(t);
  }
  end_unused_kernel_threads();
  if (result != nullptr)
    *result = found;
  return 0;
}

// main's kernel thread outlives it, so libc's would wait for ever.
int join_main(void** result, clockid_t clock, const std::timespec* until) {
  if (is_main_here())
    return EDEADLK;
  for (;;) {
    if (main_has_ended().load_acquire() != 0) { // pairs with the release at its end
      if (result != nullptr)
        *result = result_of_main();
      return 0;
    }
    const int error = wait_unless_asked(main_has_ended(), 0,
                                        {.until = until, .clock = clock, .kind = door::wait_kind::join});
    act_on_requests();
    if (error == ETIMEDOUT || error == EINVAL)
      return error;
  }
}

} // namespace

std::uint32_t own_number() noexcept {
  static constinit door::atomic<std::uint32_t> last{0};
  if (number_of_self == 0) [[unlikely]]
    number_of_self = last.fetch_add_relaxed(1) + 1; // relaxed: a number
  return number_of_self;
}

int exported::create(pthread_t* handle, const pthread_attr_t* attributes, void* (*function)(void*),
                     void* argument, const void* code) noexcept {
  if (!takes_threads_over())
    return libc.pthread_create(handle, attributes, function, argument);
  const auto create_kernel_thread = [=] { return create_native(handle, attributes, function, argument); };
  if (is_native(code, argument))
    return with_own_mask(create_kernel_thread);
  cpu_set_t cpus;
  const wishes w = wishes_of(attributes, cpus);
  if (w.needs_kernel_thread)
    return with_own_mask(create_kernel_thread);
  const int error = create(handle, w, cpus, function, argument);
  return error == EAGAIN && door::variables_need_kernel_threads() ? with_own_mask(create_kernel_thread)
                                                                  : error;
}

int exported::join(pthread_t handle, void** result) {
  if (is_main(handle) && takes_threads_over())
    return join_main(result, CLOCK_MONOTONIC, nullptr);
  if (!thread::is_ours(handle))
    return libc.pthread_join(handle, result);
  act_on_requests();
  thread* const t = thread::of(handle);
  return t == nullptr ? ESRCH : join_until(*t, result, CLOCK_MONOTONIC, nullptr);
}

int exported::detach(pthread_t handle) noexcept {
  if (!thread::is_ours(handle))
    return libc.pthread_detach(handle);
  thread* const t = thread::of(handle);
  if (t == nullptr)
    return ESRCH;
  std::uint32_t seen = thread::joinable;
  if (!t->held.cas_strong_acq_rel(seen, thread::detached))
    return EINVAL;
  weft::door::detach_own_thread(*t->unit); // GONE: *t, if it has ended
  return 0;
}

pthread_t exported::current() noexcept {
  return self != nullptr ? self->handle() : libc.pthread_self();
}

void exported::exit(void* result) {
  end_calling_thread(result);
}

} // namespace weft::pthreads

using namespace weft::pthreads;

extern "C" {

WEFT_API int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*function)(void*),
                            void* argument) noexcept {
  return exported::create(handle, attributes, function, argument, reinterpret_cast<const void*>(function));
}

WEFT_API int pthread_setattr_default_np(const pthread_attr_t* a) noexcept {
  const int error = libc.pthread_setattr_default_np(a);
  usual.is_known.store_release(false);
  return error;
}

WEFT_API pthread_t pthread_self() noexcept {
  return exported::current();
}

// The header has an inline function of that name, which clang does not let be defined again.
WEFT_API int weft_pthread_equal(pthread_t one, pthread_t other) noexcept asm("pthread_equal");
int weft_pthread_equal(pthread_t one, pthread_t other) noexcept {
  return one == other ? 1 : 0;
}

WEFT_API void pthread_exit(void* result) {
  exported::exit(result);
}

WEFT_API int pthread_detach(pthread_t handle) noexcept {
  return exported::detach(handle);
}

WEFT_API int pthread_join(pthread_t handle, void** result) {
  return exported::join(handle, result);
}

WEFT_API int pthread_tryjoin_np(pthread_t handle, void** result) noexcept {
  if (!thread::is_ours(handle))
    return libc.pthread_tryjoin_np(handle, result);
  thread* const t = thread::of(handle);
  if (t == nullptr)
    return ESRCH;
  if (t == self)
    return EDEADLK;
  if (t->held.load_acquire() != thread::joinable)
    return EINVAL;
  return t->done.load_acquire() == 0 ? EBUSY : join_until(*t, result, CLOCK_MONOTONIC, nullptr); // (T1)
}

WEFT_API int pthread_clockjoin_np(pthread_t handle, void** result, clockid_t clock, const timespec* until) {
  if (is_main(handle) && takes_threads_over())
    return join_main(result, clock, until);
  if (!thread::is_ours(handle))
    return libc.pthread_clockjoin_np(handle, result, clock, until);
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
    return EINVAL;
  act_on_requests();
  thread* const t = thread::of(handle);
  return t == nullptr ? ESRCH : join_until(*t, result, clock, until);
}

WEFT_API int pthread_timedjoin_np(pthread_t handle, void** result, const timespec* until) {
  return pthread_clockjoin_np(handle, result, CLOCK_REALTIME, until);
}

} // extern "C"
