// SPDX-License-Identifier: MIT
#include "front/openmp/engine.hpp"

#include "front/openmp/crew.hpp"
#include "front/openmp/environment.hpp"
#include "front/openmp/proxy.hpp"
#include "weft/door/process.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

namespace weft::openmp {
namespace {

constexpr std::size_t default_stack = std::size_t{8} << 20;
constexpr std::size_t least_stack = std::size_t{64} << 10;
constexpr std::size_t largest_stack = std::size_t{1} << 30;

void after_fork_in_child() {
  engine::of_process().forget();
  forget_proxies();
  if (self != nullptr)
    forget_others(*self);
}

} // namespace

engine::engine() : processors(std::max(1U, door::worker_count_by_default())) {
  door::prepare_process();
  ::pthread_atfork(nullptr, nullptr, &after_fork_in_child);
}

engine& engine::of_process() noexcept {
  return door::immortal<engine>();
}

weft::pool& engine::pinned_pool(unsigned number) {
  const std::scoped_lock held(lock_);
  if (pinned_ == nullptr)
    pinned_ = door::start_private_workers(std::max(1U, processors - 1));
  return door::pool_of(*pinned_, number);
}

// Its kernel threads end, and with them what they had in their variables.
void engine::stop_pinned() noexcept {
  const std::scoped_lock held(lock_);
  pinned_.reset();
}

weft::pool& engine::shared_pool() {
  const std::scoped_lock held(lock_);
  if (runtime::running())
    return runtime::default_group().next_pool();
  if (shared_ == nullptr)
    shared_ = door::start_shared_workers(processors);
  return shared_->next_pool();
}

void engine::forget() noexcept {
  ::new (static_cast<void*>(&lock_)) std::mutex;
  static_cast<void>(pinned_.release());
  static_cast<void>(shared_.release());
  running.store_relaxed(0); // relaxed, both: one kernel thread
  pinned_owner.store_relaxed(nullptr);
}

std::size_t stack_bytes() noexcept {
  std::size_t bytes = process().stack_size;
  if (bytes == 0) {
    rlimit limit{};
    const bool known = ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    bytes = known && limit.rlim_cur != 0 ? limit.rlim_cur : default_stack;
  }
  return std::clamp(bytes, least_stack, largest_stack);
}

unsigned processors() noexcept {
  return engine::of_process().processors;
}

door::atomic<unsigned>& threads_running() noexcept {
  return engine::of_process().running;
}

bool claim_pinned(thread& t) noexcept {
  if (t.has_pinned)
    return true;
  thread* nobody = nullptr;
  t.has_pinned = engine::of_process().pinned_owner.cas_strong_acq_rel(nobody, &t);
  return t.has_pinned;
}

void release_pinned(thread& t) noexcept {
  if (!t.has_pinned)
    return;
  t.has_pinned = false;
  engine::of_process().stop_pinned();
  engine::of_process().pinned_owner.store_release(nullptr); // pairs with the acquire in claim_pinned()
}

void let_others_run() noexcept {
  weft::this_thread::yield();
}

} // namespace weft::openmp
