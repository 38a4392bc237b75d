// SPDX-License-Identifier: MIT
#include "front/pthreads/kernel_mutex.hpp"

#include "front/pthreads/libc.hpp"
#include "front/pthreads/libc_cancellation.hpp"
#include "front/pthreads/promotion.hpp"

#include <cerrno>
#include <cstddef>
#include <dlfcn.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace weft::pthreads {
namespace {

// Of glibc's words in the block of each thread, from the thread pointer; 0: unknown. Constant once loaded.
constinit std::size_t place_of_id = 0;
// Flags that say that libc has kept the thread's policy and priority there, which it does when the thread
// first gets another one for a mutex. A thread of ours may have got others since, or another one the block.
constinit std::size_t place_of_flags = 0;
constexpr std::uint32_t has_kept = 0x20 | 0x40; // ATTR_FLAG_SCHED_SET, ATTR_FLAG_POLICY_SET

std::uint32_t& word_at(std::size_t place) noexcept {
  return *reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(__builtin_thread_pointer()) + place);
}

// What libc says for debuggers of a member of its block: bits, count, offset.
std::size_t place_for_debuggers(void* of_libc, const char* member) noexcept {
  const auto* const told = static_cast<const std::uint32_t*>(::dlsym(of_libc, member));
  return told != nullptr && told[0] == 32 ? told[2] : 0;
}

// libc says nothing of this one, which comes behind its word for cancellation. A function that keeps policy
// and priority shows it, and is made to forget them again.
std::size_t place_by_trial(std::size_t behind) noexcept {
  constexpr std::size_t words = 4;
  std::uint32_t before[words];
  for (std::size_t i = 0; i < words; ++i)
    before[i] = word_at(behind + i * sizeof(std::uint32_t));
  int policy = 0;
  sched_param how{};
  if (libc.pthread_getschedparam(libc.pthread_self(), &policy, &how) != 0)
    return 0;
  for (std::size_t i = 0; i < words; ++i) {
    const std::size_t place = behind + i * sizeof(std::uint32_t);
    if ((word_at(place) ^ before[i]) == has_kept) {
      word_at(place) = before[i];
      return place;
    }
  }
  return 0;
}

bool may_use_real_time() noexcept {
  rlimit most{};
  if (::getrlimit(RLIMIT_RTPRIO, &most) == 0 && most.rlim_cur > 0)
    return true;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  const long error =
      libc.syscall(SYS_capget, reinterpret_cast<long>(&header), reinterpret_cast<long>(data), 0, 0, 0, 0);
  return error == 0 && (data[0].effective & (1U << CAP_SYS_NICE)) != 0;
}

bool has_real_time() noexcept {
  const int policy = libc.sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  return policy == SCHED_FIFO || policy == SCHED_RR;
}

// 0: it is there, and stays.
int go_there() noexcept {
  if (self->is_on_kernel_thread)
    return 0;
  const int error = get_kernel_thread(*self); // SWITCH: resumes there
  if (error != 0)
    return error == ENOMEM ? ENOMEM : EAGAIN;
  return self->is_on_kernel_thread ? 0 : EAGAIN;
}

} // namespace

void find_libcs_ids(void* of_libc) noexcept {
  if (of_libc == nullptr)
    return;
  const std::size_t id = place_for_debuggers(of_libc, "_thread_db_pthread_tid");
  if (id == 0 || static_cast<pid_t>(word_at(id)) != libc.gettid())
    return;
  place_of_id = id;
  if (const futex_word* const cancels = libcs_word_here())
    place_of_flags = place_by_trial(reinterpret_cast<std::uintptr_t>(cancels + 1) -
                                    reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()));
}

bool is_to_inherit(int kind) noexcept {
  if (place_of_id == 0 || (kind & robust_bit) != 0)
    return false;
  return (kind & shared_bit) != 0 || may_use_real_time() || has_real_time();
}

as_kernel_thread::as_kernel_thread() noexcept : error_(place_of_id != 0 ? go_there() : 0) {
  if (error_ != 0 || place_of_id == 0)
    return;
  std::uint32_t& id = word_at(place_of_id);
  if (self->id_of_block == 0)
    self->id_of_block = id;
  id = static_cast<std::uint32_t>(
      libc.syscall(SYS_gettid, 0, 0, 0, 0, 0, 0)); // another one in a child of fork()
  if (self->ceilings_held == 0 && place_of_flags != 0)
    word_at(place_of_flags) &= ~has_kept;
}

as_kernel_thread::~as_kernel_thread() {
  take_own_id_back(*self);
}

void take_own_id_back(thread& t) noexcept {
  if (t.id_of_block == 0)
    return;
  word_at(place_of_id) = t.id_of_block;
  t.id_of_block = 0;
}

} // namespace weft::pthreads
