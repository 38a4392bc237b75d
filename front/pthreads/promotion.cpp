// SPDX-License-Identifier: MIT
#include "front/pthreads/promotion.hpp"

#include "front/pthreads/engine.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/process_signals.hpp"
#include "front/pthreads/requests.hpp"
#include "weft/door/own_thread.hpp"
#include "weft/door/section.hpp"
#include "weft/door/signal_mask.hpp"

#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace weft::pthreads {
namespace {

// One promotion at a time. A lock of libc's: who waits for it lets its worker go.
constinit std::mutex promoting;

// *Ownership*: changed under `lock`, whose holder is in the runtime.
struct {
  door::spin_lock lock;
  door::atomic<own_kernel_thread*> first{nullptr};
} constinit unused;

// Most programs have none, and each join looks. RACY: who misses one leaves it to the next.
own_kernel_thread* take_unused() noexcept {
  if (unused.first.load_relaxed() == nullptr) [[likely]]
    return nullptr;
  const door::runtime_section in;
  const std::scoped_lock held(unused.lock);
  return unused.first.exchange_relaxed(nullptr); // relaxed: under the lock, here and below
}

// A worker's kernel thread begins with the mask of its creator, as others of the runtime's do.
std::unique_ptr<weft::worker_group> start_worker() {
  std::optional<door::ticks_open> ticks;
  std::optional<handed_signals_blocked> blocked;
  if (self == nullptr) {
    ticks.emplace();
    blocked.emplace();
  }
  return door::start_private_workers(1);
}

// `t` has none. In one piece with what is changed there, so that a failure leaves it as it was.
int promote(thread& t, kernel_thread_change change, const void* argument) {
  door::prepare_to_settle(*t.unit);
  auto made = std::make_unique<own_kernel_thread>();
  if (const int error = change(made->id(), argument))
    return error;
  t.kernel_thread.store_release(made.release()); // pairs with the acquire in go_to_kernel_thread()
  return 0;
}

} // namespace

own_kernel_thread::own_kernel_thread() : worker_(start_worker()) {
  const auto learn = [](void* id) { *static_cast<pid_t*>(id) = libc.gettid(); };
  door::join_own_thread(door::start_own_thread(pool(), {}, learn, &id_)); // SWITCH: may
}

int change_kernel_thread(thread& t, kernel_thread_change change, const void* argument) noexcept {
  const errno_kept as_it_was;
  end_unused_kernel_threads();
  if (t.done.load_acquire() != 0) // pairs with (T1)
    return ESRCH;
  try {
    const std::scoped_lock one(promoting);
    if (const own_kernel_thread* const there = t.kernel_thread.load_acquire()) // pairs with the release above
      return change(there->id(), argument);
    if (const int error = promote(t, change, argument)) // SWITCH: may
      return error;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::system_error&) {
    return EAGAIN;
  }
  if (&t == self)
    go_to_kernel_thread(t);
  else
    rouse_for_requests(t);
  return 0;
}

int get_kernel_thread(thread& t) noexcept {
  return change_kernel_thread(t, [](pid_t, const void*) { return 0; }, nullptr);
}

pid_t kernel_thread_of(const thread& t) noexcept {
  const own_kernel_thread* const there =
      t.kernel_thread.load_acquire(); // pairs with the release in promote()
  return there != nullptr ? there->id() : 0;
}

void go_to_kernel_thread(thread& t) noexcept {
  const own_kernel_thread* const to = t.kernel_thread.load_acquire(); // pairs with the release in promote()
  if (to != nullptr && !t.is_on_kernel_thread && !is_child_of_vfork())
    t.is_on_kernel_thread = door::settle_in(to->pool()); // SWITCH: resumes there
}

void give_kernel_thread_back(thread& t) noexcept {
  own_kernel_thread* const was = t.kernel_thread.load_acquire(); // as above
  if (was == nullptr)
    return;
  t.kernel_thread.store_relaxed(nullptr); // relaxed: nobody has the thread any more
  const std::scoped_lock held(unused.lock);
  was->next = unused.first.load_relaxed();
  unused.first.store_relaxed(was);
}

void end_unused_kernel_threads() noexcept {
  for (own_kernel_thread* each = take_unused(); each != nullptr;)
    delete std::exchange(each, each->next);
}

void forget_unused_kernel_threads() noexcept {
  ::new (static_cast<void*>(&promoting)) std::mutex;
  ::new (static_cast<void*>(&unused.lock)) door::spin_lock;
  unused.first.store_relaxed(nullptr);
}

} // namespace weft::pthreads
