// SPDX-License-Identifier: MIT
// The default runtime: one group of workers for the whole process, started at first use, stopped by whoever
// started it last or at exit. Here its parts are chosen.
#pragma once

#include <cstddef>

#include "weft/base/export.hpp"
#include "weft/io/source.hpp"
#include "weft/workers/group.hpp"

namespace weft::runtime {

// Every field left at its default follows the environment (WEFT_WORKERS, WEFT_POOLS, ...), then the built-in
// choice.
struct options {
  unsigned workers = 0; // 0: WEFT_WORKERS, else affinity mask and cgroup quota
  sched::arrangement pools = sched::arrangement::stealing;
  bool bind = false; // each worker to a CPU, in topology order
  std::function<std::shared_ptr<sched::scheduler>(unsigned)> make_scheduler{}; // arrangement::custom
  // Of threads that have none of their own; automatic: WEFT_TECHNIQUE.
  unit::technique_id technique = unit::technique_id::automatic;
  // What threads wait in for I/O, docs/guide/io.md; automatic: WEFT_IO. For all groups of the process that
  // have not waited for any yet.
  weft::io::mechanism io = weft::io::mechanism::automatic;
  // Most spare kernel threads for weft::blocking(); 0: WEFT_BLOCKING_THREADS.
  unsigned blocking_threads = 0;
};

// Starts the runtime, or, if it runs already, counts one more user (its options then stay what they are:
// false is returned). From main's kernel thread the caller becomes a thread on worker 0; from another one the
// caller stays outside. Contexts: all but signal handlers and tasklets. Switches: never. Errors:
// std::system_error; nothing is running then.
WEFT_API bool start(const options& wanted = {});

// One user less; the last one stops the workers, unless somebody relied on the automatic start. Units still
// alive do not run on. Returns whether the runtime was stopped. From another kernel thread than the one that
// became worker 0, or from another thread than main's, the stop is left to process exit. Contexts: as start.
// Errors: none; a surplus stop() does nothing.
WEFT_API bool stop() noexcept;

[[nodiscard]] WEFT_API bool running() noexcept;

// For fronts that have groups of their own. What every process with workers needs, once: the report of stack
// overflows, the handlers of fork() and exit(). Their workers go on after exit(), until the process has
// ended. Errors: std::system_error where workers cannot run at all.
WEFT_API void prepare_process();

// Workers of the default group; starts the runtime if need be.
[[nodiscard]] WEFT_API unsigned worker_count();
// Contexts: thread, foreign kernel thread. Switches: may. Errors: as group::resize().
WEFT_API void set_worker_count(unsigned workers);
// How many of the default group's workers go on; the others sleep until they are wanted again. Contexts: all
// but signal handlers. Switches: never. Errors: as group::set_active_workers(). docs/guide/packing.md.
WEFT_API void set_active_workers(unsigned n);
[[nodiscard]] WEFT_API unsigned active_workers();

// What is alive, for tests and for people: exact when nothing runs. RACY else.
struct census {
  std::size_t units;  // descriptors handed out
  std::size_t stacks; // stacks handed out
  std::size_t timers; // armed
  std::size_t workers;
};
[[nodiscard]] WEFT_API census count();

} // namespace weft::runtime
