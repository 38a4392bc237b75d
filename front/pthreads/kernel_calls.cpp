// SPDX-License-Identifier: MIT
#include "front/pthreads/kernel_calls.hpp"

#include "front/pthreads/exported.hpp"
#include "front/pthreads/kernel_attributes.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/promotion.hpp"
#include "front/pthreads/thread_ids.hpp"
#include "front/pthreads/told.hpp"
#include "weft/door/section.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <linux/ioprio.h>
#include <linux/prctl.h>
#include <sched.h>
#include <sys/syscall.h>

namespace weft::pthreads {
namespace {

// Of prctl(2): what is the calling kernel thread's. (A name is the thread's: below.)
constexpr std::array own_options{PR_SET_PDEATHSIG,
                                 PR_SET_KEEPCAPS,
                                 PR_SET_SECCOMP,
                                 PR_CAPBSET_DROP,
                                 PR_SET_TSC,
                                 PR_SET_SECUREBITS,
                                 PR_SET_TIMERSLACK,
                                 PR_MCE_KILL,
                                 PR_SET_NO_NEW_PRIVS,
                                 PR_CAP_AMBIENT,
                                 PR_SET_SPECULATION_CTRL,
                                 PR_SET_IO_FLUSHER,
                                 PR_SCHED_CORE,
                                 PR_SET_SYSCALL_USER_DISPATCH};

// By syscall(2): those with ids of users are the kernel thread's alone so, and not the process' as libc's
// are.
constexpr std::array own_calls{SYS_setns,     SYS_capset,    SYS_seccomp,      SYS_setfsuid, SYS_setfsgid,
                               SYS_setuid,    SYS_setgid,    SYS_setreuid,     SYS_setregid, SYS_setresuid,
                               SYS_setresgid, SYS_setgroups, SYS_set_mempolicy};

// Where the kernel clears the id of its own thread at the end, libc waits for that: not the program's thread.
int tell_word_of_id(unsigned long where) noexcept {
  self->told_id.store_relaxed(static_cast<std::uint32_t>(own_id())); // relaxed: its own
  *reinterpret_cast<futex_word**>(where) =
      self->clears_at_end != nullptr ? self->clears_at_end : &self->told_id;
  return 0;
}

template <class List, class Value>
bool has(const List& list, Value value) noexcept {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// For the calling thread, which is promoted first if it is one of ours.
template <class Call>
int on_own_kernel_thread(Call call) noexcept {
  const int error = self != nullptr ? get_kernel_thread(*self) : 0; // SWITCH: may
  return error != 0 ? told(error) : call();
}

int unshare_here(int what) noexcept {
  const int result = libc.unshare(what);
  if (result == 0 && self != nullptr && (what & CLONE_FILES) != 0)
    self->has_own_descriptors = true;
  return result;
}

// As the kernel cuts it.
int name_self(const char* name) noexcept {
  std::array<char, sizeof thread::name> cut{};
  std::copy_n(name, ::strnlen(name, cut.size() - 1), cut.begin());
  return exported::set_name(self->handle(), cut.data());
}

// Of the thread with that id, or the caller's: `number` with the kernel thread's in its place, which stands
// at `place`.
long call_for(pid_t id, long number, const long (&arguments)[6], std::size_t place) noexcept {
  thread* const t = id == 0 ? self : thread_of_id(id);
  if (t == nullptr)
    return told(ESRCH);
  struct call {
    long number;
    const long (&given)[6];
    std::size_t place;
  } const wanted{number, arguments, place};
  const auto make = [](pid_t kernel_id, const void* as_call) {
    const call& c = *static_cast<const call*>(as_call);
    long a[6];
    std::copy(std::begin(c.given), std::end(c.given), a);
    a[c.place] = kernel_id;
    return libc.syscall(c.number, a[0], a[1], a[2], a[3], a[4], a[5]) == 0 ? 0 : errno;
  };
  return told(change_kernel_thread(*t, make, &wanted)); // SWITCH: may
}

bool is_for_ours(long id) noexcept {
  return id == 0 || is_our_id(static_cast<pid_t>(id));
}

} // namespace

std::optional<long> before_kernel_call(long number, const long (&a)[6]) noexcept {
  if (number == SYS_ioprio_set && a[0] == IOPRIO_WHO_PROCESS && is_for_ours(a[1]))
    return call_for(static_cast<pid_t>(a[1]), number, a, 1);
  if (number == SYS_sched_setattr && is_for_ours(a[0]))
    return call_for(static_cast<pid_t>(a[0]), number, a, 0);
  if (number == SYS_prctl && a[0] == PR_GET_TID_ADDRESS)
    return tell_word_of_id(static_cast<unsigned long>(a[1]));
  if (number == SYS_unshare)
    return on_own_kernel_thread([&] { return unshare_here(static_cast<int>(a[0])); });
  if (has(own_calls, number) || (number == SYS_prctl && has(own_options, static_cast<int>(a[0])))) {
    if (const int error = get_kernel_thread(*self)) // SWITCH: may
      return told(error);
  }
  return std::nullopt;
}

} // namespace weft::pthreads

using namespace weft::pthreads;

// Contexts of all: as the C library's, but no handlers of signals. Switches: where a thread of ours calls one
// for the first time.
extern "C" {

WEFT_API int setns(int descriptor, int kind) noexcept {
  return on_own_kernel_thread([=] { return libc.setns(descriptor, kind); });
}
WEFT_API int unshare(int what) noexcept {
  return on_own_kernel_thread([=] { return unshare_here(what); });
}
WEFT_API int setfsuid(uid_t user) noexcept {
  return on_own_kernel_thread([=] { return libc.setfsuid(user); });
}
WEFT_API int setfsgid(gid_t group) noexcept {
  return on_own_kernel_thread([=] { return libc.setfsgid(group); });
}
WEFT_API int capset(void* header, const void* data) noexcept {
  return on_own_kernel_thread([=] { return libc.capset(header, data); });
}

WEFT_API int prctl(int option, ...) noexcept {
  unsigned long a[4];
  __builtin_va_list given;
  __builtin_va_start(given, option);
  for (unsigned long& x : a)
    x = __builtin_va_arg(given, unsigned long);
  __builtin_va_end(given);
  const bool has_own_name =
      self != nullptr && weft::door::is_in_program(); // a handler may ask amid the runtime
  if (has_own_name && option == PR_SET_NAME)
    return name_self(reinterpret_cast<const char*>(a[0]));
  if (has_own_name && option == PR_GET_NAME)
    return exported::get_name(self->handle(), reinterpret_cast<char*>(a[0]), sizeof thread::name);
  if (self != nullptr && option == PR_GET_TID_ADDRESS)
    return tell_word_of_id(a[0]);
  const auto call = [&] { return libc.prctl(option, a[0], a[1], a[2], a[3]); };
  return has(own_options, option) ? on_own_kernel_thread(call) : call();
}

} // extern "C"
