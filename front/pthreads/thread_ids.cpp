// SPDX-License-Identifier: MIT
#include "front/pthreads/thread_ids.hpp"

#include "front/pthreads/exported.hpp"
#include "front/pthreads/kernel_attributes.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/told.hpp"
#include "weft/door/section.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <new>

namespace weft::pthreads {
namespace {

constexpr pid_t first_id = 1 << 22;

// Who has asked for its id. *Ownership*: `lock`, whose holder is in the runtime.
struct bucket {
  door::spin_lock lock;
  thread* first = nullptr;
};
constinit std::array<bucket, 256> buckets{};

bucket& bucket_of(pid_t id) noexcept {
  return buckets[static_cast<std::size_t>(id) % buckets.size()];
}

pid_t next_id() noexcept {
  constexpr std::uint32_t count = INT_MAX - first_id;
  static constinit door::atomic<std::uint32_t> last{0};
  return first_id + static_cast<pid_t>(last.fetch_add_relaxed(1) % count); // relaxed: a number
}

// For functions that take an id, 0 for the caller's.
bool means_ours(pid_t id) noexcept {
  return is_our_id(id) || (id == 0 && self != nullptr);
}
thread* meant(pid_t id) noexcept {
  return id == 0 ? self : thread_of_id(id);
}

} // namespace

bool is_our_id(pid_t id) noexcept {
  return id >= first_id;
}

// A handler that has interrupted the runtime, in a list perhaps, leaves the listing to the next call.
pid_t own_id() noexcept {
  thread& t = *self;
  pid_t id = t.id.load_relaxed(); // relaxed: its own
  if (id == 0) {
    id = next_id();
    if (pid_t before = 0; !t.id.cas_strong_relaxed(before, id)) // a handler was here
      id = before;
  }
  if (!t.has_listed_id && door::is_in_program()) {
    const door::runtime_section in;
    bucket& b = bucket_of(id);
    const std::scoped_lock held(b.lock);
    if (!t.has_listed_id) {
      t.next_of_ids = b.first;
      b.first = &t;
      t.has_listed_id = true;
    }
  }
  return id;
}

thread* thread_of_id(pid_t id) noexcept {
  const door::runtime_section in;
  bucket& b = bucket_of(id);
  const std::scoped_lock held(b.lock);
  thread* t = b.first;
  while (t != nullptr && t->id.load_relaxed() != id) // relaxed: written before it was listed
    t = t->next_of_ids;
  return t;
}

void forget_id(thread& t) noexcept {
  if (!t.has_listed_id)
    return;
  bucket& b = bucket_of(t.id.load_relaxed()); // relaxed: as above
  const std::scoped_lock held(b.lock);
  thread** place = &b.first;
  while (*place != &t)
    place = &(*place)->next_of_ids;
  *place = t.next_of_ids;
}

void forget_ids_of_others() noexcept {
  for (bucket& b : buckets) {
    ::new (static_cast<void*>(&b.lock)) door::spin_lock; // its holder may not be there any more
    b.first = nullptr;
  }
  if (self == nullptr || !self->has_listed_id)
    return;
  self->next_of_ids = nullptr;
  bucket_of(self->id.load_relaxed()).first = self; // relaxed: its own
}

int kill_by_id(pid_t id, int number) noexcept {
  const thread* const t = thread_of_id(id);
  return told(t != nullptr ? exported::kill(t->handle(), number) : ESRCH);
}

} // namespace weft::pthreads

using namespace weft::pthreads;

// Contexts of all: as libc's.
extern "C" {

WEFT_API pid_t gettid() noexcept {
  return self != nullptr ? own_id() : libc.gettid();
}

WEFT_API int tgkill(pid_t process, pid_t id, int number) {
  return is_our_id(id) && process == ::getpid() ? kill_by_id(id, number) : libc.tgkill(process, id, number);
}

WEFT_API int sched_setaffinity(pid_t id, std::size_t bytes, const cpu_set_t* cpus) noexcept {
  if (!means_ours(id))
    return libc.sched_setaffinity(id, bytes, cpus);
  const thread* const t = meant(id);
  return told(t != nullptr ? exported::set_affinity(t->handle(), bytes, cpus) : ESRCH);
}

WEFT_API int sched_getaffinity(pid_t id, std::size_t bytes, cpu_set_t* cpus) noexcept {
  if (!means_ours(id))
    return libc.sched_getaffinity(id, bytes, cpus);
  const thread* const t = meant(id);
  return told(t != nullptr ? exported::get_affinity(t->handle(), bytes, cpus) : ESRCH);
}

WEFT_API int sched_setscheduler(pid_t id, int policy, const sched_param* how) noexcept {
  if (!means_ours(id))
    return libc.sched_setscheduler(id, policy, how);
  thread* const t = meant(id);
  return told(t != nullptr ? set_policy(*t, policy, how) : ESRCH);
}

WEFT_API int sched_getscheduler(pid_t id) noexcept {
  if (!means_ours(id))
    return libc.sched_getscheduler(id);
  const thread* const t = meant(id);
  return t != nullptr ? policy_of(*t) : told(ESRCH);
}

WEFT_API int sched_setparam(pid_t id, const sched_param* how) noexcept {
  if (!means_ours(id))
    return libc.sched_setparam(id, how);
  thread* const t = meant(id);
  return told(t != nullptr ? set_policy(*t, policy_of(*t), how) : ESRCH);
}

WEFT_API int sched_getparam(pid_t id, sched_param* how) noexcept {
  if (!means_ours(id))
    return libc.sched_getparam(id, how);
  const thread* const t = meant(id);
  if (how == nullptr || t == nullptr)
    return told(how == nullptr ? EINVAL : ESRCH);
  *how = parameters_of(*t);
  return 0;
}

WEFT_API int setpriority(__priority_which_t which, id_t id, int value) noexcept {
  const auto as_id = static_cast<pid_t>(id);
  if (which != PRIO_PROCESS || !means_ours(as_id))
    return libc.setpriority(which, id, value);
  thread* const t = meant(as_id);
  return told(t != nullptr ? set_niceness(*t, value) : ESRCH);
}

WEFT_API int getpriority(__priority_which_t which, id_t id) noexcept {
  const auto as_id = static_cast<pid_t>(id);
  if (which != PRIO_PROCESS || !means_ours(as_id))
    return libc.getpriority(which, id);
  const thread* const t = meant(as_id);
  return t != nullptr ? niceness_of(*t) : told(ESRCH);
}

// Of the process, says POSIX; of the calling kernel thread, say Linux and its C library.
WEFT_API int nice(int more) noexcept {
  if (self == nullptr)
    return libc.nice(more);
  const int error = set_niceness(*self, std::clamp(niceness_of(*self) + more, PRIO_MIN, PRIO_MAX - 1));
  return error == 0 ? niceness_of(*self) : told(error == EACCES ? EPERM : error);
}

} // extern "C"
