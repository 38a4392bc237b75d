// SPDX-License-Identifier: MIT
#include "weft/preempt/set_user.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "weft/arch/user_mode.hpp"
#include "weft/carrier/carrier.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/kernel_thread.hpp"

namespace weft::preempt {
namespace {

constexpr int libcs_signal = 33; // libc lets nobody else ask for it

// The kernel's, since libc's own sigaction() refuses that signal. As on x86-64, the one port with preemption.
struct kernel_action {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};

bool act(const kernel_action* fresh, kernel_action* old) noexcept {
  return ::syscall(SYS_rt_sigaction, libcs_signal, fresh, old, sizeof fresh->mask) == 0;
}

constinit std::atomic<bool> serves{false}; // relaxed: a second call that finds it too late does no harm
constinit std::atomic<void (*)(int, siginfo_t*, void*)> libcs_handler{nullptr};
constinit std::atomic<unsigned long> libcs_mask{0};

// What the compiler knows of thread-locals must not live across it.
[[gnu::noinline]] void handle_on(void* own, int signal, siginfo_t* info, void* interrupted) noexcept {
  void* const found = arch::thread_pointer();
  arch::set_thread_pointer(own);
  libcs_handler.load(std::memory_order_relaxed)(signal, info, interrupted); // relaxed: set before it is ours
  arch::set_thread_pointer(found);
}

// All other signals are blocked meanwhile: a tick that took the thread away would have another kernel thread
// make the call twice, on a thread pointer that is not its own, and this one never. A kernel thread that
// lends its block finds the worker that the borrower is on, but is not the one on which that runs. Not on the
// alternate stack, where libc's runs: a handler of the program's that a tick takes to another kernel thread
// brings that of the first one along, and two kernel threads must not be in here on one stack.
void handle(int signal, siginfo_t* info, void* interrupted) noexcept {
  const sched::worker* const here = sched::weft_worker_here;
  const bool is_here = here != nullptr && here->carried.on->kernel_id() == os::this_kernel_thread_id();
  handle_on(is_here ? here->carried.own_thread_pointer.load_relaxed() : arch::thread_pointer(), signal, info,
            interrupted);
}

} // namespace

void serve_set_user() noexcept {
  kernel_action now{};
  if (serves.load(std::memory_order_relaxed) || !act(nullptr, &now) || now.handler == nullptr ||
      now.handler == &handle)
    return; // null: libc has no kernel thread but this one yet
  libcs_handler.store(now.handler, std::memory_order_relaxed);
  libcs_mask.store(now.mask, std::memory_order_relaxed);
  now.handler = &handle;
  now.flags &= ~static_cast<unsigned long>(SA_ONSTACK);
  now.mask = ~0UL;
  serves.store(act(&now, nullptr), std::memory_order_relaxed);
}

void stop_serving_set_user() noexcept {
  kernel_action now{};
  if (!serves.exchange(false, std::memory_order_relaxed) || !act(nullptr, &now) || now.handler != &handle)
    return;
  now.handler = libcs_handler.load(std::memory_order_relaxed);
  now.mask = libcs_mask.load(std::memory_order_relaxed);
  static_cast<void>(act(&now, nullptr));
}

} // namespace weft::preempt
