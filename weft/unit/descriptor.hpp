// SPDX-License-Identifier: MIT
// The descriptor of a unit: two cache lines, the first of which holds all that scheduling touches.
//
// Ownership. Who holds a unit is told by its state (state.hpp). The holder may read and write every field but
// `join` and `traits`, which anyone with a valid handle may change through their own operations. Invariant:
// `stack == nullptr` exactly while a thread has not started (the default technique gives it a stack when it
// does).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/arch/arch.hpp"
#include "weft/memory/stack_cache.hpp"
#include "weft/queue/intrusive_fifo.hpp"
#include "weft/unit/join_word.hpp"
#include "weft/unit/state.hpp"
#include "weft/unit/technique_id.hpp"

namespace weft::sched {
class pool;
}

namespace weft::unit {

struct extension;
struct descriptor;

// What a unit does. Static objects, one for each type of function.
struct operations {
  void (*run)(
      descriptor&); // finds its arguments in `closure`; destroys them; catches exit_request for tasklets
  void (*drop)(descriptor&);   // destroys the arguments of a unit that was cancelled before it started
  const void* name;            // an address whose symbol names the function, for messages; null: `run`
  const char* label = nullptr; // what to call it where a symbol says less, such as the type of a lambda
  // How a cancelled thread ends, on its own stack; does not return. Null: an exit_request unwinds it.
  void (*end)(descriptor&) = nullptr;
  // Frees what a detached unit leaves when it has ended, before its descriptor goes. Null: nothing.
  void (*discard)(descriptor&) = nullptr;
  // Where in the descriptor an address stands that overrides `name` for that unit; 0: nowhere. An offset, so
  // that debuggers can look.
  std::size_t name_at = 0;
};

// descriptor::traits: all that is out of the ordinary about a unit, in one word, so that the fast paths test
// it by one comparison with zero: a thread, default stack size, not asked for anything, no extension.
//
//   bits 0-7    kind
//   bits 8-15   flags, set at creation
//   bits 16-31  requests and marks, set and cleared by atomic operations
//   bits 32-63  stack size in bytes; 0: the default
enum trait : std::uint64_t {
  kind_thread = 0,    // has a stack of its own once it has started
  kind_tasklet = 1,   // runs on the worker's stack; may not wait
  kind_scheduler = 2, // a scheduler that was pushed into a pool
  kind_loop = 3,      // stands for the loop of a worker in worker::current
  kind_mask = 0xff,

  not_cancellable = 1 << 8, // the primary thread, schedulers
  ends_process = 2 << 8, // all that fork() left: its end is the end of the process, as of POSIX's last thread
  embedded = 4 << 8,     // the descriptor lives in its creator's frame: nobody frees it
  supplied_stack =
      8 << 8, // on memory of the user's: extension::stack. Its size is set, so that fast paths pass by

  technique_mask = 15 << 12, // a technique_id

  cancel_requested = 1 << 16,
  migration_requested = 1 << 17,
  resume_permit = 1 << 18, // resume() came before suspend()
  suspended = 1 << 19,     // in suspend()
  unwinding = 1 << 20,     // a cancelled thread unwinds: its destructors may wait
  extending = 1 << 21,     // somebody makes the extension
  extended = 1 << 22,      // it has one
  traced = 1 << 23,        // its end is to be recorded
  fronted = 1 << 24,       // a front (abt) keeps more of it: its end is not a plain one
  parent_left = 1 << 25,   // child first: the creator went on before this unit ended
  preemptible = 1 << 26,   // `operations` is a part of more (carrier/user_mode.hpp)
  pinned = 1 << 27,        // preempted with the kernel thread's TLS in use: it goes on where it was
  sched_yields = 1 << 28,  // cooperative, but its sched_yield() lets other threads run
  goes_first = 1 << 29,    // a front's pool puts it before the others when it is next pushed
  away = 1 << 30, // cooperative, and runs without a worker: its end is a slow one (carrier/leaving.hpp)

  // What a thread must not have to be switched from or to by a fast path.
  slow_mask = kind_mask | cancel_requested | migration_requested | ends_process,
};

// The pool of a unit. Its holder writes it; others read it as a hint of where to look (RACY: the pool then
// decides under its own rules). Relaxed, but where a unit changes pools: whoever sees the new one (H2) sees
// that the unit has left the old one (H1).
class pool_reference {
 public:
  pool_reference& operator=(sched::pool* p) noexcept {
    pointer_.store_relaxed(p);
    return *this;
  }
  pool_reference& operator=(const pool_reference& other) noexcept { return *this = other.get(); }
  // (H1) release: pairs with (H2).
  void publish(sched::pool* p) noexcept { pointer_.store_release(p); }
  // (H2) acquire: pairs with (H1).
  [[nodiscard]] sched::pool* get() const noexcept { return pointer_.load_acquire(); }
  [[nodiscard]] bool is(sched::pool* p) const noexcept { return pointer_.equals_acquire(p); } // (H2)
  explicit(false) operator sched::pool*() const noexcept { return get(); }
  sched::pool* operator->() const noexcept { return get(); }
  sched::pool& operator*() const noexcept { return *get(); }

 private:
  base::atomic<sched::pool*> pointer_;
};

struct alignas(64) descriptor {
  // --- what scheduling touches ---
  arch::context context; // valid while started and not running
  queue::link link;      // in a container of a pool, or null
  state_word state;
  std::int8_t level; // priority, -32 (first) .. 31; only priority pools look
  // The shared pool whose list holds it, by number, 0 if none: written under that pool's lock, so that
  // remove() may trust it there.
  base::atomic<std::uint16_t> container;
  // The worker whose loop started or continued it last, by number and plus one; 0: none did. RACY: for
  // display.
  base::atomic<std::uint32_t> last_worker;
  pool_reference own_pool; // where it goes when it becomes ready

  // --- what starting and ending touch ---
  join_word join;
  const unit::operations* operations;
  memory::stack_record* stack; // null: not started
  // Name, local storage, migration; null until first needed. Others may make it (extension.cpp).
  base::atomic<unit::extension*> extension;
  base::atomic<std::uint64_t> traits;
  alignas(8) std::byte closure[24];

  static descriptor& from(queue::link& l) noexcept {
    return *reinterpret_cast<descriptor*>(reinterpret_cast<char*>(&l) - offsetof(descriptor, link));
  }

  // Tells the CPU that the unit behind `l`, a link or the end of a list that is lent to a worker, is likely
  // to go on soon: the top of its stack is what it touches first. With thousands of threads that is a cache
  // miss each.
  [[gnu::always_inline]] static void prefetch(const queue::link* l) noexcept {
    if constexpr (offsetof(descriptor, link) <= sizeof(queue::guarded_fifo::nulls))
      __builtin_prefetch(
          *reinterpret_cast<void* const*>(reinterpret_cast<const char*>(l) - offsetof(descriptor, link)));
  }

  [[nodiscard]] bool has_started() const noexcept { return stack != nullptr; }
  // Never started and in no way special but for `expected`.
  [[nodiscard]] bool is_fresh_and(std::uint64_t expected) const noexcept {
    return state.is(unit::state::fresh) && traits.equals_relaxed(expected);
  }
  [[nodiscard]] std::uint64_t kind() const noexcept { return traits.load_relaxed() & kind_mask; }
  [[nodiscard]] bool has(std::uint64_t trait) const noexcept { return traits.any_relaxed(trait); }
  [[nodiscard]] unit::technique_id technique() const noexcept {
    return static_cast<unit::technique_id>((traits.load_relaxed() & technique_mask) >> 12);
  }
  // Nothing is out of the ordinary but the technique.
  [[nodiscard]] bool is_plain() const noexcept { return !has(~std::uint64_t{technique_mask}); }
  [[nodiscard]] std::size_t stack_size() const noexcept { return traits.load_relaxed() >> 32; }
};

static_assert(std::is_trivially_destructible_v<descriptor>);
static_assert(sizeof(arch::context) != 32 || sizeof(descriptor) == 128,
              "two cache lines where the context is four words");
static_assert(sizeof(arch::context) != 32 || offsetof(descriptor, join) == 64);
static_assert(offsetof(descriptor, context) == 0, "prefetch() and asm that takes a unit for its context");

inline constexpr std::int32_t first_level = -32;
inline constexpr std::int32_t last_level = 31;

[[nodiscard]] constexpr std::uint64_t technique_trait(technique_id t) noexcept {
  return std::uint64_t{static_cast<std::uint8_t>(t)} << 12;
}
[[nodiscard]] constexpr std::uint64_t stack_size_trait(std::uint32_t bytes) noexcept {
  return std::uint64_t{bytes} << 32;
}

// Fills a fresh or recycled descriptor. `stack` and `extension` are null already: memory from the system is,
// and an end leaves them so. The unit will start with the caller's FP control, as [cfenv] wants it.
[[gnu::always_inline]] inline void initialise(descriptor& u, const operations& o, sched::pool* own_pool,
                                              std::uint64_t traits) noexcept {
  // state (fresh), level (0), container and last worker (none), in one store: nobody else sees the unit yet.
  static_assert(offsetof(descriptor, own_pool) == offsetof(descriptor, state) + 8 &&
                static_cast<int>(state::fresh) == 0);
  __builtin_memset(static_cast<void*>(&u.state), 0, 8);
  u.own_pool = own_pool;
  u.join.reset();
  u.operations = &o;
  u.traits.store_relaxed(traits);
  arch::fp_control::keep_in(u.context);
}

} // namespace weft::unit
