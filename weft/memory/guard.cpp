// SPDX-License-Identifier: MIT
#include "weft/memory/guard.hpp"

#include "weft/base/assert.hpp"
#include "weft/base/atomic.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/memory/stack_slab.hpp"
#include "weft/os/mapping.hpp"

#include <cerrno>

namespace weft::memory {
namespace {

// All relaxed: counters and once-flags that order nothing.
constinit base::atomic<std::size_t> protected_guards{0};
constinit base::atomic<std::size_t> mapping_limit_for_tests{0};
constinit base::atomic<bool> any_canary{false};
constinit base::atomic<bool> exhaustion_said{false};
constinit base::atomic<bool> wish_said{false};

// A guard splits the mapping it lies in: itself and the stack above it.
constexpr std::size_t mappings_per_guard = 2;

std::size_t guard_budget() noexcept {
  const std::size_t limit = mapping_limit_for_tests.load_relaxed();
  return (limit != 0 ? limit : os::max_map_count()) / 2 / mappings_per_guard;
}

bool protect_within_budget(void* at, std::size_t bytes) noexcept {
  if (protected_guards.fetch_add_relaxed(1) < guard_budget() &&
      os::protect(at, bytes, os::page_access::none) == 0) {
    return true;
  }
  protected_guards.fetch_sub_relaxed(1);
  if (!exhaustion_said.exchange_relaxed(true)) {
    base::warn(
        "stack guards by mprotect use half of vm.max_map_count (%lu); further stacks have a canary, which is"
        " checked when they are freed (raise the limit by sysctl, or use Linux 6.13)",
        static_cast<unsigned long>(os::max_map_count()));
  }
  return false;
}

bool advise_guard(void* at, std::size_t bytes) noexcept {
  const int error = os::install_guard(at, bytes);
  if (error == 0) {
    return true;
  }
  if (!exhaustion_said.exchange_relaxed(true)) {
    base::warn(
        "a stack guard could not be installed (errno %d); such stacks have a canary instead, which is checked"
        " when they are freed",
        error);
  }
  return false;
}

// Looks at all of what stands next to the stack, then at the top 16 of each `stride` bytes: it is done at
// each end of a thread.
template <std::size_t stride>
[[gnu::always_inline]] inline bool zone_is_zero(const stack_record& stack) noexcept {
  using words = std::uint64_t __attribute__((vector_size(16)));
  constexpr std::size_t whole = 256 / sizeof(words), step = stride / sizeof(words);
  constexpr std::size_t block = 16 * step; // a guard has whole pages of them
  const auto* const end = reinterpret_cast<const words*>(stack.low);
  const auto* const low = end - stack.slab->guard_bytes() / sizeof(words);
  words all{};
#pragma GCC unroll 16
  for (std::size_t i = 1; i <= whole; ++i)
    all |= *(end - i);
  for (const words* at = end; at != low; at -= block) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < block; i += step)
      all |= *(at - i - 1);
  }
  return (all[0] | all[1]) == 0;
}
constexpr std::size_t thorough = 64, quick = 256;

// Whether it was seen only now: each thread that handed the stack on was looked after quickly.
[[noreturn, gnu::cold, gnu::noinline]] void die_of_canary(const stack_record& stack) noexcept {
  if (zone_is_zero<quick>(stack))
    die_of_earlier_overflow(stack);
  die_of_overflow(stack);
}

} // namespace

guard_mode resolve_guard(guard_mode wanted, stack_pages pages) noexcept {
  if (pages == stack_pages::huge && wanted != guard_mode::none) {
    return guard_mode::canary;
  }
  if (wanted == guard_mode::automatic) {
    if (pages == stack_pages::transparent) {
      return guard_mode::canary;
    }
    return os::guards_supported() ? guard_mode::madvise : guard_mode::mprotect;
  }
  if (wanted == guard_mode::madvise && !os::guards_supported()) {
    if (!wish_said.exchange_relaxed(true)) {
      base::warn("WEFT_GUARD=madvise needs Linux 6.13; using mprotect");
    }
    return guard_mode::mprotect;
  }
  return wanted;
}

bool install_stack_guard(guard_mode mode, void* at, std::size_t bytes) noexcept {
  bool guarded = false;
  switch (mode) {
  case guard_mode::none:
    return true;
  case guard_mode::automatic:
  case guard_mode::madvise:
    guarded = advise_guard(at, bytes);
    break;
  case guard_mode::mprotect:
    guarded = protect_within_budget(at, bytes);
    break;
  case guard_mode::canary:
    break;
  }
  if (!guarded) {
    any_canary.store_relaxed(true);
  }
  return guarded;
}

void return_protected_guards(std::size_t count) noexcept {
  protected_guards.fetch_sub_relaxed(count);
}

bool canaries_in_use() noexcept {
  return any_canary.load_relaxed();
}

void verify_canary(const stack_record& stack) noexcept {
  if ((stack.flags & stack_has_canary) != 0 && !zone_is_zero<thorough>(stack)) [[unlikely]]
    die_of_canary(stack);
}

void glance_at_canary(const stack_record& stack) noexcept {
  if ((stack.flags & stack_has_canary) != 0 && !zone_is_zero<quick>(stack)) [[unlikely]]
    die_of_overflow(stack);
}

void set_mapping_limit_for_tests(std::size_t limit) noexcept {
  mapping_limit_for_tests.store_relaxed(limit);
}

std::size_t protected_guard_count() noexcept {
  return protected_guards.load_relaxed();
}

} // namespace weft::memory
