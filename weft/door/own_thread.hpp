// SPDX-License-Identifier: MIT
// A thread that a front has for itself, in a pool of its choice: the least there is to a unit (unit.hpp)
// whose function is one of C. It starts no default runtime.
#pragma once

#include "weft/arch/exception_state.hpp"
#include "weft/base/export.hpp"
#include "weft/door/unit.hpp"
#include "weft/preemption.hpp"

#include <cstddef>

namespace weft::door {

struct own_thread_form {
  std::size_t stack_size = 0; // bytes; 0: the default one
  weft::preemption preemption = weft::preemption::none;
  std::size_t workers = 1; // that may run such threads at once
  const char* name = "";   // cut to what fits; "": none, which is cheaper
  // Of one that is detached: called with the argument when it has ended, in the runtime. Null: nothing.
  void (*discard)(void*) = nullptr;
  descriptor** made = nullptr; // where the thread is noted before it can run
};

/// Starts one. `own_pool`: where it becomes ready. *Contexts*: thread, foreign kernel thread. *Switches*: for
/// bound_tls, while its variables are made. *Errors*: std::bad_alloc, std::system_error: as
/// make_preemptible() (preemptible.hpp); there is no thread then.
[[nodiscard]] WEFT_API descriptor& start_own_thread(weft::pool& own_pool, const own_thread_form& form,
                                                    void (*function)(void*), void* argument);
/// What debuggers call it, cut to what fits; it may be another than the caller, and may be ending.
/// *Contexts*: all but signal handlers; the caller keeps it from being freed. *Switches*: at its end, if a
/// tick came. *Errors*: none; without memory for a first name it has none.
WEFT_API void name_own_thread(descriptor& u, const char* name) noexcept;
/// Before settle_in(), for a thread that lives: takes what memory that needs. *Contexts*: all but signal
/// handlers; who keeps it from being freed. *Switches*: at its end, if a tick came. *Errors*: std::bad_alloc.
WEFT_API void prepare_to_settle(descriptor& u);
/// The calling thread, a preemptible one for which prepare_to_settle() was called, goes on on the worker of
/// `pool`, which is the only one there and for it alone, and stays on that kernel thread to its end, in the
/// kernel too: it is not preempted any more. False: it has asked not to be preempted (no_preemption), and is
/// where it was. *Contexts*: thread, in user mode; a handler that an interruption has called. *Switches*:
/// yes. *Errors*: none.
[[nodiscard]] WEFT_API bool settle_in(weft::pool& pool) noexcept;
/// Whether others may run on its variables: those of bound_tls that have any of their own. Once its function
/// has begun. *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
[[nodiscard]] WEFT_API bool has_own_variables(const descriptor& u) noexcept;

/// In scope: the caller runs on the variables of `u`, which has them of its own: a thread that has them too,
/// or a kernel thread that is no worker. `u` is suspended in its function, and nobody resumes it before the
/// end of the scope. The caller's exceptions stay its own. Who calls keeps no address of a thread_local
/// across the beginning or the end, so they stand in functions of their own. May be nested. *Contexts*:
/// thread, in user mode; foreign kernel thread. *Switches*: may, at both ends, where a thread calls.
/// *Errors*: none.
class WEFT_API on_variables_of {
 public:
  explicit on_variables_of(descriptor& u) noexcept;
  ~on_variables_of();
  on_variables_of(const on_variables_of&) = delete;
  on_variables_of& operator=(const on_variables_of&) = delete;

 private:
  descriptor& lender_;
  void* own_thread_pointer_ = nullptr; // a foreign kernel thread's
  arch::exception_state kept_;
};

/// Waits for its end and frees it. Once. GONE: u. *Contexts*: who may_wait(). *Switches*: may. *Errors*: none
/// for a thread that nobody joins otherwise.
WEFT_API void join_own_thread(descriptor& u);
/// Nobody will join it: it frees itself at its end. Once. GONE: u. *Contexts*: all but signal handlers.
/// *Switches*: never. *Errors*: none.
WEFT_API void detach_own_thread(descriptor& u) noexcept;

} // namespace weft::door
