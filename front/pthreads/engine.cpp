// SPDX-License-Identifier: MIT
#include "front/pthreads/engine.hpp"

#include "front/pthreads/libc.hpp"
#include "front/pthreads/requests.hpp"
#include "front/pthreads/thread_ids.hpp"
#include "weft/door/process.hpp"
#include "weft/door/signal_mask.hpp"
#include "weft/preemption.hpp"
#include "weft/runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace weft::pthreads {
namespace {

constinit futex_word threads_alive{0};
constinit std::uint32_t forks_before = 0; // written in the child, while it has one kernel thread
bool is_off = false;                      // written when the library is loaded
pid_t own_process = 0;                    // as `forks_before`, and then

unsigned wanted_workers() {
  constexpr long most = 65536;
  if (const char* asked = std::getenv("WEFT_WORKERS")) {
    const long number = std::strtol(asked, nullptr, 10);
    if (number > 0 && number <= most)
      return static_cast<unsigned>(number);
  }
  return std::max(1U, door::worker_count_by_default());
}

void after_fork_in_child() {
  ++forks_before;
  own_process = ::getpid();
  threads_alive.store_relaxed(self != nullptr ? 1 : 0); // relaxed: one kernel thread
  forget_ids_of_others();
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
    ::pthread_setspecific(end_of_main, reinterpret_cast<void*>(now + 1));
    return;
  }
  for (std::uint32_t left = threads_alive.load_acquire(); left != 0; left = threads_alive.load_acquire())
    door::futex_wait(threads_alive, left); // pairs with the release at a thread's end
  std::exit(0);
}

[[gnu::constructor]] void begin() noexcept {
  const char* const asked = std::getenv("WEFT_PTHREADS");
  is_off = asked != nullptr && std::strcmp(asked, "off") == 0;
  own_process = ::getpid();
  if (::pthread_key_create(&end_of_main, &outlive_main) == 0)
    ::pthread_setspecific(end_of_main, reinterpret_cast<void*>(1));
}

} // namespace

engine::engine() : workers_(wanted_workers()) {
  door::prepare_process();
  expect_interruptions();
  ::pthread_atfork(nullptr, nullptr, &after_fork_in_child);
}

engine& engine::of_process() {
  return door::immortal<engine>();
}

weft::pool& engine::pool() {
  const std::scoped_lock held(lock_);
  static_cast<void>(door::prepare_futex_wakes_in_handlers()); // without it the next wake pays
  if (group_ == nullptr && runtime::running())
    return runtime::default_group().next_pool();
  if (group_ == nullptr) {
    const door::ticks_open scope;
    group_ = door::start_shared_workers(workers_);
  }
  return group_->next_pool();
}

void engine::forget() noexcept {
  ::new (static_cast<void*>(&lock_)) std::mutex;
  static_cast<void>(group_.release());
}

bool takes_threads_over() noexcept {
  return !is_off && is_known_libc() && can_preempt(preemption::bound_tls);
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
