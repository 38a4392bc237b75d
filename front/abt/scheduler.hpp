// SPDX-License-Identifier: MIT
// Schedulers of the C API. The four predefined ones pick (weft::scheduler::next) and so let the stream sleep
// and take its fast paths; a user's `run` is a loop, a ULT of its own that stands for the loop of the stream.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "front/abt/abt.h"
#include "front/abt/object.hpp"
#include "front/abt/pool.hpp"
#include "weft/pool.hpp"

namespace weft::abt {

struct xstream;

enum request : std::uint32_t {
  finish_requested = 1,  // stop once the pools are empty and nobody is blocked
  exit_requested = 2,    // stop now
  replace_requested = 4, // stop now: another scheduler takes the stream
};

enum class use : std::uint8_t { none, main, in_pool };

// Ownership: whoever created it, or if it is automatic whoever uses it. `requests` and `used`: anyone.
struct scheduler : object {
  static constexpr kind own_kind = kind::sched;
  scheduler() noexcept : object(own_kind) {}
  ~scheduler();

  ABT_sched_predef predefined = ABT_SCHED_BASIC; // if there is no `definition.run`
  ABT_sched_def definition{};
  std::vector<std::shared_ptr<pool>> pools;
  bool automatic = false;
  void* data = nullptr;
  std::uint64_t event_frequency = 50;
  std::atomic<use> used{use::none};
  std::atomic<std::uint32_t> requests{0};
  std::uint64_t seed = 0;
  bool initialised = false; // the user's init has succeeded

  [[nodiscard]] bool loops() const noexcept { return definition.run != nullptr; }
  // The unit that a predefined scheduler runs next, or null.
  descriptor* pick(worker& w);
  [[nodiscard]] bool has_user_pools() const noexcept;
  // Whether no unit can come back to it: nothing in its pools, and nobody blocked who lives in one that is
  // only its own.
  [[nodiscard]] bool has_no_work() const;
  [[nodiscard]] bool has_to_stop() const;
};

// Errors: failure, std::bad_alloc.
// Pools: those of the list, with new ones where it is null; the scheduler's usual ones if there is no list.
owner<scheduler> make_predefined(ABT_sched_predef predef, int count, ABT_pool* handles, bool automatic);
// Before a scheduler goes that could not be put to use: the pools of the caller's list stay, automatic or
// not.
void give_back_pools(scheduler& s, int count, const ABT_pool* handles) noexcept;

// Takes it for this use; false: it is in use.
bool take(scheduler& s, use how) noexcept;
// Frees it: the user's free first, then its automatic pools.
void destroy_scheduler(scheduler& s) noexcept;

// What a stream's worker is given for `s`. Errors: std::bad_alloc.
std::shared_ptr<weft::scheduler> core_scheduler_for(scheduler& s, xstream& es);

// The same for the streams whose main scheduler has this pool.
void wake_users_of(const pool& p) noexcept;
// Makes whoever runs `s` look at its requests.
void wake_user_of(const scheduler& s) noexcept;

// The loop of a predefined scheduler that was pushed into a pool.
void run_predefined(scheduler& s);

// ABT_xstream_check_events from the loop of `s`.
void check_events(scheduler& s);

} // namespace weft::abt
