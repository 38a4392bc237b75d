// SPDX-License-Identifier: MIT
// What only kernel threads have: CPUs, a policy, a niceness. A thread of ours that asks for others than all
// threads of the process have is promoted; one that asks for no other is told so.
#pragma once

#include "front/pthreads/thread.hpp"

#include <ctime>
#include <sched.h>
#include <sys/types.h>

namespace weft::pthreads {

/// Whether these are all that the process had when this library was loaded, or more. *Contexts*: all.
/// *Switches*: never. *Errors*: none.
[[nodiscard]] bool are_all_of_process(const cpu_set_t& cpus) noexcept;

/// It runs on these CPUs alone; nothing where they are all that the process had when this library was loaded.
/// *Contexts*: all but signal handlers; the caller keeps `t` from being freed. *Switches*: where it promotes.
/// *Errors*, returned: as change_kernel_thread(); EINVAL: no CPU of this machine is among them.
int bind_to(thread& t, const cpu_set_t& cpus) noexcept;

/// In the child of fork(), whose worker has made the CPUs of the forking thread those of all workers.
void keep_attributes_after_fork() noexcept;

/// *Contexts*, *Switches*: as above. *Errors*, returned: as change_kernel_thread(); EINVAL: there is no such
/// policy, or it has no such priority; EPERM: the process may not.
int set_policy(thread& t, int policy, const sched_param* how) noexcept;
/// *Contexts*: as above. *Switches*: never. *Errors*: none.
[[nodiscard]] int policy_of(const thread& t) noexcept;
[[nodiscard]] sched_param parameters_of(const thread& t) noexcept;

/// *Contexts*, *Switches*: as above. *Errors*, returned: as change_kernel_thread(); EACCES: the process may
/// not.
int set_niceness(thread& t, int value) noexcept;
/// *Contexts*: as above. *Switches*: never. *Errors*: none.
[[nodiscard]] int niceness_of(const thread& t) noexcept;

/// As the kernel numbers them (clock_gettime(2)).
[[nodiscard]] constexpr clockid_t clock_of_kernel_thread(pid_t id) noexcept {
  constexpr clockid_t of_a_thread = 4, counts_time_that_it_ran = 2;
  return static_cast<clockid_t>(~static_cast<unsigned>(id) << 3) | of_a_thread | counts_time_that_it_ran;
}

} // namespace weft::pthreads
