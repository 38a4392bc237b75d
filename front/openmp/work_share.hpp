// SPDX-License-Identifier: MIT
// Work shares: loops, sections, single, scope. Each thread of a team comes to the same ones in the same
// order, but at its own time. So they are a chain: who comes first to the next one makes it and links it by
// one compare-and-swap, complete; others find it. No thread waits for another one, and any number may be open
// (nowait). Who is the last to go on from one to the next frees it.
#pragma once

#include "front/openmp/icv.hpp"
#include "front/openmp/thread.hpp"
#include "weft/door/atomic.hpp"

#include <cstdint>
#include <memory>

namespace weft::openmp {

struct task_group;

/// The iterations of a loop, as numbers from 0: value = first + number * step, in the arithmetic of 64 bits
/// without overflow, which is that of `long` and of `unsigned long long`.
struct iteration_space {
  std::uint64_t first = 0;
  std::uint64_t step = 1;
  std::uint64_t end = 0; // as the program wrote it
  std::uint64_t count = 0;

  static iteration_space of(long start, long end, long step) noexcept;
  static iteration_space of(bool up, unsigned long long start, unsigned long long end,
                            unsigned long long step) noexcept;
  [[nodiscard]] std::uint64_t value(std::uint64_t number) const noexcept {
    return number == count ? end : first + number * step;
  }
};

/// Chunks of iterations, as numbers [low, high).
struct chunk {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// What a thread waits for in a loop whose iterations wait for earlier ones: ordered(n) with depend(sink).
struct doacross {
  unsigned dimensions = 1;
  std::uint64_t inner = 1;                               // iterations of the loops inside the outermost one
  std::unique_ptr<std::uint64_t[]> counts;               // of each dimension
  std::unique_ptr<door::atomic<std::uint64_t>[]> posted; // of each outermost iteration: how far it has come

  [[nodiscard]] std::uint64_t flat(const std::uint64_t* numbers) const noexcept;
};

/// *Ownership*: who makes it, until it is linked; then all threads of the team, by the atomics.
struct work_share {
  door::atomic<work_share*> next{nullptr};
  door::atomic<unsigned> passed{0}; // threads that have gone on from it

  iteration_space space;
  schedule kind = schedule::dynamic;
  std::uint64_t chunk_size = 1; // 0: none was given
  std::uint64_t multiple = 1;   // that chunks have a multiple of, but for the last: simd
  bool is_ordered = false;      // for an ABI that does not say it again with each chunk
  alignas(64) door::atomic<std::uint64_t> taken{0};
  alignas(64) door::atomic<std::uint64_t> ordered_until{0}; // iterations whose turn is over
  void* copied = nullptr;                                   // copyprivate
  std::shared_ptr<openmp::doacross> across;
  std::unique_ptr<std::byte[]> memory; // that the program asked for, zeros
  std::uintptr_t* reductions = nullptr;

  /// A new life for one that nobody knows.
  void renew() noexcept;
};

/// Enters the next work share. `prepare(work_share&)` completes a new one; it may be called in vain, if
/// another thread is faster. True: the caller's was linked. *Contexts*: as caller(), in a team of any size.
template <class Prepare>
bool enter_share(thread& t, Prepare prepare);

/// Memory for one: the thread's own spare ones first.
work_share& take_share(thread& t);
void give_share(thread& t, work_share& s) noexcept;

/// The thread has no more to do with its share, and goes on to `next`; null: it leaves the region.
void leave_share(thread& t, work_share* next) noexcept;

/// The next chunk for the caller; false: there is none. *Contexts*: as caller(). *Switches*: never, but for
/// take_ordered(). *Errors*: none.
bool take_static(thread& t, chunk& c) noexcept;
bool take_dynamic(work_share& s, chunk& c) noexcept;
bool take_guided(work_share& s, unsigned threads, chunk& c) noexcept;
bool take(thread& t, chunk& c) noexcept;
/// The same where iterations have an order: ends the turn of the chunk before. *Switches*: may.
bool take_ordered(thread& t, chunk& c);
/// Waits for the turn of the chunk that the caller has. *Switches*: may.
void await_turn(thread& t);

/// The same for a construct `ordered`, which a tool hears of; and its end, only if tool::is_on.
void begin_ordered(thread& t);
void end_ordered(thread& t);

void start_doacross(work_share& s, unsigned dimensions, const std::uint64_t* counts);
void post_doacross(thread& t, const doacross& d, const std::uint64_t* numbers);
/// *Switches*: may.
void await_doacross(thread& t, const doacross& d, const std::uint64_t* numbers);

// --- what is inlined ---

template <class Prepare>
bool enter_share(thread& t, Prepare prepare) {
  work_share& last = *t.at.share;
  work_share* next = last.next.load_acquire(); // pairs with the release below
  bool first = false;
  if (next == nullptr) {
    work_share& mine = take_share(t);
    prepare(mine);
    // acq_rel: publishes what prepare() has written; who fails reads what another one has
    first = last.next.cas_strong_acq_rel(next, &mine);
    if (first) {
      next = &mine;
    } else {
      give_share(t, mine);
    }
  }
  leave_share(t, next);
  t.at.trip = 0;
  t.at.has_chunk = false;
  return first;
}

} // namespace weft::openmp
