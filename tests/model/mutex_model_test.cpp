// SPDX-License-Identifier: MIT
// The shipped protocol of stored_release_mutex under the checker: mutual exclusion, no lost wake-up, no touch
// of a mutex that its next owner has destroyed; and each fence, taken away, is missed. Labels:
// weft/sync/README.md.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "tests/model/waiter.hpp"
#include "weft/sync/wait_slot.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace weft {
namespace {

using model::bounds;
using model::check;
using model::expect_fails;
using model::expect_passes;

/// The mark of everybody here: odd, and an offer of it differs from a free word.
constexpr std::uint32_t mark = 5;

/// stored_release_mutex with its slot given.
template <class Slot>
class mutex_in {
 public:
  explicit mutex_in(Slot& slot) : slot_(&slot) {}

  void lock() {
    const std::uint32_t displaced = sync::exchange_word(word_, mark);
    if (displaced == sync::word_free) {
      return;
    }
    if (sync::is_offered(displaced)) {
      slot_->release(word_);
    }
    slot_->acquire(word_, mark, [](model::waiter& w) { return w.wait(false); });
  }
  bool lock_for_a_while() {
    return sync::take_word(word_, mark) ||
           slot_->acquire(word_, mark, [](model::waiter& w) { return w.wait(true); });
  }
  bool try_lock() { return sync::try_word(word_, mark); }
  void unlock() {
    Slot& slot = *slot_;
    const sync::mutex_word* const key = &word_;
    bool look = false;
    if (!slot.state.release_quietly(word_, look)) {
      slot.release(word_);
    } else if (look) {
      slot.look_again(key);
    }
  }

 private:
  sync::mutex_word word_{sync::word_free};
  Slot* slot_;
};

template <class Fences = sync::slot_fences>
struct fixture {
  using slot_type = sync::wait_slot<model::waiter, Fences>;
  using mutex = mutex_in<slot_type>;

  void add() {
    m.lock();
    ++count;
    m.unlock();
  }

  slot_type slot;
  mutex m{slot};
  mutex neighbour{slot};
  model::var<int> count = 0;
};

template <class Fences = sync::slot_fences>
void counting(int threads, int rounds, bool symmetric = false) {
  fixture<Fences> f;
  if (symmetric) {
    f.slot.state.set_symmetric();
  }
  const auto body = [&] {
    for (int i = 0; i < rounds; ++i) {
      model::leaving_nothing([&] { f.add(); });
    }
  };
  {
    model::thread a(body);
    if (threads == 3) {
      model::thread b(body);
      body();
    } else {
      body();
    }
  }
  check(f.count == threads * rounds, "lost an update");
  check(f.slot.valid() && !f.slot.state.anybody(), "somebody is left in the slot");
}

TEST(mutex_model, two_threads) {
  expect_passes(model::exhaustively(), [] { counting(2, 1); });
}
TEST(mutex_model, two_threads_twice) {
  expect_passes(model::exhaustively(), [] { counting(2, 2); });
}
TEST(mutex_model, three_threads) {
  expect_passes(bounds(3, 2), [] { counting(3, 1); });
}
TEST(mutex_model, three_threads_twice) {
  expect_passes(bounds(2, 1), [] { counting(3, 2); });
}
TEST(mutex_model, two_threads_with_symmetric_fences) {
  expect_passes(model::exhaustively(), [] { counting(2, 2, true); });
}

/// Who gives up passes on what he was woken for.
TEST(mutex_model, a_waiter_that_gives_up_forgets_nobody) {
  expect_passes(bounds(3, 2), [] {
    fixture<> f;
    f.m.lock();
    {
      model::thread impatient([&] {
        if (f.m.lock_for_a_while()) {
          ++f.count;
          f.m.unlock();
        }
      });
      model::thread patient([&] { f.add(); });
      f.m.unlock();
    }
    check(f.slot.valid() && !f.slot.state.anybody(), "somebody is left in the slot");
  });
}

/// The owner lets a waiter lose until it is offered the mutex; a third one meanwhile tries, waits, or waits
/// for a while.
template <class Third>
void offered(Third third) {
  fixture<> f;
  f.m.lock();
  {
    model::thread waiter([&] { f.add(); });
    model::thread other([&] { third(f); });
    for (int i = 0; i < 2; ++i) {
      ++f.count;
      f.m.unlock();
      f.m.lock();
    }
    f.m.unlock();
  }
  check(f.count >= 3, "lost an update");
  check(f.m.try_lock(), "nobody's, and not to be had");
  f.m.unlock();
  check(f.slot.valid() && !f.slot.state.anybody(), "somebody is left in the slot");
}
TEST(mutex_model, one_that_tries_takes_what_is_offered) {
  expect_passes(bounds(2, 2), [] {
    offered([](fixture<>& f) {
      if (f.m.try_lock()) {
        ++f.count;
        f.m.unlock();
      }
    });
  });
}
TEST(mutex_model, one_that_waits_leaves_what_is_offered) {
  expect_passes(bounds(2, 2), [] { offered([](fixture<>& f) { f.add(); }); });
}
TEST(mutex_model, one_to_whom_it_is_offered_gives_up) {
  expect_passes(bounds(2, 2), [] {
    offered([](fixture<>& f) {
      if (f.m.lock_for_a_while()) {
        ++f.count;
        f.m.unlock();
      }
    });
  });
}

/// The announcement of one mutex must not stand for the fence of another.
TEST(mutex_model, two_mutexes_in_one_slot) {
  expect_passes(bounds(3, 2), [] {
    fixture<> f;
    {
      model::thread a([&] { f.add(); });
      model::thread b([&] {
        f.neighbour.lock();
        f.neighbour.unlock();
      });
      f.neighbour.lock();
      f.add();
      f.neighbour.unlock();
    }
    check(f.count == 2, "lost an update");
  });
}

/// The last user destroys it. The checker reports a touch of the freed word.
TEST(mutex_model, the_next_owner_may_destroy_it) {
  expect_passes(model::exhaustively(), [] {
    using slot_type = fixture<>::slot_type;
    struct object {
      explicit object(slot_type& slot) : m(slot) {}
      mutex_in<slot_type> m;
      model::var<int> users = 2;
    };
    slot_type slot;
    auto* const shared = new object(slot);
    const auto leave = [shared] {
      shared->m.lock();
      const bool last = --shared->users == 0;
      shared->m.unlock();
      if (last) {
        delete shared;
      }
    };
    model::thread other(leave);
    leave();
  });
}

// --- mutations ---

struct without_heavy : sync::slot_fences {
  static void waiter() noexcept {}
};
struct heavy_weakened : sync::slot_fences {
  static void waiter() noexcept { base::full_fence(); }
};

TEST(mutex_mutation, heavy_fence_removed) {
  expect_fails(bounds(3, 3), "deadlock", [] { counting<without_heavy>(2, 1); });
}
TEST(mutex_mutation, heavy_fence_weakened_to_a_full_one) {
  expect_fails(bounds(3, 3), "deadlock", [] { counting<heavy_weakened>(2, 1); });
}

// --- every order that is not needed is known ---

// What heavy fences are where membarrier is missing.
struct full_on_both_sides : sync::slot_fences {
  static void waiter() noexcept { base::full_fence(); }
};

TEST(mutex_model, two_threads_with_full_fences) {
  expect_passes(bounds(3, 2), [] { counting<full_on_both_sides>(2, 2, true); });
}

TEST(mutex_weakened, slot_and_word) {
  model::expect_every_weakening_is_found(
      {{model::exactly(3, 3), [] { counting(2, 1); }},
       {model::exactly(3, 2), [] { counting(2, 2); }},
       {model::exactly(3, 2), [] { counting<full_on_both_sides>(2, 2, true); }}},
      {{"mutex_word.hpp: slot_state::announce: rmw -> acquire", "nothing but the word is to be published"},
       {"mutex_word.hpp: slot_state::announce: rmw -> release",
        "who meets the fenced bit took the lock of the slot, or the fence acted on him too: heavy fences act "
        "on all threads"},
       {"mutex_word.hpp: slot_state::announce: rmw -> acquire (2)",
        "as above: heavy fences act on all threads"},
       {"mutex_word.hpp: slot_state::announce: rmw -> release (2)",
        "as above: heavy fences act on all threads"},
       {"mutex_word.hpp: slot_state::calm: cas -> acquire",
        "the compare-and-swap meets the announcements in one location, and wait_slot holds its lock"},
       {"mutex_word.hpp: slot_state::calm: cas -> release",
        "the compare-and-swap meets the announcements in one location, and wait_slot holds its lock"},
       {"wait_slot.hpp: wait_slot::accept: cas -> relaxed",
        "who made the offer held the lock that the caller holds"}});
}

} // namespace
} // namespace weft
