// SPDX-License-Identifier: MIT
// Where any kernel thread leaves links for one owner, who takes them all at once in the order of arrival.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/queue/intrusive_fifo.hpp"
#include "weft/queue/link.hpp"

namespace weft::queue {

/// Many producers, one consumer, unbounded, no allocation.
/// *Ownership*: `youngest_` is anybody's; a link belongs to its producer until push() succeeds, then to the
/// owner.
/// *Invariants*: `youngest_` heads a null-terminated chain through `next`, youngest first.
/// *Ordering*: (IN1) the release in push() pairs with the acquire in take_into(): the owner sees the link's
/// words and all that the producer wrote before it. Argument: weft/queue/README.md. No ABA: links leave
/// only all together, and take_into() does not compare.
/// Source: Treiber 1986, with the whole stack taken by one exchange.
class mpsc_inbox {
 public:
  mpsc_inbox() noexcept = default;
  mpsc_inbox(const mpsc_inbox&) = delete;
  mpsc_inbox& operator=(const mpsc_inbox&) = delete;

  /// Leaves one link; true if the inbox was empty, so that exactly one of a burst of producers needs to
  /// wake the owner. *Contexts*: thread, tasklet, foreign kernel thread, signal handler. *Switches*: never.
  /// *Errors*: none.
  bool push(link* item) noexcept {
    link* seen = youngest_.load_relaxed(); // RACY: only the guess of the compare-and-swap
    do {
      item->next = seen;
      // release: publishes the link; pairs with the acquire in take_into() (IN1). A chain below it was
      // published by other producers: the read-modify-write continues their release sequences.
    } while (!youngest_.cas_weak_release(seen, item));
    return seen == nullptr;
    // GONE: the owner may already have taken and freed *item
  }

  /// Whether nothing waits: one load. RACY for everyone: a push may land at once; the owner's parking
  /// protocol looks again after its fence. *Contexts*: any. *Switches*: never.
  bool empty() const noexcept { return youngest_.load_relaxed() == nullptr; }

  /// Appends all that has arrived to `list`, oldest first; false if there was nothing. *Contexts*: the
  /// owner only.
  /// *Switches*: never. *Errors*: none.
  template <class Size>
  bool take_into(linked_fifo<Size>& list) noexcept {
    if (empty()) {
      return false;
    }
    // acquire: sees each producer's writes; pairs with the release in push() (IN1)
    list.append_reversed(youngest_.exchange_acquire(nullptr));
    return true;
  }

 private:
  base::atomic<link*> youngest_ = nullptr;
};

} // namespace weft::queue
