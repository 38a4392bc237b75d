// SPDX-License-Identifier: MIT
// A thread of the program's that is Weft's, and its handle. All others (main, what libc makes for itself,
// what has a stack of the user's) are kernel threads with handles of libc's.
#pragma once

#include "front/pthreads/objects.hpp"
#include "weft/door/errno_kept.hpp"
#include "weft/door/object.hpp"
#include "weft/door/unit.hpp"
#include "weft/preemption.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <stop_token>

namespace weft::pthreads {

enum class kind : std::uint32_t { gone = 0, thread = 0x70746872, signal = 0x70746873 };

class queued_signal;
class own_kernel_thread;

/// *Ownership*: made by its creator; its own thread writes `result` before `done`; freed by who joins it, or
/// at the end of one that is detached. *Ordering*: (T1) `done` is set with release after the result, and read
/// with acquire by who joins.
class thread : public door::object<kind> {
 public:
  explicit thread(std::uint16_t number) noexcept : door::object<kind>(kind::thread), generation(number) {}

  /// What the program has in hand: no address of this machine's, so that a function which does not know it
  /// cannot take it for one of its own. Bit 63, the generation, 48 bits of the address.
  [[nodiscard]] pthread_t handle() const noexcept {
    return (std::uint64_t{1} << 63) | (std::uint64_t{generation} << 48) |
           reinterpret_cast<std::uintptr_t>(this);
  }
  [[nodiscard]] static bool is_ours(pthread_t handle) noexcept { return (handle >> 63) != 0; }
  /// Null: nobody has that handle any more.
  [[nodiscard]] static thread* of(pthread_t handle) noexcept {
    auto* const t = reinterpret_cast<thread*>(handle & ((std::uint64_t{1} << 48) - 1));
    const auto number = static_cast<std::uint16_t>((handle >> 48) & 0x7fff);
    return t != nullptr && t->is(kind::thread) && t->generation == number ? t : nullptr;
  }

  const std::uint16_t generation; // of 15 bits
  door::descriptor* unit = nullptr;
  void* (*function)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
  futex_word done{0};

  // --- its handle ---
  enum : std::uint32_t { joinable, detached, being_joined };
  door::atomic<std::uint32_t> held{joinable};
  door::atomic<thread*> joins{nullptr}; // whom it waits for

  // --- what others ask of it (requests.cpp) ---
  futex_word call_off{0}; // there is something to act on: its waits end
  door::atomic<bool> cancel_asked{false};
  door::atomic<std::uint64_t> signals_sent{0};
  door::atomic<const void*> waits_at{nullptr};
  // In sigwait(): the kernel thread; -1: a sender has claimed it. And for which signals (signal_waits.cpp).
  door::atomic<int> waits_on{0};
  siginfo_t claimed; // which signal the sender has claimed it for; under `lock`. Written before it is read
  std::uint64_t signals_waited = 0;
  // What handlers are told of signals in `signals_sent`, in the order of their coming; and whether more of
  // the process' may come. Under `lock` (signal_queue.hpp).
  queued_signal *first_queued = nullptr, *last_queued = nullptr;
  bool takes_signals = true;
  // The descriptor that it waits for; -1: none. And its connect(2), under `lock` (descriptor_wait.cpp).
  door::atomic<int> waits_for_descriptor{-1};
  std::stop_source* connects = nullptr;
  int woken_for = -1; // the descriptor whose event has ended its wait, until it has tried; its own

  // --- its own ---
  bool cancel_enabled = true;
  bool cancel_at_once = false;
  bool exits = false;
  door::atomic<std::uint64_t> blocked_signals{0}; // others look whom a signal of the process may go to
  bool owns_kernel_thread = false;                // in a child of fork(): its mask is the kernel's too
  bool handler_ends_calls = false; // of those that its last act_on_requests() ran one has no SA_RESTART

  // --- in the list of all (process_signals.cpp); under the list's lock ---
  thread *next_of_all = nullptr, *before_of_all = nullptr;
  door::atomic<std::uint32_t> pins{0}; // who holds it there, though it may have ended

  // --- its id (thread_ids.cpp) ---
  door::atomic<pid_t> id{0}; // 0: nobody has asked for it
  thread* next_of_ids = nullptr;
  bool has_listed_id = false;
  futex_word* clears_at_end = nullptr; // set_tid_address(2)
  futex_word told_id{0};               // what is cleared where that was not called

  // While the kernel thread has its mask, which it stays on meanwhile (processes.cpp).
  std::optional<no_preemption> held_for_mask;
  sigset_t mask_of_kernel_thread; // while there is `held_for_mask`

  // --- promotion (promotion.cpp) ---
  door::atomic<own_kernel_thread*> kernel_thread{
      nullptr};                     // for it alone, from when somebody has asked for it
  bool is_on_kernel_thread = false; // its own
  std::uint32_t id_of_block = 0;    // not 0: libc finds the kernel thread's in its place (kernel_mutex.cpp)
  unsigned ceilings_held = 0;       // mutexes with a priority of their own that it has
  bool has_own_descriptors = false; // by unshare(2): what is known of the process' is not its

  // --- attributes ---
  std::size_t stack_bytes = 0, guard_bytes = 0;
  door::spin_lock lock; // of what is below
  char name[16] = "";
  cpu_set_t cpus{};
  // What libc knows of its cancellation, in its block (libc_cancellation.hpp); the thread itself reads it.
  futex_word* libcs_word = nullptr;
};

/// The calling thread; null: a kernel thread. It belongs to the thread's block, so it is the same on every
/// worker; nobody may keep its address.
extern __thread thread* self __attribute__((tls_model("initial-exec")));

/// A number that no other thread of the process has, kernel threads included; not 0.
[[nodiscard]] std::uint32_t own_number() noexcept;

using door::errno_kept;

} // namespace weft::pthreads
