// SPDX-License-Identifier: MIT
// What a program asks of a thread by its handle.
#include "front/pthreads/exported.hpp"
#include "front/pthreads/kernel_attributes.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/promotion.hpp"
#include "front/pthreads/takeover.hpp"
#include "front/pthreads/thread.hpp"
#include "weft/door/own_thread.hpp"
#include "weft/door/section.hpp"
#include "weft/door/stack.hpp"

#include <cstring>
#include <mutex>
#include <unistd.h>

namespace weft::pthreads {
namespace {

bool has_stack(const thread& t) noexcept {
  return t.unit != nullptr && t.unit->stack != nullptr;
}

// The bytes that were asked for are the upper ones of what there is, up to the end of the last page and with
// what this library keeps there, as in the C library; the lowest is the first of a page, where a program may
// want to put a guard of its own.
int describe(const thread& t, pthread_attr_t& a) noexcept {
  if (!has_stack(t))
    return ESRCH;
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto* const record = t.unit->stack;
  const auto lowest = reinterpret_cast<std::uintptr_t>(record->low);
  const std::uintptr_t top = (reinterpret_cast<std::uintptr_t>(record) + page) & ~(page - 1);
  std::uintptr_t low = lowest;
  if (t.stack_bytes != 0 && t.stack_bytes < top - lowest)
    low = (top - t.stack_bytes) & ~(page - 1);
  if (const int error = libc.pthread_attr_init(&a))
    return error;
  libc.pthread_attr_setguardsize(&a, t.guard_bytes);
  libc.pthread_attr_setdetachstate(&a, t.held.load_relaxed() == thread::detached ? PTHREAD_CREATE_DETACHED
                                                                                 : PTHREAD_CREATE_JOINABLE);
  libc.pthread_attr_setaffinity_np(&a, sizeof t.cpus, &t.cpus);
  return libc.pthread_attr_setstack(&a, reinterpret_cast<void*>(low), top - low);
}

// *Ownership*: `lock`, whose holder is in the runtime.
template <class Change>
void locked(thread& t, Change change) noexcept {
  const door::runtime_section in;
  const std::scoped_lock held(t.lock);
  change();
}

} // namespace
} // namespace weft::pthreads

using namespace weft::pthreads;

extern "C" {

WEFT_API int pthread_getattr_np(pthread_t handle, pthread_attr_t* a) noexcept {
  if (!thread::is_ours(handle))
    return libc.pthread_getattr_np(handle, a);
  const thread* const t = thread::of(handle);
  return t == nullptr ? ESRCH : describe(*t, *a);
}

WEFT_API int pthread_setname_np(pthread_t handle, const char* name) noexcept {
  return exported::set_name(handle, name);
}
WEFT_API int pthread_getname_np(pthread_t handle, char* name, std::size_t bytes) noexcept {
  return exported::get_name(handle, name, bytes);
}

} // extern "C"

int exported::set_name(pthread_t handle, const char* name) noexcept {
  if (!thread::is_ours(handle))
    return libc.pthread_setname_np(handle, name);
  thread* const t = thread::of(handle);
  if (t == nullptr)
    return ESRCH;
  if (std::strlen(name) >= sizeof t->name)
    return ERANGE;
  locked(*t, [&] { std::strcpy(t->name, name); });
  // One that is detached may be freed meanwhile.
  if (t == self || t->held.load_relaxed() != thread::detached)
    weft::door::name_own_thread(*t->unit, name);
  if (is_native_name(name))
    static_cast<void>(get_kernel_thread(*t)); // without one it is what others are
  return 0;
}

// One that nobody has named has the program's.
int exported::get_name(pthread_t handle, char* name, std::size_t bytes) noexcept {
  if (!thread::is_ours(handle))
    return libc.pthread_getname_np(handle, name, bytes);
  thread* const t = thread::of(handle);
  if (t == nullptr)
    return ESRCH;
  if (bytes < sizeof t->name)
    return ERANGE;
  locked(*t, [&] { std::strcpy(name, t->name); });
  if (*name == '\0')
    std::strncat(name, ::program_invocation_short_name, sizeof t->name - 1);
  return 0;
}

// What was asked is kept, so that the program finds it again.
int exported::set_affinity(pthread_t handle, std::size_t bytes, const cpu_set_t* cpus) noexcept {
  if (!thread::is_ours(handle))
    return libc.pthread_setaffinity_np(handle, bytes, cpus);
  thread* const t = thread::of(handle);
  if (t == nullptr)
    return ESRCH;
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  std::memcpy(&wanted, cpus, std::min(bytes, sizeof wanted));
  if (const int error = bind_to(*t, wanted))
    return error;
  locked(*t, [&] { t->cpus = wanted; });
  return 0;
}

int exported::get_affinity(pthread_t handle, std::size_t bytes, cpu_set_t* cpus) noexcept {
  if (!thread::is_ours(handle))
    return libc.pthread_getaffinity_np(handle, bytes, cpus);
  thread* const t = thread::of(handle);
  if (t == nullptr)
    return ESRCH;
  std::memset(cpus, 0, bytes);
  locked(*t, [&] { std::memcpy(cpus, &t->cpus, std::min(bytes, sizeof t->cpus)); });
  return 0;
}

extern "C" {

WEFT_API int pthread_setaffinity_np(pthread_t handle, std::size_t bytes, const cpu_set_t* cpus) noexcept {
  return exported::set_affinity(handle, bytes, cpus);
}

WEFT_API int pthread_getaffinity_np(pthread_t handle, std::size_t bytes, cpu_set_t* cpus) noexcept {
  return exported::get_affinity(handle, bytes, cpus);
}

WEFT_API int pthread_setschedparam(pthread_t handle, int policy, const sched_param* how) noexcept {
  if (!thread::is_ours(handle))
    return libc.pthread_setschedparam(handle, policy, how);
  thread* const t = thread::of(handle);
  return t == nullptr ? ESRCH : set_policy(*t, policy, how);
}

WEFT_API int pthread_getschedparam(pthread_t handle, int* policy, sched_param* how) noexcept {
  if (!thread::is_ours(handle))
    return libc.pthread_getschedparam(handle, policy, how);
  const thread* const t = thread::of(handle);
  if (t == nullptr)
    return ESRCH;
  *policy = policy_of(*t);
  *how = parameters_of(*t);
  return 0;
}

WEFT_API int pthread_setschedprio(pthread_t handle, int priority) noexcept {
  if (!thread::is_ours(handle))
    return libc.pthread_setschedprio(handle, priority);
  thread* const t = thread::of(handle);
  const sched_param how{.sched_priority = priority};
  return t == nullptr ? ESRCH : set_policy(*t, policy_of(*t), &how);
}

// The kernel counts the time of its own threads.
WEFT_API int pthread_getcpuclockid(pthread_t handle, clockid_t* clock) noexcept {
  if (!thread::is_ours(handle))
    return libc.pthread_getcpuclockid(handle, clock);
  const thread* const t = thread::of(handle);
  if (t == nullptr)
    return ESRCH;
  const pid_t id = kernel_thread_of(*t);
  if (id == 0)
    return ENOENT;
  *clock = clock_of_kernel_thread(id);
  return 0;
}

} // extern "C"
