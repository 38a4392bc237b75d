// SPDX-License-Identifier: MIT
// Proof of the checker itself: known litmus tests, the broken ones must be found and the right ones must
// pass.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "weft/base/atomic.hpp"
#include "weft/base/spin_lock.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <tuple>

namespace weft {
namespace {

using base::atomic;
using model::check;

void expect_passes(const std::function<void()>& body, model::options how = {}) {
  model::expect_passes(how, body);
}

void expect_fails(const char* reason, const std::function<void()>& body, model::options how = {}) {
  model::expect_fails(how, reason, body);
}

/// Store buffering: each side stores, fences, loads the other's location; not both may miss.
template <class FenceA, class FenceB>
void store_buffering(FenceA fence_a, FenceB fence_b) {
  atomic<int> x = 0;
  atomic<int> y = 0;
  int seen_y = -1;
  int seen_x = -1;
  {
    model::thread a([&] {
      x.store_relaxed(1);
      fence_a();
      seen_y = y.load_relaxed();
    });
    model::thread b([&] {
      y.store_relaxed(1);
      fence_b();
      seen_x = x.load_relaxed();
    });
  }
  check(seen_x == 1 || seen_y == 1, "both missed");
}

const auto none = [] {};
const auto light = [] { base::unsafe_light_fence(); };
const auto full = [] { base::full_fence(); };

TEST(store_buffering, relaxed_is_found) {
  expect_fails("both missed", [] { store_buffering(none, none); });
}
TEST(store_buffering, full_fences_pass) {
  expect_passes([] { store_buffering(full, full); });
}
TEST(store_buffering, one_full_fence_is_found) {
  expect_fails("both missed", [] { store_buffering(full, none); });
}
TEST(store_buffering, acquire_release_fences_are_found) {
  const auto both = [] { base::release_fence(), base::acquire_fence(); };
  expect_fails("both missed", [=] { store_buffering(both, both); });
}
TEST(store_buffering, light_and_heavy_pass) {
  expect_passes([] { store_buffering(light, base::heavy_fence); });
}
TEST(store_buffering, heavy_and_heavy_pass) {
  expect_passes([] { store_buffering(base::heavy_fence, base::heavy_fence); });
}
TEST(store_buffering, light_and_light_is_found) {
  expect_fails("both missed", [] { store_buffering(light, light); });
}
TEST(store_buffering, light_and_full_is_found) {
  expect_fails("both missed", [] { store_buffering(light, full); });
}
TEST(store_buffering, random_walk_finds_relaxed) {
  model::options how;
  how.random_executions = 2000;
  how.seed = 42;
  expect_fails("both missed", [] { store_buffering(none, none); }, how);
}

TEST(store_buffering, sequentially_consistent_operations_pass) {
  expect_passes([] {
    atomic<int> x = 0;
    atomic<int> y = 0;
    int seen_y = -1;
    model::thread a([&] {
      x.store_seq_cst(1);
      seen_y = y.load_seq_cst();
    });
    y.store_seq_cst(1);
    const int seen_x = x.load_seq_cst();
    a.join();
    check(seen_x == 1 || seen_y == 1, "both missed");
  });
}

/// Message passing: what was written before the flag is there when the flag is.
template <class Publish, class Look>
void message_passing(Publish publish, Look look) {
  model::var<int> data = 0;
  atomic<int> flag = 0;
  model::thread writer([&] {
    data = 42;
    publish(flag);
  });
  if (look(flag) == 1) {
    check(data == 42, "flag without data");
  }
}

const auto publish_relaxed = [](atomic<int>& flag) { flag.store_relaxed(1); };
const auto publish_release = [](atomic<int>& flag) { flag.store_release(1); };
const auto look_relaxed = [](atomic<int>& flag) { return flag.load_relaxed(); };
const auto look_acquire = [](atomic<int>& flag) { return flag.load_acquire(); };

TEST(message_passing, relaxed_is_found) {
  expect_fails("data race", [] { message_passing(publish_relaxed, look_relaxed); });
}
TEST(message_passing, relaxed_writer_is_found) {
  expect_fails("data race", [] { message_passing(publish_relaxed, look_acquire); });
}
TEST(message_passing, relaxed_reader_is_found) {
  expect_fails("data race", [] { message_passing(publish_release, look_relaxed); });
}
TEST(message_passing, release_acquire_passes) {
  expect_passes([] { message_passing(publish_release, look_acquire); });
}
TEST(message_passing, fences_pass) {
  expect_passes([] {
    message_passing(
        [](atomic<int>& flag) {
          base::release_fence();
          flag.store_relaxed(1);
        },
        [](atomic<int>& flag) {
          const int seen = flag.load_relaxed();
          base::acquire_fence();
          return seen;
        });
  });
}
TEST(message_passing, a_relaxed_store_ends_the_release_sequence) {
  expect_fails("data race", [] {
    message_passing(
        [](atomic<int>& flag) {
          flag.store_release(2);
          flag.store_relaxed(1);
        },
        look_acquire);
  });
}
TEST(message_passing, a_read_modify_write_continues_the_release_sequence) {
  expect_passes([] {
    message_passing(
        [](atomic<int>& flag) {
          flag.store_release(2);
          flag.fetch_sub_relaxed(1);
        },
        look_acquire);
  });
}

TEST(message_passing, atomic_payload_may_be_stale) {
  expect_fails("stale", [] {
    atomic<int> data = 0;
    atomic<int> flag = 0;
    model::thread writer([&] {
      data.store_relaxed(42);
      flag.store_relaxed(1);
    });
    if (flag.load_relaxed() == 1) {
      check(data.load_relaxed() == 42, "stale");
    }
  });
}

TEST(coherence, a_location_never_goes_back) {
  expect_passes([] {
    atomic<int> x = 0;
    model::thread writer([&] {
      x.store_relaxed(1);
      x.store_relaxed(2);
    });
    const int first = x.load_relaxed();
    check(x.load_relaxed() >= first, "went back");
  });
}

/// Independent reads of independent writes: two readers may disagree unless both fence fully.
void independent_reads(bool fenced) {
  atomic<int> x = 0;
  atomic<int> y = 0;
  int seen[4] = {};
  {
    model::thread write_x([&] { x.store_release(1); });
    model::thread write_y([&] { y.store_release(1); });
    model::thread read_xy([&] {
      seen[0] = x.load_acquire();
      fenced ? base::full_fence() : void();
      seen[1] = y.load_acquire();
    });
    seen[2] = y.load_acquire();
    fenced ? base::full_fence() : void();
    seen[3] = x.load_acquire();
  }
  check(!(seen[0] == 1 && seen[1] == 0 && seen[2] == 1 && seen[3] == 0), "readers disagree");
}

TEST(independent_reads, acquire_alone_is_found) {
  expect_fails("readers disagree", [] { independent_reads(false); });
}
TEST(independent_reads, full_fences_pass) {
  expect_passes([] { independent_reads(true); });
}

/// Who has read a write writes on: who reads that must see the first write as well.
template <class Publish, class Look>
void write_to_read_causality(Publish publish, Look look) {
  atomic<int> x = 0;
  atomic<int> y = 0;
  model::thread writer([&] { x.store_relaxed(1); });
  model::thread between([&] {
    if (look(x) == 1) {
      publish(y);
    }
  });
  if (look(y) == 1) {
    check(x.load_relaxed() == 1, "cause missing");
  }
}

TEST(write_to_read_causality, relaxed_is_found) {
  expect_fails("cause missing", [] { write_to_read_causality(publish_relaxed, look_relaxed); });
}
TEST(write_to_read_causality, release_acquire_passes) {
  expect_passes([] { write_to_read_causality(publish_release, look_acquire); });
}

/// 2+2W: each writes both, in opposite order; both first writes may be the last ones in the end.
template <class Fence>
void two_and_two_writes(Fence fence) {
  atomic<int> x = 0;
  atomic<int> y = 0;
  {
    model::thread a([&] {
      x.store_relaxed(1);
      fence();
      y.store_relaxed(2);
    });
    y.store_relaxed(1);
    fence();
    x.store_relaxed(2);
  }
  check(!(x.load_relaxed() == 1 && y.load_relaxed() == 1), "both first writes last");
}

TEST(two_and_two_writes, relaxed_is_found) {
  expect_fails("both first writes last", [] { two_and_two_writes(none); });
}
TEST(two_and_two_writes, full_fences_pass) {
  expect_passes([] { two_and_two_writes(full); });
}

/// S: a write that was read happened, yet a write after the read may come before the one before it.
template <class Publish, class Look>
void write_after_read(Publish publish, Look look) {
  atomic<int> x = 0;
  atomic<int> y = 0;
  bool read = false;
  {
    model::thread a([&] {
      x.store_relaxed(2);
      publish(y);
    });
    if (look(y) == 1) {
      read = true;
      x.store_relaxed(1);
    }
  }
  check(!read || x.load_relaxed() == 1, "overwritten by an earlier write");
}

TEST(write_after_read, relaxed_is_found) {
  expect_fails("overwritten", [] { write_after_read(publish_relaxed, look_relaxed); });
}
TEST(write_after_read, release_acquire_passes) {
  expect_passes([] { write_after_read(publish_release, look_acquire); });
}

/// Load buffering is the one that is not explored: README.md says what follows. If this fails, the checker
/// has learned it.
TEST(load_buffering, is_not_explored) {
  expect_passes([] {
    atomic<int> x = 0;
    atomic<int> y = 0;
    int seen_x = 0;
    model::thread a([&] {
      seen_x = x.load_relaxed();
      y.store_relaxed(1);
    });
    const int seen_y = y.load_relaxed();
    x.store_relaxed(1);
    a.join();
    check(!(seen_x == 1 && seen_y == 1), "both saw what came later");
  });
}

/// A signal's handler runs between any two operations of the thread that it interrupts.
int between_two_stores = 0;
TEST(interrupts, come_anywhere) {
  std::set<int> outcomes;
  expect_passes([&] {
    static atomic<int> x = 0;
    between_two_stores = -1;
    x.store_relaxed(0);
    model::thread interrupter([] { model::interrupt(0, [] { between_two_stores = x.load_relaxed(); }); });
    x.store_relaxed(1);
    x.store_relaxed(2);
    x.load_relaxed();
    interrupter.join();
    outcomes.insert(between_two_stores);
  });
  EXPECT_EQ(outcomes, (std::set<int>{-1, 0, 1, 2}));
}

TEST(read_modify_write, counts) {
  expect_passes([] {
    atomic<int> x = 0;
    {
      model::thread a([&] { x.fetch_add_relaxed(1), x.fetch_add_relaxed(1); });
      model::thread b([&] { x.fetch_add_relaxed(1), x.fetch_add_relaxed(1); });
    }
    check(x.load_relaxed() == 4, "lost an update");
  });
}

TEST(read_modify_write, load_and_store_is_found) {
  expect_fails("lost an update", [] {
    atomic<int> x = 0;
    {
      model::thread a([&] { x.store_relaxed(x.load_relaxed() + 1); });
      model::thread b([&] { x.store_relaxed(x.load_relaxed() + 1); });
    }
    check(x.load_relaxed() == 2, "lost an update");
  });
}

TEST(read_modify_write, weak_compare_and_swap_may_fail_without_cause) {
  expect_fails("failed", [] {
    atomic<int> x = 0;
    int expected = 0;
    check(x.cas_weak_relaxed(expected, 1), "failed");
  });
}

TEST(exploration, reaches_every_outcome) {
  std::set<std::tuple<int, int>> outcomes;
  expect_passes([&] {
    atomic<int> x = 0;
    atomic<int> y = 0;
    int seen_y = -1;
    model::thread a([&] {
      x.store_relaxed(1);
      seen_y = y.load_relaxed();
    });
    y.store_relaxed(1);
    const int seen_x = x.load_relaxed();
    a.join();
    outcomes.insert({seen_x, seen_y});
  });
  EXPECT_EQ(outcomes.size(), 4U);
}

TEST(spin_lock, excludes) {
  expect_passes([] {
    base::spin_lock lock;
    model::var<int> count = 0;
    const auto add = [&] {
      const std::scoped_lock guard(lock);
      ++count;
    };
    {
      model::thread a(add);
      model::thread b(add);
    }
    check(count == 2, "lost an update");
  });
}

TEST(blocking, lock_order_deadlock_is_found) {
  expect_fails("livelock", [] {
    base::spin_lock first;
    base::spin_lock second;
    model::thread a([&] {
      const std::scoped_lock guard(first);
      second.lock();
      second.unlock();
    });
    const std::scoped_lock guard(second);
    first.lock();
    first.unlock();
  });
}

TEST(blocking, park_without_unpark_is_found) {
  expect_fails("deadlock", [] { model::thread a([] { model::park(); }); });
}

TEST(blocking, unpark_happens_before_park_returns) {
  expect_passes([] {
    model::var<int> data = 0;
    model::thread a([&] {
      model::park();
      check(data == 1, "no data");
    });
    data = 1;
    model::unpark(a.id());
  });
}

TEST(blocking, a_timed_park_may_time_out_or_not) {
  std::set<bool> outcomes;
  expect_passes([&] {
    model::thread a([&] { outcomes.insert(model::park_timed()); });
    model::unpark(a.id());
  });
  EXPECT_EQ(outcomes.size(), 2U);
}

/// The waiter blocks while the word is 0; the waker stores 1 and wakes.
void futex_handshake(bool store_first) {
  atomic<std::uint32_t> word = 0;
  model::thread waiter([&] {
    while (word.load_relaxed() == 0) {
      model::futex_wait(&word, 0, false);
    }
  });
  if (store_first) {
    word.store_relaxed(1);
    model::futex_wake(&word, 1);
  } else {
    model::futex_wake(&word, 1);
    word.store_relaxed(1);
  }
}

TEST(blocking, futex_handshake_passes) {
  expect_passes([] { futex_handshake(true); });
}
TEST(blocking, futex_wake_before_store_is_found) {
  expect_fails("deadlock", [] { futex_handshake(false); });
}

TEST(memory, use_after_free_is_found) {
  expect_fails("use after free", [] {
    auto* const x = new atomic<int>(0);
    model::thread a([=] { x->store_relaxed(1); });
    delete x;
  });
}

TEST(memory, unordered_construction_is_found) {
  expect_fails("constructor", [] {
    atomic<atomic<int>*> where = nullptr;
    model::thread a([&] { where.store_relaxed(new atomic<int>(7)); });
    if (atomic<int>* const found = where.load_relaxed()) {
      found->load_relaxed();
    }
  });
}

// The same where executions are merged: merging_model_test.cpp has the rest.
TEST(merging, broken_ones_fail) {
  model::expect_fails(model::exhaustively(), "both missed", [] { store_buffering(none, none); });
  model::expect_fails(model::exhaustively(), "both missed", [] { store_buffering(light, full); });
  model::expect_passes(model::exhaustively(), [] { store_buffering(full, full); });
  model::expect_passes(model::exhaustively(), [] { store_buffering(light, base::heavy_fence); });
  model::expect_fails(model::exhaustively(), "data race",
                      [] { message_passing(publish_release, look_relaxed); });
  model::expect_passes(model::exhaustively(), [] { message_passing(publish_release, look_acquire); });
}

} // namespace
} // namespace weft
