// SPDX-License-Identifier: MIT
#include "weft/sync/futex.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>

#include "weft/base/assert.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex_bits.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/os/timespec.hpp"
#include "weft/sync/waiter.hpp"

namespace weft::sync {
namespace {

using thread_bucket = futex_bucket<waiter>;
using thread_place = thread_bucket::place;

/// 1 MiB of address space, of which only pages with a waiter become resident. As many as ten thousand threads
/// that wait at addresses of their own find, on average, little more than one other in their bucket: each is
/// a frame elsewhere, and who wakes one of them walks past the others.
constexpr std::size_t futex_buckets = 8192;
constinit thread_bucket futex_table[futex_buckets];

// As wait_table.hpp: multiplicative hashing of the low half of the address.
thread_bucket& bucket_at(const void* address) noexcept {
  const auto low = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(address));
  return futex_table[(low * 0x9E3779B1U) >> 19];
}
static_assert(futex_buckets == std::size_t{1} << (32 - 19));

// --- what handlers owe ---

constinit thread_bucket::owing owing;
constinit base::atomic<std::uint32_t> payer_runs{0};
constexpr std::size_t stack_of_payer = std::size_t{64} << 10;

// How deep the kernel thread is in functions that may hold the runtime's locks. Ownership: the kernel thread
// and the handlers that interrupt it. At an offset from the thread pointer, since a handler cannot make it.
__thread unsigned inside __attribute__((tls_model("initial-exec"))) = 0;

[[noreturn]] void* pay_for_ever(void* /*nothing*/) {
  os::name_this_kernel_thread("weft futex");
  owing.serve([] { return false; });
  base::panic("the payer of futex wake-ups ended");
}

// --- waiting ---

int wait_in_kernel(const futex_word& word, std::uint32_t expected, const futex_wait_options& how) noexcept {
  thread_bucket& b = bucket_at(&word);
  b.enter_kernel();
  const int result =
      os::futex_wait_bits(&word, expected, how.bits, {how.until, how.clock == CLOCK_REALTIME}, false);
  b.leave_kernel();
  return result;
}

std::int64_t left_until(const futex_wait_options& how) noexcept {
  std::timespec now{};
  ::clock_gettime(how.clock, &now);
  return os::ns_of(*how.until) - os::ns_of(now);
}

// One sleep; 0, or ETIMEDOUT by the monotonic clock.
int sleep_once(thread_place& p, const futex_wait_options& how) {
  if (how.until == nullptr) {
    p.sleep.wait(); // SWITCH: may resume on another worker
    return 0;
  }
  const std::int64_t left = left_until(how);
  const sched::deadline now = os::now_ns();
  const sched::deadline until = left <= 0                             ? 0
                                : now > sched::no_deadline - 1 - left ? sched::no_deadline - 1
                                                                      : now + left;
  return p.sleep.wait(until) == wait_result::notified ? 0 : ETIMEDOUT; // SWITCH: may resume on another worker
}

// One wait in the queue; what stands in it when this ends is out of it.
int wait_in_queue(const futex_word& word, std::uint32_t expected, const futex_wait_options& how) noexcept {
  thread_place p(&word, how.bits);
  p.sleep.why = {how.kind, 0, &word};
  if (const int why_not = bucket_at(&word).enter(p, word, expected, how.call_off))
    return why_not;
  try {
    const int result = sleep_once(p, how);
    if (result != 0)
      thread_bucket::leave(p);
    return result;
  } catch (const std::system_error& e) {
    thread_bucket::leave(p);
    return e.code() == std::errc::operation_not_permitted ? EPERM : ENOMEM;
  } catch (const std::bad_alloc&) {
    thread_bucket::leave(p);
    return ENOMEM;
  }
}

bool is_moment(const std::timespec* until) noexcept {
  return until == nullptr || os::is_valid(*until);
}

// Kernel threads and threads take turns at being first, so that neither starves while the others come again.
bool kernel_threads_first() noexcept {
  static constinit base::atomic<std::uint32_t> turn{0};
  return turn.fetch_add_relaxed(1) % 2 == 0; // relaxed: nothing hangs on it
}

unsigned wake_at(const void* address, unsigned most, std::uint32_t bits,
                 thread_bucket::company there) noexcept {
  thread_bucket& b = bucket_at(address);
  if (!there.kernel_threads)
    return there.threads ? b.wake(address, most, bits) : 0;
  if (!there.threads)
    return os::futex_wake_bits(address, most, bits, false);
  if (kernel_threads_first()) {
    const unsigned woken = os::futex_wake_bits(address, most, bits, false);
    return woken + (woken < most ? b.wake(address, most - woken, bits) : 0);
  }
  const unsigned woken = b.wake(address, most, bits);
  return woken + (woken < most ? os::futex_wake_bits(address, most - woken, bits, false) : 0);
}

// Of a preemptible thread in user mode: what a handler has interrupted there holds no lock of the runtime.
// Into the runtime and back without a switch, as the handler of ticks would: a tick that comes meanwhile is
// remembered.
bool wake_from_user_mode(const void* address, unsigned most, thread_bucket::company there,
                         unsigned& woken) noexcept {
  sched::worker_face& face = sched::here();
  if (!sched::is_in_user_mode(face))
    return false;
  sched::user_mode& thread = sched::user_mode::behind(face);
  if (thread.is_entering())
    return false;
  thread.enter_runtime();
  woken = wake_at(address, most, any_futex_bit, there);
  thread.return_to_user_mode();
  thread.heed_soon();
  return true;
}

bool is_foreign() noexcept {
  return sched::here().attention.any_relaxed(sched::not_a_worker);
}

} // namespace

foreign_section::foreign_section() noexcept : depth_(is_foreign() ? &inside : nullptr) {
  if (depth_ == nullptr)
    return;
  ++*depth_;
  base::backend::compiler_fence(); // nothing of the scope comes before
}

foreign_section::~foreign_section() {
  if (depth_ == nullptr)
    return;
  base::backend::compiler_fence(); // or after
  --*depth_;
}

int futex_wait(const futex_word& word, std::uint32_t expected, const futex_wait_options& how) noexcept {
  const sched::runtime_section in;
  if (how.bits == 0 || !is_moment(how.until))
    return EINVAL;
  if (!sched::on_worker())
    return wait_in_kernel(word, expected, how);
  for (;;) {
    const int result = wait_in_queue(word, expected, how); // SWITCH: may resume on another worker
    // The clock may have been set back, or go slower than the one that timers go by.
    if (result != ETIMEDOUT || left_until(how) <= 0)
      return result;
  }
}

unsigned futex_wake(const void* address, unsigned most, std::uint32_t bits) noexcept {
  const thread_bucket::company there = bucket_at(address).look(); // (F2)
  if (!there.threads && !there.kernel_threads)
    return 0;
  const sched::runtime_section in;
  const foreign_section outside;
  return wake_at(address, most, bits, there);
}

unsigned futex_wake_anywhere(const void* address, unsigned most) noexcept {
  thread_bucket& b = bucket_at(address);
  const thread_bucket::company there = b.look(); // (F2)
  if (!there.threads)
    return there.kernel_threads ? os::futex_wake_bits(address, most, any_futex_bit, false) : 0;
  unsigned woken = 0;
  if (wake_from_user_mode(address, most, there, woken))
    return woken;
  if (is_foreign() && inside == 0) {
    const foreign_section outside;
    return wake_at(address, most, any_futex_bit, there);
  }
  if (there.kernel_threads)
    woken = os::futex_wake_bits(address, most, any_futex_bit, false);
  b.owe(address, owing);
  owing.ring();
  return woken;
}

futex_moved futex_requeue(const futex_word& word, const std::uint32_t* expected, unsigned most_woken,
                          const void* to, unsigned most_moved) noexcept {
  const sched::runtime_section in;
  const foreign_section outside;
  thread_bucket& b = bucket_at(&word);
  const thread_bucket::company there = b.look(); // (F2)
  const thread_bucket::moved m = b.requeue(word, expected, most_woken, bucket_at(to), to, most_moved);
  futex_moved result{m.error, m.woken, m.requeued};
  const std::uint64_t more = std::uint64_t{most_woken - m.woken} + (most_moved - m.requeued);
  if (m.error == 0 && there.kernel_threads && more != 0)
    result.woken += os::futex_wake_bits(
        &word, static_cast<unsigned>(std::min<std::uint64_t>(more, all_futex_waiters)), any_futex_bit, false);
  return result;
}

int prepare_futex_wakes_in_handlers() noexcept {
  if (payer_runs.load_acquire() != 0 || payer_runs.exchange_acq_rel(1) != 0)
    return 0; // it runs, or is about to
  os::kernel_thread payer;
  const int error = os::start_with_signals_blocked(payer, &pay_for_ever, nullptr, stack_of_payer);
  if (error == 0)
    payer.detach();
  else
    payer_runs.store_release(0);
  return error;
}

void forget_futex_waiters_after_fork() noexcept {
  static_cast<void>(owing.take_all());
  std::for_each(std::begin(futex_table), std::end(futex_table), [](thread_bucket& b) { b.forget(); });
  payer_runs.store_release(0); // it is the parent's
  inside = 0;
}

bool futex_table_valid() noexcept {
  return std::all_of(std::begin(futex_table), std::end(futex_table),
                     [](thread_bucket& b) { return b.valid(); });
}

bool futex_table_empty() noexcept {
  return std::all_of(std::begin(futex_table), std::end(futex_table),
                     [](thread_bucket& b) { return b.empty(); });
}

} // namespace weft::sync
