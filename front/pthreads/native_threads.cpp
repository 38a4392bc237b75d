// SPDX-License-Identifier: MIT
#include "front/pthreads/native_threads.hpp"

#include "front/pthreads/engine.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/libc_cancellation.hpp"

#include <cerrno>
#include <mutex>
#include <new>
#include <sys/syscall.h>

namespace weft::pthreads {
namespace {

// What others find of a kernel thread. *Ownership*: in its own variables while it is in the list, under
// `lock`.
struct record {
  pthread_t handle{};
  door::atomic<const void*> waits_at{nullptr};
  record *next = nullptr, *before = nullptr;
};
__thread record here __attribute__((tls_model("initial-exec")));

constinit std::mutex lock; // libc's: who waits for it lets its worker go
constinit record* first = nullptr;

void list_here() noexcept {
  const std::scoped_lock held(lock);
  here.handle = libc.pthread_self();
  here.before = nullptr;
  here.next = first;
  if (first != nullptr)
    first->before = &here;
  first = &here;
}

void unlist_here() noexcept {
  const std::scoped_lock held(lock);
  (here.before != nullptr ? here.before->next : first) = here.next;
  if (here.next != nullptr)
    here.next->before = here.before;
  here.handle = 0;
}

bool is_listed_here() noexcept {
  if (here.handle != 0)
    return true;
  if (!is_main_here())
    return false;
  list_here(); // for good
  return true;
}

struct start {
  void* (*function)(void*);
  void* argument;
};

// pthread_exit() and cancellation unwind it too. Its destructors of keys run later, as those of main's kernel
// thread do when it ends the process.
class counted {
 public:
  counted() noexcept { list_here(); }
  ~counted() {
    unlist_here();
    if (alive().fetch_sub_release(1) == 1) // pairs with the acquire in outlive_main()
      door::futex_wake(&alive(), door::all_futex_waiters);
  }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
};

void* live(void* as_start) {
  const start s = *static_cast<start*>(as_start);
  delete static_cast<start*>(as_start);
  const counted among_others;
  return s.function(s.argument);
}

// (K1) Who waits: where, full fence, then whether it is cancelled. Who cancels: that, full fence, then where
// it waits. So it does not begin to wait, or is woken; and again, as it may not sleep yet when it is woken.
bool wake_if_it_waits(pthread_t handle) noexcept {
  const std::scoped_lock held(lock);
  for (record* r = first; r != nullptr; r = r->next) {
    if (r->handle != handle)
      continue;
    const void* const at = r->waits_at.load_relaxed(); // relaxed: the fence orders it
    if (at == nullptr || !libc_would_cancel(handle))
      return false;
    door::futex_wake(at, door::all_futex_waiters);
    return true;
  }
  return false;
}

} // namespace

int create_native(pthread_t* handle, const pthread_attr_t* how, void* (*function)(void*),
                  void* argument) noexcept {
  auto* const s = new (std::nothrow) start{function, argument};
  if (s == nullptr)
    return EAGAIN;
  alive().fetch_add_relaxed(1); // relaxed: the creator lives meanwhile
  const int error = libc.pthread_create(handle, how, &live, s);
  if (error != 0) {
    alive().fetch_sub_relaxed(1);
    delete s;
  }
  return error;
}

native_wait::native_wait(const futex_word& word) noexcept {
  if (!is_listed_here())
    return;
  here.waits_at.store_relaxed(&word);
  door::full_fence(); // (K1)
}

native_wait::~native_wait() {
  here.waits_at.store_relaxed(nullptr);
}

void end_native_wait(pthread_t handle) noexcept {
  constexpr timespec until_it_has_left{0, 100'000};
  door::full_fence(); // (K1)
  while (wake_if_it_waits(handle))
    libc.syscall(SYS_nanosleep, reinterpret_cast<long>(&until_it_has_left), 0, 0, 0, 0, 0);
}

void forget_native_threads() noexcept {
  ::new (static_cast<void*>(&lock)) std::mutex;
  first = nullptr;
  here.handle = 0;
}

} // namespace weft::pthreads
