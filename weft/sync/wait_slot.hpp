// SPDX-License-Identifier: MIT
// One slot of the table in which those who wait for a mutex stand, found by the address of the mutex (what
// WebKit calls a parking lot). So a mutex is one word, and whoever releases it never touches it afterwards:
// the next owner may destroy it at once. The argument: weft/sync/README.md.
#pragma once

#include "weft/base/spin_lock.hpp"
#include "weft/queue/intrusive_fifo.hpp"
#include "weft/sync/mutex_word.hpp"

#include <cstddef>
#include <mutex>
#include <optional>

namespace weft::sync {

/// Times a waiter is woken and finds the mutex taken again before it is offered the mutex. Barging keeps a
/// contended mutex busy while the woken thread is on its way; three lost races bound what that costs the
/// loser.
inline constexpr std::size_t hand_off_after = base::backend::scaled(3, 1);

/// Releases without a waiter before a slot goes back to 0. Each way there and back costs a heavy fence (up to
/// 8 microseconds); each release until then an uncontended spin lock (some 5 ns).
inline constexpr std::size_t linger = base::backend::scaled(64, 1);

/// Queues by address, one lock for all of them.
/// `Waiter` is one sleep: default constructible, `notify()` wakes it (false: it has given up by itself).
/// *Ownership*: `lock_` guards all but `state_`, and every field of the `place`s that are in the slot. A
/// place lies in the frame of its waiter, from enqueue to acquisition or giving up, and keeps its turn
/// meanwhile. *Invariants*: each address has one leader, its oldest waiter, in `leaders_`; the leader's
/// `members` holds all places of that address in order of arrival, itself in front. Every place in the slot
/// is counted in `state_`. *Ordering*: (M1) to (M5).
template <class Waiter, class Fences = slot_fences>
class alignas(64) wait_slot {
 public:
  slot_state<Fences> state;

  /// Waits for the word: true when the caller has it. `wait(Waiter&)` sleeps; false: not notified, give up.
  /// What it throws passes, unless the mutex is there for the caller by then; nothing is left behind. The
  /// word then reads `mark`, for debuggers.
  template <class Wait>
  bool acquire(mutex_word& word, std::uint32_t mark, Wait wait) {
    state.announce(); // (M3)
    place here(word, mark);
    {
      const std::scoped_lock held(lock_);
      enqueue(here);
    }
    // (M4) after the announcement and after standing in the queue
    while (!take_word(word, mark)) {
      try {
        if (!wait(*here.sleep)) {
          return give_up(here);
        }
      } catch (...) {
        if (give_up(here)) {
          return true;
        }
        throw;
      }
      const std::scoped_lock held(lock_);
      if (accept(here)) {
        leave_locked(here);
        return true;
      }
      ++here.losses; // unless the next try succeeds
      here.woken = false;
      here.sleep.emplace();
    }
    const std::scoped_lock held(lock_);
    leave_locked(here);
    return true;
  }

  /// Releases when the state was not quiet: offers the word to the oldest waiter, or frees it, and wakes that
  /// one. GONE: the mutex, if nobody waits for it.
  void release(mutex_word& word) noexcept {
    if (state.symmetric() && !state.anybody()) {
      if (state.release_symmetrically(word)) {
        look_again(&word);
      }
      return;
    }
    const std::scoped_lock held(lock_);
    place* const first = find(&word);
    const bool offer = first != nullptr && first->losses >= hand_off_after;
    // release: publishes the section; pairs with (M1)
    word.store_release(offer ? first->mark - 1 : word_free);
    first != nullptr ? wake(*first) : calm();
  }

  /// Wakes the oldest waiter at an address whose mutex has been released. There may be none, or another mutex
  /// by now; its waiter then looks in vain, once.
  void look_again(const mutex_word* key) noexcept {
    const std::scoped_lock held(lock_);
    place* const first = find(key);
    first != nullptr ? wake(*first) : calm();
  }

  /// In the child of fork(), where no waiter is left.
  void forget() noexcept {
    leaders_ = nullptr;
    vain_looks_ = 0;
    state.forget();
    static_cast<void>(lock_.try_lock()); // it may be held by a kernel thread that is not there any more
    lock_.unlock();
  }

  /// Checks the invariants, in O(waiters).
  [[nodiscard]] bool valid() noexcept {
    const std::scoped_lock held(lock_);
    for (place* p = leaders_; p != nullptr; p = p->next_leader) {
      if (p->members.front() != &p->link || !p->members.valid() ||
          (p->next_leader && p->next_leader->previous_leader != p)) {
        return false;
      }
    }
    return leaders_ == nullptr || state.anybody();
  }

 private:
  struct place {
    place(mutex_word& w, std::uint32_t m) : key(&w), mark(m) { sleep.emplace(); }

    queue::link link; // in the leader's members; first, for from()
    mutex_word* key;
    const std::uint32_t mark;
    std::optional<Waiter> sleep;
    queue::intrusive_fifo members; // used by a leader
    place* next_leader = nullptr;
    place* previous_leader = nullptr;
    bool leads = false;
    bool woken = false; // at most one wake is on its way
    std::size_t losses = 0;

    static place& from(queue::link* l) noexcept { return *reinterpret_cast<place*>(l); }
  };

  [[nodiscard]] place* find(const mutex_word* key) const noexcept {
    place* p = leaders_;
    while (p != nullptr && p->key != key) {
      p = p->next_leader;
    }
    return p;
  }

  void enqueue(place& p) noexcept {
    if (place* const leader = find(p.key)) {
      leader->members.push_back(&p.link);
    } else {
      p.members.push_back(&p.link);
      lead(p);
    }
  }

  void lead(place& p) noexcept {
    p.leads = true;
    p.previous_leader = nullptr;
    p.next_leader = leaders_;
    if (leaders_ != nullptr) {
      leaders_->previous_leader = &p;
    }
    leaders_ = &p;
  }

  void leave_locked(place& p) noexcept {
    p.members.remove(&p.link); // from whichever list holds it
    if (p.leads) {
      (p.previous_leader != nullptr ? p.previous_leader->next_leader : leaders_) = p.next_leader;
      if (p.next_leader != nullptr) {
        p.next_leader->previous_leader = p.previous_leader;
      }
      if (queue::link* const second = p.members.front()) {
        place& heir = place::from(second);
        heir.members.splice_back(p.members);
        lead(heir);
      }
    }
    state.withdraw();
  }

  /// (M6) What is offered is the leader's, as long as nobody has taken it. *Invariant*: while a word is
  /// offered, its leader has been woken.
  static bool accept(place& p) noexcept {
    std::uint32_t seen = p.key->load_relaxed(); // relaxed: it is offered, to whomever, under lock_ only
    return p.leads && is_offered(seen) && p.key->cas_strong_acquire(seen, p.mark); // (M1)
  }

  /// (M5) Whoever leaves without the mutex may have been woken for it: somebody else must be then.
  bool give_up(place& p) noexcept {
    const std::scoped_lock held(lock_);
    const bool accepted = accept(p);
    leave_locked(p);
    if (accepted) {
      return true;
    }
    place* const first = find(p.key);
    // relaxed: who freed the word either did so before taking lock_, or will look again after us
    if (first != nullptr && p.key->load_relaxed() == word_free) {
      wake(*first);
    }
    return false;
  }

  /// The waiter cannot go away: it needs lock_ to leave. If it has given up by itself, it passes the wake on
  /// (M5).
  static void wake(place& p) noexcept {
    if (!p.woken) {
      p.woken = true;
      p.sleep->notify();
    }
  }

  void calm() noexcept {
    if (++vain_looks_ >= linger) {
      vain_looks_ = 0;
      state.calm();
    }
  }

  base::spin_lock lock_;
  std::size_t vain_looks_ = 0;
  place* leaders_ = nullptr;
};

} // namespace weft::sync
