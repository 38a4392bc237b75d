// SPDX-License-Identifier: MIT
// The guard of a static variable with an initialiser, in place of the C++ run time's: a thread of Weft that
// comes while another one's initialiser runs waits as a thread, and its worker goes on. An initialiser that
// waits in Weft itself, for a connection perhaps, may need that very worker.
//
// The word is the C++ run time's, bit for bit (libstdc++'s guard.cc), so that either may release what the
// other has acquired: bit 0 the variable is there, bit 8 its initialiser runs, bit 16 somebody waits for it.
// Who waits in the kernel does so by the same futex. Weft's own statics have none (base/once.hpp).
#include "weft/sync/static_guard.hpp"
#include "weft/carrier/runtime_section.hpp"

#include <climits>
#include <cstdint>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include <linux/futex.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "weft/base/atomic.hpp"
#include "weft/base/refuse.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/sync/brief_waiter.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sync {
namespace {

using guard_word = base::atomic<std::uint32_t>;
enum : std::uint32_t { untouched = 0, made = 1, being_made = 1 << 8, waited_for = 1 << 16 };

// One wait, in the frame of the thread that waits.
struct waiting_thread {
  const guard_word* guard;
  brief_waiter wait{};
  waiting_thread* next = nullptr;
};

// Ownership: `first` and what hangs on it, whoever holds the lock, in the runtime: a preempted owner would
// keep all others spinning.
struct alignas(64) bucket {
  base::spin_lock lock;
  waiting_thread* first = nullptr;
};
constexpr std::size_t bucket_count = 16; // initialisers that wait are rare
constinit bucket buckets[bucket_count];

bucket& bucket_of(const guard_word& guard) noexcept {
  return buckets[(reinterpret_cast<std::uintptr_t>(&guard) / alignof(std::uint64_t)) % bucket_count];
}

bool is_a_thread() noexcept {
  return (sched::here().attention.load_relaxed() & sched::not_a_worker) == 0 &&
         sched::here().current->kind() == unit::kind_thread;
}

// True: `me` is in the list. False: the word is not `seen` any more.
bool enlist(waiting_thread& me, std::uint32_t seen) noexcept {
  const sched::runtime_section in;
  bucket& b = bucket_of(*me.guard);
  const std::scoped_lock held(b.lock);
  if (me.guard->load_acquire() != seen) // acquire: pairs with the exchange in end()
    return false;
  me.next = std::exchange(b.first, &me);
  return true;
}

waiting_thread* take_all(const guard_word& guard) noexcept {
  const sched::runtime_section in;
  bucket& b = bucket_of(guard);
  const std::scoped_lock held(b.lock);
  waiting_thread* taken = nullptr;
  for (waiting_thread** at = &b.first; *at != nullptr;) {
    waiting_thread* const w = *at;
    if (w->guard == &guard) {
      *at = w->next;
      w->next = std::exchange(taken, w);
    } else {
      at = &w->next;
    }
  }
  return taken;
}

// The kernel's word is shared between processes, as libstdc++'s is.
void wait_in_kernel(const guard_word& guard, std::uint32_t seen) noexcept {
  static_cast<void>(::syscall(SYS_futex, &guard, FUTEX_WAIT, seen, nullptr, nullptr, 0));
}

void wait(guard_word& guard, std::uint32_t seen) {
  if (!is_a_thread())
    return wait_in_kernel(guard, seen);
  waiting_thread me{&guard};
  if (enlist(me, seen))
    me.wait.wait({unit::wait_kind::unknown, 0, &guard}); // SWITCH: may resume on another worker
}

void end(guard_word& guard, std::uint32_t as) noexcept {
  // acq_rel: publishes the variable; pairs with the acquire loads of who comes later
  if ((guard.exchange_acq_rel(as) & waited_for) == 0)
    return;
  static_cast<void>(::syscall(SYS_futex, &guard, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0));
  for (waiting_thread* w = take_all(guard); w != nullptr;) {
    waiting_thread* const next = w->next;
    w->wait.notify(); // GONE: *w
    w = next;
  }
}

// With one kernel thread and no thread of Weft's nobody else can be at it.
[[noreturn]] void refuse_recursion() {
  base::refuse(std::errc::resource_deadlock_would_occur,
               "weft: the initialiser of a static variable uses that variable");
}

// True: the caller makes the variable.
bool begin(guard_word& guard) {
  for (;;) {
    std::uint32_t seen = untouched;
    if (guard.cas_strong_acq_rel(seen, being_made))
      return true;
    if (seen == made)
      return false;
    if (__libc_single_threaded != 0 && !is_a_thread())
      refuse_recursion();
    if (seen == being_made && !guard.cas_strong_acq_rel(seen, being_made | waited_for))
      continue;
    wait(guard, being_made | waited_for);
  }
}

guard_word& word_of(void* guard) noexcept {
  return *static_cast<guard_word*>(guard);
}

} // namespace

bool acquire_guard(void* guard) {
  guard_word& word = word_of(guard);
  return (word.load_acquire() & made) == 0 && begin(word); // acquire: pairs with the exchange in end()
}

void release_guard(void* guard) noexcept {
  end(word_of(guard), made);
}

void abort_guard(void* guard) noexcept {
  end(word_of(guard), untouched);
}

void forget_guard_waits_after_fork() noexcept {
  for (bucket& b : buckets)
    ::new (static_cast<void*>(&b)) bucket;
}

} // namespace weft::sync
