// SPDX-License-Identifier: MIT
// The shipped primitives whose state stands under a spin lock and which offer what is released: a third one
// takes it from a waiter that has been woken, waiters give up meanwhile, and it is destroyed by whoever is
// left. Nothing that is released is lost, and nobody is forgotten.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "tests/model/runtime/seat.hpp"
#include "weft/sync/semaphore.hpp"
#include "weft/sync/shared_mutex.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stop_token>

namespace weft {
namespace {

using model::bounds;
using model::check;
using model::exactly;
using model::exhaustively;
using model::expect_every_weakening_is_found;
using model::expect_passes;
using model::runtime::actor;
using model::runtime::seat;
using model::runtime::who;

class offer_model : public testing::TestWithParam<who> {};
INSTANTIATE_TEST_SUITE_P(whoever, offer_model, testing::Values(who::foreign, who::threads),
                         [](const auto& info) { return info.param == who::foreign ? "foreign" : "threads"; });

// --- semaphore ---

struct guarded {
  sync::counting_semaphore<> s{0};
  model::var<int> count = 0;

  void use() {
    ++count; // a race, if there are two permits
    s.release();
  }
  void use_if(bool got) {
    if (got)
      use();
  }
  void expect_one_permit() {
    check(s.try_acquire(), "the permit is lost");
    check(!s.try_acquire(), "there are two permits");
  }
};

/// One waits, one tries and waits then, and who releases tries again at once.
void one_tries(who w) {
  model::runtime::begin();
  guarded g;
  {
    const actor waits(w, [&] {
      g.s.acquire();
      g.use();
    });
    const actor tries(who::foreign, [&] { g.use_if(g.s.try_acquire()); });
    g.s.release();
    g.use_if(g.s.try_acquire());
  }
  check(g.count >= 1, "the waiter did not have it");
  g.expect_one_permit();
}

/// Two wait; what was offered to the older one is taken again and again.
void two_wait(who w) {
  model::runtime::begin();
  guarded g;
  const auto wait = [&] {
    g.s.acquire();
    g.use();
  };
  {
    const actor a(w, wait);
    const actor b(w, wait);
    g.s.release();
    for (int i = 0; i < 2; ++i)
      g.use_if(g.s.try_acquire());
  }
  check(g.count >= 2, "a waiter did not have it");
  g.expect_one_permit();
}

/// The waiter is stopped at some moment, offered the permit or not.
void one_is_stopped(who w) {
  model::runtime::begin();
  guarded g;
  {
    std::stop_source source;
    const actor waits(w, [&, token = source.get_token()] { g.use_if(g.s.acquire(token)); });
    const actor stops(who::foreign, [&] { source.request_stop(); });
    g.s.release();
    g.use_if(g.s.try_acquire());
  }
  g.expect_one_permit();
}

/// Who tries destroys it, while release() is on its way out.
void destroyed_by_one_that_tries(who w) {
  model::runtime::begin();
  auto s = std::make_unique<sync::counting_semaphore<>>(0);
  const actor other(w, [raw = s.get()] { raw->release(); });
  while (!s->try_acquire())
    model::relax();
  s.reset();
}

/// The last of those who were let through destroys it.
void destroyed_by_one_of_two(who w) {
  model::runtime::begin();
  struct object {
    sync::counting_semaphore<> s{0};
    base::atomic<int> users{2};
  };
  auto* const shared = new object;
  const auto pass = [shared] {
    shared->s.acquire();
    if (shared->users.fetch_sub_acq_rel(1) == 1)
      delete shared;
  };
  const actor other(w, pass);
  shared->s.release(2);
  const seat mine(w == who::threads);
  pass();
}

TEST_P(offer_model, semaphore_one_tries) {
  expect_passes(bounds(3, 2), [w = GetParam()] { one_tries(w); });
}
TEST_P(offer_model, semaphore_two_wait) {
  expect_passes(bounds(2, 2), [w = GetParam()] { two_wait(w); });
}
TEST_P(offer_model, semaphore_one_is_stopped) {
  expect_passes(bounds(3, 2), [w = GetParam()] { one_is_stopped(w); });
}
TEST_P(offer_model, semaphore_destroyed_by_one_that_tries) {
  expect_passes(exhaustively(), [w = GetParam()] { destroyed_by_one_that_tries(w); });
}

TEST_P(offer_model, semaphore_destroyed_by_one_of_two) {
  expect_passes(exhaustively(), [w = GetParam()] { destroyed_by_one_of_two(w); });
}

// --- shared mutex ---

struct written {
  sync::shared_mutex m;
  model::var<int> value = 0;
  model::var<int> twice = 0;

  void write_locked() {
    ++value;
    twice += 2;
    m.unlock();
  }
  void read_locked() {
    check(twice == 2 * value, "a reader saw half a write");
    m.unlock_shared();
  }
  void write() {
    m.lock();
    write_locked();
  }
  void read() {
    m.lock_shared();
    read_locked();
  }
  void try_to_write() {
    if (m.try_lock())
      write_locked();
  }
  void try_to_read() {
    if (m.try_lock_shared())
      read_locked();
  }
  void expect_free() {
    check(m.try_lock(), "nobody holds it, and it is not free");
    m.unlock();
    check(m.try_lock_shared(), "nobody holds it, and it is not free");
    m.unlock_shared();
  }
};

/// What a writer, or a reader, leaves to two others is taken by who tries, as either.
template <class First, class Second>
void two_wait_and_one_tries(who w, First first, Second second, bool writes_first) {
  model::runtime::begin();
  written g;
  writes_first ? g.m.lock() : g.m.lock_shared();
  {
    const actor a(w, [&] { first(g); });
    const actor b(w, [&] { second(g); });
    writes_first ? g.write_locked() : g.read_locked();
    g.try_to_read();
    g.try_to_write();
  }
  g.expect_free();
}
const auto writes = [](written& g) { g.write(); };
const auto reads = [](written& g) { g.read(); };

void a_writer_is_stopped(who w) {
  model::runtime::begin();
  written g;
  g.m.lock_shared();
  {
    std::stop_source source;
    const actor writer(w, [&, token = source.get_token()] {
      if (g.m.lock(token))
        g.write_locked();
    });
    const actor reader(w, [&] { g.read(); });
    g.m.unlock_shared();
    g.try_to_read();
    source.request_stop();
    g.try_to_read();
  }
  g.expect_free();
}

TEST_P(offer_model, shared_mutex_two_writers) {
  for (const bool writes_first : {false, true})
    expect_passes(bounds(2, 1), [w = GetParam(), writes_first] {
      two_wait_and_one_tries(w, writes, writes, writes_first);
    });
}
TEST_P(offer_model, shared_mutex_a_writer_and_a_reader) {
  for (const bool writes_first : {false, true})
    expect_passes(bounds(2, 1),
                  [w = GetParam(), writes_first] { two_wait_and_one_tries(w, writes, reads, writes_first); });
}
TEST_P(offer_model, shared_mutex_two_readers) {
  expect_passes(bounds(2, 1), [w = GetParam()] { two_wait_and_one_tries(w, reads, reads, true); });
}
TEST_P(offer_model, shared_mutex_a_writer_is_stopped) {
  expect_passes(bounds(2, 1), [w = GetParam()] { a_writer_is_stopped(w); });
}

// --- every order that is not needed is known ---

// An offer is made and accepted under the lock of the primitive.
const std::initializer_list<model::excuse> the_lock_orders_it = {
    {"wait_word.hpp: wait_word::fall_asleep: cas -> release", "who falls asleep learns nothing"},
    {"wait_word.hpp: wait_word::decide: cas -> acquire", "who was woken takes the lock"},
    {"wait_word.hpp: wait_word::load: load -> relaxed", "the same"},
    {"waiter.hpp: waiter::part: rmw -> acquire", "nobody is on the way out when it is destroyed here"},
    {"waiter.hpp: waiter::part: rmw -> release", "the same"}};

TEST(offer_weakened, semaphore) {
  expect_every_weakening_is_found({{exactly(2, 1), [] { one_tries(who::threads); }},
                                   {exactly(2, 1), [] { one_tries(who::foreign); }},
                                   {exactly(1, 1), [] { one_is_stopped(who::threads); }}},
                                  the_lock_orders_it);
}
TEST(offer_weakened, shared_mutex) {
  expect_every_weakening_is_found(
      {{exactly(2, 1), [] { two_wait_and_one_tries(who::threads, writes, reads, true); }},
       {exactly(2, 1), [] { two_wait_and_one_tries(who::foreign, writes, writes, false); }},
       {exactly(1, 1), [] { a_writer_is_stopped(who::threads); }}},
      the_lock_orders_it);
}

} // namespace
} // namespace weft
