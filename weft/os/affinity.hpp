// SPDX-License-Identifier: MIT
// The set of CPUs a kernel thread may run on. Sets of any size: the kernel's mask may be wider than
// cpu_set_t's 1024.
#pragma once

#include "weft/base/export.hpp"

#include <pthread.h>
#include <sched.h>
#include <vector>

namespace weft::os {

// CPU numbers, ascending.
using cpu_list = std::vector<int>;

// The mask of the calling kernel thread. Contexts: all but signal handlers. Switches: never. Errors: an errno
// value, `result` is then empty; throws std::bad_alloc.
WEFT_API int current_affinity(cpu_list& result);

// Restricts the calling kernel thread. Errors: EINVAL if no CPU of `wanted` is allowed here (cpuset), EPERM.
int set_affinity(const cpu_list& wanted);
// The same for another kernel thread, which must not have been joined.
WEFT_API int affinity_of(pthread_t thread, cpu_list& result);
WEFT_API int set_affinity(pthread_t thread, const cpu_list& wanted);

// How many CPUs the calling kernel thread may use, at least 1.
int affinity_count();

// The CPU the caller runs on now, -1 if unknown. SIGNAL-SAFE.
inline int current_cpu() noexcept {
  return ::sched_getcpu();
}

} // namespace weft::os
