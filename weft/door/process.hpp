// SPDX-License-Identifier: MIT
// What a front settles once for the process: before its first stream, after its last one, and what it tells
// people.
#pragma once

#include "weft/base/assert.hpp"
#include "weft/base/immortal.hpp"
#include "weft/door/unit.hpp"
#include "weft/os/affinity.hpp"

#include <cstddef>
#include <cstdint>
#include <pthread.h>
#include <vector>

namespace weft::door {

/// What every process with workers needs, once: the report of stack overflows, the handlers of fork() and
/// exit(). Before a front's first stream. *Contexts*: thread, foreign kernel thread. *Switches*: never.
/// *Errors*: std::system_error where workers cannot run at all.
WEFT_API void prepare_process();
/// After a front's last stream: ends what preemptible threads needed, if nobody has any. *Contexts*,
/// *Switches*: as prepare_process(). *Errors*: none.
WEFT_API void release_process() noexcept;

/// Says something on the error output, in the form of printf(), unless the user wants no warnings.
/// *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
using base::warn;

/// The one T of the process, made at its first use and never destroyed: destructors of statics may use it. So
/// T is a type of the front's own. *Contexts*: all but signal handlers. *Switches*: never. *Errors*: those of
/// T's constructor.
using base::immortal;

/// How many workers the process has by default: as many as it may use CPUs. *Contexts*: all but signal
/// handlers. *Switches*: never. *Errors*: std::bad_alloc.
[[nodiscard]] WEFT_API unsigned worker_count_by_default();

// --- CPUs ---

/// The CPUs that the calling kernel thread may use, ascending. *Contexts*: all but signal handlers.
/// *Switches*: never. *Errors*: an errno value, and `cpus` is empty then; std::bad_alloc.
[[nodiscard]] inline int cpus_here(std::vector<int>& cpus) {
  return os::current_affinity(cpus);
}
/// Keeps a kernel thread, which has not been joined, on these. *Contexts*, *Switches*: as cpus_here().
/// *Errors*: EINVAL if none of them may be used, EPERM; std::bad_alloc.
inline int keep_on_cpus(pthread_t kernel_thread, const std::vector<int>& cpus) {
  return os::set_affinity(kernel_thread, cpus);
}

// --- stacks. Contexts: all but signal handlers. Switches: never. Errors: none ---

/// What tells that a stack was too small: nothing, a value that is looked at when its unit ends, a page that
/// must not be touched.
enum class overflow_check : std::uint8_t { none, canary, pages };
/// What the stacks of the process have, and the size of those of which nothing else is said: both are settled
/// when the first is made, or asked for.
[[nodiscard]] WEFT_API overflow_check overflow_check_of_stacks() noexcept;
[[nodiscard]] WEFT_API std::size_t default_stack_size() noexcept;
/// What they shall have, for a process that has none yet; what the user's knobs ask for beyond that stays.
WEFT_API void set_overflow_check(overflow_check wanted) noexcept;
/// Returns the size that it is rounded to.
WEFT_API std::size_t set_default_stack_size(std::size_t bytes) noexcept;

// --- for people ---

/// Writes "symbol", "symbol+0x12 (object)" or the bare address. *Contexts*: all, signal handlers too.
/// *Switches*: never. *Errors*: none.
WEFT_API void describe_address(const void* address, char* buffer, std::size_t bytes) noexcept;

/// Down to where the stack of a thread is in use that does not run. *Contexts*: who keeps it from running.
/// *Switches*: never. *Errors*: none.
[[nodiscard]] inline const void* stack_pointer_of(const descriptor& u) noexcept {
  return arch::stack_pointer_of(u.context);
}

} // namespace weft::door
