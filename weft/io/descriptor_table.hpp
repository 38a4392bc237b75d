// SPDX-License-Identifier: MIT
// What is known of each open descriptor, for the whole process: who waits for it, how often it has been
// closed, where it is registered.
//
// A wait must not miss an edge. Who waits reads the number of edges seen so far (D1), tries the call, and is
// put into the queue only if the number is still the same (D2), under the lock under which an edge counts and
// wakes (D3). An edge wakes one; who was woken and found something wakes the next (`pass_on`), for one edge
// may stand for more than one can take.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/io/limit.hpp"
#include "weft/io/request.hpp"
#include "weft/sync/wait_queue.hpp"

#include <cstdint>

namespace weft::io {

/// One descriptor number. *Ownership*: `lock_` guards the queues, `registered_` and the steps of the counts.
/// *Invariant*: who is in a queue waits for the descriptor of the current generation.
class descriptor_record {
 public:
  /// A number for each descriptor that had this number; it changes when one is closed or made here.
  [[nodiscard]] std::uint32_t generation() const noexcept { return generation_.load_acquire(); }
  [[nodiscard]] std::uint32_t edges(direction d) const noexcept { // (D1) acquire: before the try
    return of(d).edges.load_acquire();
  }

  /// Suspends the caller until there is an edge, unless there was one since `seen` was read. *Errors*: as an
  /// errno: ETIMEDOUT, ECANCELED (a stop was requested), EBADF (closed meanwhile), ENOMEM. *Switches*: may.
  [[nodiscard]] int wait(direction d, std::uint32_t seen, std::uint32_t generation, const limit& how_long,
                         bool& was_woken, const unit::wait_record& why = {}) noexcept;
  [[nodiscard]] bool has_waiters() const noexcept { // RACY
    return !sides_[0].waiters.looks_empty() || !sides_[1].waiters.looks_empty() ||
           !sides_[2].waiters.looks_empty();
  }
  /// Somebody who was woken did not need all there was.
  void pass_on(direction d) noexcept;
  /// As an edge of each direction would, for nothing that has come.
  void wake_all() noexcept;

  /// (D3) The descriptor of this generation became ready. `ends`: what is in there may end or be urgent, so a
  /// short read does not mean that it is empty.
  void edge(bool in, bool out, bool ends, std::uint32_t generation) noexcept;

  /// A read found less than it asked for, after `seen` edges: until the next one there is nothing, and a try
  /// is a system call for nothing. Only TCP sockets tell so (epoll(7), question 9): pipes and Unix sockets
  /// may stop at the end of a message.
  void found_drained(int descriptor, std::uint32_t seen) noexcept;
  [[nodiscard]] bool is_drained(std::uint32_t seen) const noexcept {
    return drained_.load_relaxed() ==
           (drained_mark | seen); // relaxed: whoever set it read the edges as we did
  }

  /// It is about to be closed, or was closed unseen and its number is new here (`is_ours`: it will be closed
  /// here too): those who wait for it end with EBADF.
  void begin_generation(bool is_ours) noexcept;

  /// Where it is registered: a number of the source, 0 for nowhere. Only what is closed here is known to be
  /// registered still.
  [[nodiscard]] std::uint32_t registered() const noexcept { return registered_.load_acquire(); }
  [[nodiscard]] bool is_ours() const noexcept { return ours_.load_relaxed(); }
  /// It may be closed elsewhere from now on. SIGNAL-SAFE.
  void disown() noexcept { ours_.store_relaxed(false); }
  void set_registered(std::uint32_t source, std::uint32_t generation) noexcept;

  [[nodiscard]] hints known() const noexcept {
    // Of one that may be closed behind our back, nothing is certain.
    const bool ours = ours_.load_relaxed();
    return {ours && no_socket_.load_relaxed(), ours && nonblocking_.load_relaxed()};
  }
  void learn(const hints& h) noexcept {
    no_socket_.store_relaxed(h.no_socket);
    nonblocking_.store_relaxed(h.nonblocking);
  }

 private:
  struct side {
    void count() noexcept { edges.store_release(edges.load_relaxed() + 1); } // (D3); under `lock_`
    base::atomic<std::uint32_t> edges{0};
    sync::wait_queue waiters;
  };
  [[nodiscard]] const side& of(direction d) const noexcept { return sides_[static_cast<unsigned>(d)]; }
  [[nodiscard]] side& of(direction d) noexcept { return sides_[static_cast<unsigned>(d)]; }

  static constexpr std::uint64_t drained_mark = std::uint64_t{1} << 32;
  enum class short_reads : std::uint8_t { unknown, drain, tell_nothing };

  base::spin_lock lock_;
  base::atomic<short_reads> short_reads_{short_reads::unknown};
  base::atomic<std::uint64_t> drained_{0}; // the mark and the edges at that time
  base::atomic<std::uint32_t> generation_{0};
  base::atomic<std::uint32_t> registered_{0};
  base::atomic<bool> ours_{false};
  base::atomic<bool> nonblocking_{false};
  base::atomic<bool> no_socket_{false};
  side sides_[3];
};

/// What a thread that has tried in vain waits for.
struct edge_wait {
  const int descriptor;
  descriptor_record& record;
  const direction way;
  const std::uint32_t seen;       // edges, before the try
  const std::uint32_t generation; // that it waits for
  const unit::wait_record& shown; // to debuggers
  bool was_woken = false;
};

/// The record of a descriptor number; null: the number is negative, or there is no memory. Records are made
/// at the first use and never freed. *Contexts*: all but signal handlers. *Switches*: never.
[[nodiscard]] descriptor_record* record_of(int descriptor) noexcept;
/// The same; null also if there is none yet.
[[nodiscard]] descriptor_record* known_record_of(int descriptor) noexcept;

/// disown() of all from `first` to `last`. SIGNAL-SAFE.
void disown_records(unsigned first, unsigned last) noexcept;

/// Whether anybody waits for any descriptor in wait(). RACY while threads run; looks at all records.
[[nodiscard]] bool anybody_waits() noexcept;

/// In the child of fork(): nobody waits, nothing is registered.
void forget_descriptors() noexcept;

} // namespace weft::io
