// SPDX-License-Identifier: MIT
// A work-stealing deque of pointers: the owner works at the bottom, thieves take from the top. Whoever of
// the two is rarer pays for the fence between them. The argument, steps (Q1) to (Q6): weft/queue/README.md.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/os/own_heap.hpp"
#include "weft/queue/deque_tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace weft::queue {

/// *Ownership*: one owner calls push_bottom, try_push_bottom, pop_bottom, pop_bottom_if, steal_top_by_owner,
/// set_payer, valid; it may move to another kernel thread if that happens after (a lock, a join). Anyone
/// calls steal, size, empty. `bottom_` is written by the owner; `top_` by anyone, always by compare-and-swap;
/// the rest of the second line is the owner's. *Invariants*: positions are multiples of `step`. top_ =
/// position of the oldest item | thief_pays_bit; its position never goes back; top position <= bottom_ +
/// step, and <= bottom_ outside a pop; bottom_ - top position <= capacity; thief_pays_bit of top_ == (payer_
/// == thief) at all times. Slots in [top, bottom) hold the items, oldest first. *Ordering*: (Q1) item
/// hand-over, (Q2) owner's pop against thief's look, (Q3) the last item, (Q4) slot reuse, (Q5) growth, (Q6)
/// change of payer. Source: Chase and Lev, SPAA 2005; orders after Le, Pop, Cohen, Zappa Nardelli, PPoPP
/// 2013. Different: the payer in top_; membarrier on the thief's side; every store of bottom_ is a release,
/// because C++20 no longer lets a relaxed store continue the release sequence of an earlier one.
template <class T, class Fences = deque_fences>
class chase_lev_deque {
  using position = std::int64_t;
  using slot = base::atomic<T*>;

 public:
  /// Allocates the first array. *Errors*: std::bad_alloc.
  chase_lev_deque() : chase_lev_deque(deque_tuning::initial_capacity) {}

  /// `capacity`: slots to begin with, a power of two, at least 2.
  explicit chase_lev_deque(std::size_t capacity) {
    slot_room room = make_room(capacity);
    if (room == nullptr) {
      throw std::bad_alloc();
    }
    install(std::make_unique<ring>(capacity, std::move(room)));
  }

  chase_lev_deque(const chase_lev_deque&) = delete;
  chase_lev_deque& operator=(const chase_lev_deque&) = delete;

  /// Adds an item (not null) as the youngest. *Contexts*: the owner. *Switches*: never. *Errors*:
  /// std::bad_alloc when the array has to grow and cannot; the deque is then unchanged.
  void push_bottom(T* item) {
    const position b = bottom_.load_relaxed(); // relaxed: only the owner writes it
    if (b >= limit_) [[unlikely]] {
      return push_slowly(item);
    }
    put(b, item);
  }

  /// The same; false if the array has to grow and cannot. *Errors*: none.
  [[nodiscard]] bool try_push_bottom(T* item) noexcept {
    const position b = bottom_.load_relaxed(); // relaxed: only the owner writes it
    if (b >= limit_) [[unlikely]] {
      return try_push_slowly(item);
    }
    put(b, item);
    return true;
  }

  /// Takes the youngest item; null if there is none. *Contexts*: the owner. *Switches*: never. *Errors*:
  /// none.
  T* pop_bottom() noexcept {
    const position b = bottom_.load_relaxed() - step;
    if (out_of_credit()) [[unlikely]] {
      return pop_item_slowly(b);
    }
    const position t = lower_bottom_lightly(b);
    if (b <= t) [[unlikely]] {
      return claim_last_item(b, t);
    }
    return at(b).load_relaxed();
  }

  /// Takes the youngest item if it is `expected`; false, and nothing changed, if it is not or has been
  /// stolen. For the join of a fork that is in order. *Contexts*: the owner. *Switches*: never. *Errors*:
  /// none.
  bool pop_bottom_if(const T* expected) noexcept {
    const position b = bottom_.load_relaxed() - step;
    // A slot below an empty deque holds what was there last: claiming it then fails.
    if (at(b).load_relaxed() != expected) [[unlikely]] {
      return false;
    }
    if (out_of_credit()) [[unlikely]] {
      return pop_slowly(b);
    }
    const position t = lower_bottom_lightly(b);
    return b > t ? true : claim_last(b, t);
  }

  /// The owner takes the oldest item, as a thief would but without a fence, since it knows bottom_; null if
  /// there is none. For yield, which has to let the others go first. *Contexts*: the owner. *Switches*:
  /// never.
  T* steal_top_by_owner() noexcept {
    position t = top_.load_relaxed(); // relaxed: the compare-and-swap decides
    while (bottom_.load_relaxed() > t) {
      T* const item = at(t).load_relaxed();
      // acq_rel: one winner for each position (Q3)
      if (top_.cas_weak_acq_rel(t, t + step)) [[likely]] {
        window_top_ += step; // not a theft
        return item;
      }
    }
    return nullptr;
  }

  /// Takes the oldest item. *Contexts*: thread, tasklet, foreign kernel thread. *Switches*: never.
  /// *Errors*: none.
  steal_result<T> steal() noexcept {
    // acquire: as in the paper; pairs with the compare-and-swaps on top_ (Q3). The fence below would do
    // alone.
    position t = top_.load_acquire();
    // RACY: a look without fence, so that an empty deque costs no membarrier; a push that it misses was not
    // ordered before this call, and a parker orders it by its own heavy fence.
    if (bottom_.load_relaxed() <= t) {
      return {nullptr, steal_status::empty};
    }
    if ((t & thief_pays_bit) != 0) {
      Fences::thief_heavy(); // pairs with owner_light() in lower_bottom_lightly() (Q2)
    } else {
      Fences::thief_full(); // pairs with owner_full() in wins_slowly() (Q2)
    }
    const position b = bottom_.load_acquire(); // acquire: the item and its slot; pairs with put() (Q1)
    if (b <= t) {
      futile_.fetch_add_relaxed(1); // statistics
      return {nullptr, steal_status::empty};
    }
    const ring* const array = ring_.load_acquire(); // acquire: the copied slots; pairs with install() (Q5)
    T* const item = array->at(t).load_relaxed();    // relaxed: ordered by bottom_ (Q1)
    // acq_rel: one winner for each position, none across a change of payer (Q3, Q6); the slot has been read
    // before the owner sees the new top (Q4)
    if (!top_.cas_strong_acq_rel(t, t + step)) {
      futile_.fetch_add_relaxed(1); // statistics
      return {nullptr, steal_status::lost_race};
    }
    return {item, steal_status::taken};
  }

  /// Number of items. Exact for an owner without thieves, RACY for the others. *Contexts*: any. *Switches*:
  /// never.
  std::size_t size() const noexcept {
    const position items = bottom_.load_relaxed() - position_of(top_.load_relaxed());
    return items > 0 ? static_cast<std::size_t>(items / step) : 0;
  }

  /// RACY as size(). *Contexts*: any. *Switches*: never.
  bool empty() const noexcept { return bottom_.load_relaxed() <= top_.load_relaxed(); }

  /// Slots before the next growth. *Contexts*: the owner.
  std::size_t capacity() const noexcept { return static_cast<std::size_t>(capacity_in_steps() / step); }

  /// Who pays now. *Contexts*: the owner.
  fence_payer payer() const noexcept { return payer_; }

  /// Makes one side pay, until the steal rate says otherwise. Every steal in flight fails (Q6). Ignored if
  /// thieves cannot pay on this system. *Contexts*: the owner. *Switches*: never. *Errors*: none.
  [[gnu::noinline]] void set_payer(fence_payer payer) noexcept {
    if (payer != payer_ && (payer == fence_payer::owner || Fences::asymmetric())) {
      position t = top_.load_relaxed();
      // acq_rel: any steal that read the old bit fails its compare-and-swap (Q6)
      while (!top_.cas_weak_acq_rel(t, t ^ thief_pays_bit)) {
      }
      payer_ = payer;
    }
    start_window();
  }

  /// Checks the invariants that hold between two calls of the owner, also while thieves work.
  bool valid() const noexcept {
    const position t = top_.load_relaxed();
    const position b = bottom_.load_relaxed();
    bool good = (b & thief_pays_bit) == 0 && position_of(t) <= b && b - position_of(t) <= capacity_in_steps();
    good = good && ((t & thief_pays_bit) != 0) == (payer_ == fence_payer::thief);
    good = good && credit_ <= deque_tuning::thief_pays_window && slots_ == current_->slots.get() &&
           ring_.load_relaxed() == current_.get();
    for (position i = position_of(t); good && i < b; i += step) {
      good = at(i).load_relaxed() != nullptr;
    }
    return good;
  }

 private:
  static constexpr position thief_pays_bit = 1;
  static constexpr position step = 2;

  /// A circular array. Retired ones live until the deque ends: a thief may still read them (Q5); together
  /// they are smaller than the current one.
  /// From the heap that threads which are preempted cannot hold a lock of: arrays grow in the runtime.
  struct room_deleter {
    std::size_t capacity = 0;
    void operator()(slot* room) const noexcept { os::own_free(room, capacity * sizeof(slot)); }
  };
  using slot_room = std::unique_ptr<slot[], room_deleter>;
  [[gnu::noinline, gnu::cold]] static slot_room make_room(std::size_t capacity) noexcept {
    void* const room = os::own_allocate(capacity * sizeof(slot));
    if (room == nullptr) {
      return slot_room(nullptr, room_deleter{});
    }
    auto* const slots = static_cast<slot*>(room);
    std::uninitialized_value_construct_n(slots, capacity);
    return slot_room(slots, room_deleter{capacity});
  }

  struct ring : os::on_own_heap {
    ring(std::size_t capacity, slot_room room) noexcept
        : mask(static_cast<position>(capacity) * step - step), slots(std::move(room)) {}

    slot& at(position i) const noexcept { return slot_at(slots.get(), mask, i); }

    const position mask;
    const slot_room slots;
    std::unique_ptr<ring> older;
  };

  /// Positions count in twos; scaling by half a slot saves the shift in every push and pop.
  static slot& slot_at(slot* slots, position mask, position i) noexcept {
    auto* const bytes = reinterpret_cast<std::byte*>(slots);
    return *reinterpret_cast<slot*>(bytes + (i & mask) * static_cast<position>(sizeof(slot) / step));
  }

  static position position_of(position top) noexcept { return top & ~thief_pays_bit; }
  slot& at(position i) const noexcept { return slot_at(slots_, mask_, i); }
  position capacity_in_steps() const noexcept { return mask_ + step; }

  void put(position b, T* item) noexcept {
    at(b).store_relaxed(item); // relaxed: ordered by the next line
    // release: item and slot; pairs with the acquire of bottom_ in steal() (Q1)
    bottom_.store_release(b + step);
  }

  /// Counts a pop while thieves pay; true once a window, and always while the owner pays. Unsigned and cast,
  /// so that both compilers test the sign of one subtraction in memory: two instructions.
  bool out_of_credit() noexcept { return static_cast<std::int32_t>(credit_ -= 1) < 0; }

  /// Announces the claim of position b while thieves pay; what top_ was then.
  position lower_bottom_lightly(position b) noexcept {
    bottom_.store_release(b);   // release: still publishes the slots below; pairs with steal() (Q1)
    Fences::owner_light();      // pairs with thief_heavy() in steal() (Q2)
    return top_.load_relaxed(); // relaxed: (Q2) makes it recent enough; wins_last() decides the rest by CAS
  }

  /// Position b is the last one, or the deque is empty: announcing is not enough. True if b is now the
  /// owner's.
  bool wins_last(position b, position t) noexcept {
    bool won = false;
    if (b == position_of(t)) {
      won = top_.cas_strong_acq_rel(t, t + step); // acq_rel: one winner for each position (Q3)
      window_top_ += won ? step : 0;
    }
    // relaxed: bottom_ == top_ now, there is nothing below it to publish; a thief that gets past its look
    // with this value has an old top and loses its compare-and-swap (Q3)
    bottom_.store_relaxed(b + step);
    return won;
  }

  // Out of line and called last, so that the pops that call them need no stack frame.
  [[gnu::noinline]] bool claim_last(position b, position t) noexcept { return wins_last(b, t); }
  [[gnu::noinline]] T* claim_last_item(position b, position t) noexcept {
    return wins_last(b, t) ? at(b).load_relaxed() : nullptr;
  }
  [[gnu::noinline]] bool pop_slowly(position b) noexcept { return wins_slowly(b); }
  [[gnu::noinline]] T* pop_item_slowly(position b) noexcept {
    return wins_slowly(b) ? at(b).load_relaxed() : nullptr;
  }

  /// The pop of an owner that pays, and of one whose window of free pops is over.
  bool wins_slowly(position b) noexcept {
    credit_ = 0;
    // RACY but right: top_ only grows, so what looks empty to the owner is. Pollers pay no fence and do not
    // count.
    if (b < position_of(top_.load_relaxed())) {
      return false;
    }
    if (payer_ == fence_payer::thief) [[unlikely]] {
      end_window(deque_tuning::thief_pays_window);
    } else if (++pops_ == deque_tuning::owner_pays_window) {
      end_window(deque_tuning::owner_pays_window);
    }
    position t;
    if (payer_ == fence_payer::thief) {
      t = lower_bottom_lightly(b);
    } else {
      bottom_.store_release(b); // release: as in lower_bottom_lightly() (Q1)
      Fences::owner_full();     // pairs with thief_full() and thief_heavy() in steal() (Q2)
      t = top_.load_relaxed();
    }
    return b > t ? true : wins_last(b, t);
  }

  [[gnu::noinline]] void push_slowly(T* item) {
    if (!try_push_slowly(item)) {
      throw std::bad_alloc();
    }
  }

  [[gnu::noinline]] bool try_push_slowly(T* item) noexcept {
    const position b = bottom_.load_relaxed();
    // acquire: thieves have read the slots below it, which may now be reused; pairs with steal() (Q4)
    const position t = position_of(top_.load_acquire());
    if (payer_ == fence_payer::thief && too_many_thefts(deque_tuning::thief_pays_window)) {
      end_window(deque_tuning::thief_pays_window);
    }
    if (b - t >= capacity_in_steps() && !grow(t, b)) {
      return false;
    }
    limit_ = std::min(t + capacity_in_steps(), b + deque_tuning::pushes_per_look * step);
    put(b, item);
    return true;
  }

  [[gnu::noinline, gnu::cold]] bool grow(position t, position b) noexcept {
    const std::size_t wanted = capacity() * 2;
    slot_room room = make_room(wanted);
    if (room == nullptr) {
      return false;
    }
    std::unique_ptr<ring> bigger(new (std::nothrow) ring(wanted, std::move(room)));
    if (bigger == nullptr) {
      return false;
    }
    for (position i = t; i < b; i += step) {
      bigger->at(i).store_relaxed(at(i).load_relaxed()); // relaxed: ordered by install() (Q5)
    }
    bigger->older = std::move(current_);
    install(std::move(bigger));
    return true;
  }

  void install(std::unique_ptr<ring> array) noexcept {
    current_ = std::move(array);
    mask_ = current_->mask;
    slots_ = current_->slots.get();
    limit_ = position_of(top_.load_relaxed()) + capacity_in_steps();
    ring_.store_release(current_.get()); // release: the copied slots; pairs with the acquire in steal() (Q5)
  }

  /// Those that failed behind a fence cost as much.
  position thefts() const noexcept {
    const std::uint32_t futile = futile_.load_relaxed() - window_futile_;
    return (position_of(top_.load_relaxed()) - window_top_) / step + static_cast<position>(futile);
  }

  bool too_many_thefts(position pops) const noexcept {
    return thefts() * deque_tuning::pops_per_steal_to_owner > pops;
  }

  /// Decides who pays from now on.
  void end_window(position pops) noexcept {
    if (payer_ == fence_payer::thief) {
      set_payer(too_many_thefts(pops) ? fence_payer::owner : fence_payer::thief);
    } else {
      const bool rare = thefts() * deque_tuning::pops_per_steal_to_thief < pops;
      set_payer(rare ? fence_payer::thief : fence_payer::owner);
    }
  }

  void start_window() noexcept {
    window_top_ = position_of(top_.load_relaxed());
    window_futile_ = futile_.load_relaxed();
    credit_ = payer_ == fence_payer::thief ? deque_tuning::thief_pays_window : 0;
    pops_ = 0;
  }

  // 128: adjacent lines are fetched in pairs.
  // What thieves read and write.
  alignas(128) base::atomic<position> top_ = Fences::asymmetric() ? thief_pays_bit : 0;
  base::atomic<std::uint32_t> futile_ = 0; ///< steals that paid for a fence and took nothing
  base::atomic<ring*> ring_ = nullptr;

  // What the owner writes; thieves read bottom_ alone.
  alignas(128) base::atomic<position> bottom_ = 0;
  position limit_ = 0; ///< push_bottom() below it needs no look at top_: slots are free up to here
  position mask_ = 0;  ///< of current_
  slot* slots_ = nullptr;
  fence_payer payer_ = top_.load_relaxed() == thief_pays_bit ? fence_payer::thief : fence_payer::owner;
  /// Pops before the next slow one; 0 while the owner pays. One test in pop_bottom() asks for the mode and
  /// counts.
  std::uint32_t credit_ = payer_ == fence_payer::thief ? deque_tuning::thief_pays_window : 0;
  std::uint32_t pops_ = 0; ///< in this window, while the owner pays
  std::uint32_t window_futile_ = 0;
  position window_top_ =
      0; ///< position of top_ at the start of the window, plus what the owner itself took there
  std::unique_ptr<ring> current_;
};

} // namespace weft::queue
