// SPDX-License-Identifier: MIT
#include "front/pthreads/kernel_attributes.hpp"

#include "front/pthreads/libc.hpp"
#include "front/pthreads/promotion.hpp"

#include <cerrno>

namespace weft::pthreads {
namespace {

int error_of(int result) noexcept {
  return result == 0 ? 0 : errno;
}

// Those that threads of ours run on: written when the library is loaded.
cpu_set_t cpus_of_process;

[[gnu::constructor]] void begin() noexcept {
  CPU_ZERO(&cpus_of_process);
  static_cast<void>(libc.sched_getaffinity(0, sizeof cpus_of_process, &cpus_of_process));
}

int niceness_of_process() noexcept {
  return libc.getpriority(PRIO_PROCESS, static_cast<id_t>(::getpid()));
}

} // namespace

bool are_all_of_process(const cpu_set_t& cpus) noexcept {
  cpu_set_t both;
  CPU_AND(&both, &cpus, &cpus_of_process);
  return CPU_EQUAL(&both, &cpus_of_process) != 0;
}

int bind_to(thread& t, const cpu_set_t& cpus) noexcept {
  if (kernel_thread_of(t) == 0 && are_all_of_process(cpus))
    return 0;
  const auto bind = [](pid_t id, const void* wanted) {
    return error_of(libc.sched_setaffinity(id, sizeof(cpu_set_t), static_cast<const cpu_set_t*>(wanted)));
  };
  return change_kernel_thread(t, bind, &cpus);
}

void keep_attributes_after_fork() noexcept {
  if (self != nullptr && self->is_on_kernel_thread && !are_all_of_process(self->cpus))
    static_cast<void>(libc.sched_setaffinity(0, sizeof self->cpus, &self->cpus));
}

int set_policy(thread& t, int policy, const sched_param* how) noexcept {
  struct wanted {
    int policy;
    const sched_param* how;
  } const w{policy, how};
  const int plain = policy & ~SCHED_RESET_ON_FORK;
  if (how == nullptr || how->sched_priority < ::sched_get_priority_min(plain) ||
      how->sched_priority > ::sched_get_priority_max(plain)) // -1: there is no such policy
    return EINVAL;
  if (kernel_thread_of(t) == 0 && plain == SCHED_OTHER)
    return 0;
  const auto set = [](pid_t id, const void* as_wanted) {
    const auto& now = *static_cast<const wanted*>(as_wanted);
    return error_of(libc.sched_setscheduler(id, now.policy, now.how));
  };
  return change_kernel_thread(t, set, &w);
}

int policy_of(const thread& t) noexcept {
  const pid_t id = kernel_thread_of(t);
  const int policy = id != 0 ? libc.sched_getscheduler(id) : SCHED_OTHER;
  return policy >= 0 ? policy : SCHED_OTHER;
}

sched_param parameters_of(const thread& t) noexcept {
  sched_param how{};
  if (const pid_t id = kernel_thread_of(t))
    static_cast<void>(libc.sched_getparam(id, &how));
  return how;
}

int set_niceness(thread& t, int value) noexcept {
  if (kernel_thread_of(t) == 0 && value == niceness_of_process())
    return 0;
  const auto set = [](pid_t id, const void* wanted) {
    return error_of(libc.setpriority(PRIO_PROCESS, static_cast<id_t>(id), *static_cast<const int*>(wanted)));
  };
  return change_kernel_thread(t, set, &value);
}

int niceness_of(const thread& t) noexcept {
  const pid_t id = kernel_thread_of(t);
  return id != 0 ? libc.getpriority(PRIO_PROCESS, static_cast<id_t>(id)) : niceness_of_process();
}

} // namespace weft::pthreads
