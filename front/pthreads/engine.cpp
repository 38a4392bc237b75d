// SPDX-License-Identifier: MIT
#include "front/pthreads/engine.hpp"

#include "front/pthreads/kernel_attributes.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/native_threads.hpp"
#include "front/pthreads/promotion.hpp"
#include "front/pthreads/requests.hpp"
#include "front/pthreads/thread_ids.hpp"
#include "weft/door/process.hpp"
#include "weft/door/signal_mask.hpp"
#include "weft/preemption.hpp"
#include "weft/runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace weft::pthreads {
namespace {

constinit futex_word threads_alive{0};
constinit std::uint32_t forks_before = 0; // written in the child, while it has one kernel thread
pid_t own_process = 0;                    // as `forks_before`, and then
pthread_t handle_of_main{};               // of a kernel thread; as `forks_before`
bool has_end_of_main = false;             // a key; of main's kernel thread alone
constinit futex_word main_ended{0};
void* main_result = PTHREAD_CANCELED; // before `main_ended` is set

unsigned wanted_workers() {
  constexpr long most = 65536;
  if (const char* asked = std::getenv("WEFT_WORKERS")) {
    const long number = std::strtol(asked, nullptr, 10);
    if (number > 0 && number <= most)
      return static_cast<unsigned>(number);
  }
  return std::max(1U, door::worker_count_by_default());
}

// Also of a process that has had no thread yet: a server that goes into the background, for one.
void note_child() noexcept {
  own_process = ::getpid();
  handle_of_main = self != nullptr ? pthread_t{} : libc.pthread_self(); // who has forked is the child's main
}

void after_fork_in_child() {
  ++forks_before;
  has_end_of_main = has_end_of_main && self == nullptr;
  main_ended.store_relaxed(0);
  threads_alive.store_relaxed(self != nullptr ? 1 : 0); // relaxed: one kernel thread
  forget_ids_of_others();
  forget_handing_over();
  forget_unused_kernel_threads();
  forget_native_threads();
  keep_attributes_after_fork();
  engine::of_process().forget();
}

// main() has ended by pthread_exit(), or was cancelled: its kernel thread stays until no thread is left, and
// then ends the process, as the last thread does. In the last round of destructors, so that the program's own
// have run.
pthread_key_t end_of_main;
constexpr std::uintptr_t last_round = 3; // of PTHREAD_DESTRUCTOR_ITERATIONS

void outlive_main(void* round) {
  const auto now = reinterpret_cast<std::uintptr_t>(round);
  if (now < last_round) {
    libc.pthread_setspecific(end_of_main, reinterpret_cast<void*>(now + 1));
    return;
  }
  main_ended.store_release(1); // pairs with the acquire of who joins it
  door::futex_wake(&main_ended, door::all_futex_waiters);
  {
    const handed_signals_blocked for_threads; // main is not there any more to handle them
    for (std::uint32_t left = threads_alive.load_acquire(); left != 0; left = threads_alive.load_acquire())
      door::futex_wait(threads_alive, left); // pairs with the release at a thread's end
  }
  std::exit(0);
}

[[gnu::constructor]] void begin() noexcept {
  note_child();
  libc.__register_atfork(nullptr, nullptr, &note_child, nullptr);
}

// As late as may be: a program may count its keys.
void prepare_end_of_main() noexcept {
  if (has_end_of_main || !is_main_here() || libc.pthread_key_create(&end_of_main, &outlive_main) != 0)
    return;
  has_end_of_main = true;
  libc.pthread_setspecific(end_of_main, reinterpret_cast<void*>(1));
}

} // namespace

engine::engine() : workers_(wanted_workers()) {
  door::prepare_process();
  settle_handed_signals();
  expect_interruptions();
  libc.__register_atfork(nullptr, nullptr, &after_fork_in_child, nullptr);
}

engine& engine::of_process() {
  return door::immortal<engine>();
}

weft::pool& engine::pool() {
  prepare_end_of_main();
  if (weft::worker_group* const ready = ready_.load_acquire()) // pairs with the release below
    return ready->next_pool();
  const std::scoped_lock held(lock_);
  static_cast<void>(door::prepare_futex_wakes_in_handlers()); // without it the next wake pays
  if (group_ == nullptr && runtime::running())
    return runtime::default_group().next_pool();
  if (group_ == nullptr) {
    const door::ticks_open scope;
    // A worker alone with its deque is let alone where a thread keeps it in the kernel and none is ready:
    // those that wait for events would wait for it.
    group_ = workers_ > 1 ? door::start_stealing_workers(workers_) : door::start_shared_workers(workers_);
    hand_signals_over();
    ready_.store_release(group_.get());
  }
  return group_->next_pool();
}

void engine::forget() noexcept {
  ::new (static_cast<void*>(&lock_)) std::mutex;
  has_kernel_threads_.store_relaxed(false);
  ready_.store_relaxed(nullptr);
  static_cast<void>(group_.release());
}

// A thread of ours that is the first in the child of a fork() stays where it is meanwhile: its workers are
// old ones that nobody else is on.
engine::kernel_threads_made::kernel_threads_made(engine& e) : engine_(e) {
  if (!e.has_kernel_threads_.load_acquire() && !runtime::running()) // pairs with the release below
    blocked_.emplace();
}

engine::kernel_threads_made::~kernel_threads_made() {
  if (blocked_)
    engine_.has_kernel_threads_.store_release(true);
}

bool is_main_here() noexcept {
  return self == nullptr && libc.pthread_self() == handle_of_main;
}

bool is_main(pthread_t handle) noexcept {
  return handle == handle_of_main && handle_of_main != 0;
}

void note_end_of_main(void* result) noexcept {
  prepare_end_of_main();
  main_result = result;
}

futex_word& main_has_ended() noexcept {
  return main_ended;
}

void* result_of_main() noexcept {
  return main_result;
}

bool give_up_key() noexcept {
  if (!has_end_of_main || !is_main_here())
    return false;
  has_end_of_main = false;
  return libc.pthread_key_delete(end_of_main) == 0;
}

futex_word& alive() noexcept {
  return threads_alive;
}

bool is_child_of_vfork() noexcept {
  return own_process != 0 && own_process != ::getpid();
}

std::uint32_t forks() noexcept {
  return forks_before;
}

} // namespace weft::pthreads

using namespace weft::pthreads;

// libc's; but where the program wants all keys that there are, it gets that of this library's too.
extern "C" WEFT_API int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  const int error = libc.pthread_key_create(key, destructor);
  return error == EAGAIN && give_up_key() ? libc.pthread_key_create(key, destructor) : error;
}
