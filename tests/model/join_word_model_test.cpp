// SPDX-License-Identifier: MIT
// The end of a unit meets whoever waits for it (weft/unit/join_word.hpp): in all interleavings exactly one
// party frees the unit, a waiter is always woken, and what the unit did is seen by who joins it.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "weft/base/atomic.hpp"
#include "weft/unit/join_word.hpp"

namespace {

using weft::model::bounds;
using weft::model::expect_fails;
using weft::model::expect_passes;
using weft::unit::join_word;

// A descriptor is an address to the word; this is what stands there.
struct alignas(64) model_unit {
  join_word join;
  weft::model::var<int> result{0};
};

struct alignas(64) model_thread {
  weft::model::var<int> context{0};
  unsigned id = 0;
  weft::unit::descriptor& as_descriptor() { return *reinterpret_cast<weft::unit::descriptor*>(this); }
};

int read(weft::model::var<int>& v) {
  return v;
}

// As complete() in lifecycle.cpp. True: the unit was detached, so it is ours to free.
bool complete(model_unit& u) {
  const std::uintptr_t before = u.join.finish();
  if (before == join_word::none)
    return false;
  if (before == join_word::detached)
    return true;
  if ((before & 1) != 0) {
    reinterpret_cast<weft::unit::joiner*>(before - join_word::object_tag)->on_end();
  } else {
    auto* waiter = reinterpret_cast<model_thread*>(before);
    weft::model::check(read(waiter->context) == 7, "the waiter's context is complete"); // (J3), (J4)
    weft::model::unpark(waiter->id);
  }
  return false;
}

void run_unit(model_unit& u) {
  u.result = 42;
  if (complete(u))
    delete &u;
}

// A suspended thread joins. `careful`: registers after its context is complete, as leave() does.
void join_by_thread(bool careful) {
  auto* u = new model_unit;
  model_thread self;
  self.id = weft::model::self();
  weft::model::thread runner([u] { run_unit(*u); });
  if (!u->join.has_ended()) {
    if (careful)
      self.context = 7;
    const bool waits = u->join.wait(self.as_descriptor());
    if (!careful)
      self.context = 7;
    if (waits)
      weft::model::park();
  }
  weft::model::check(read(u->result) == 42, "the joiner sees what the unit did");
  runner.join();
  delete u;
}

TEST(join_word_model, thread_joins) {
  expect_passes(weft::model::exhaustively(), [] { join_by_thread(true); });
}
TEST(join_word_model_mutants, registered_before_the_context_is_complete) {
  expect_fails(weft::model::options{}, "", [] { join_by_thread(false); });
}

// The end of a thread whose joiner is known to be committed: no read-modify-write.
TEST(join_word_model, committed_waiter) {
  expect_passes(bounds(3, 3), [] {
    auto* u = new model_unit;
    model_thread self;
    self.id = weft::model::self();
    weft::model::thread runner([u] {
      u->result = 42;
      if (auto* waiter = reinterpret_cast<model_thread*>(u->join.committed_waiter())) {
        weft::model::check(read(waiter->context) == 7, "the waiter's context is complete");
        const unsigned id = waiter->id;
        u->join.finish_for_committed(); // GONE: u
        weft::model::unpark(id);
      } else {
        weft::model::check(!complete(*u), "not detached");
      }
    });
    self.context = 7;
    if (u->join.wait(self.as_descriptor())) {
      weft::model::park();
      weft::model::check(u->join.has_ended(), "ended when its joiner is woken");
    }
    weft::model::check(read(u->result) == 42, "the joiner sees what the unit did");
    runner.join();
    delete u;
  });
}

// A join with a time limit: waiting_joiner in weft/thread.cpp. It lies in the joiner's frame, so on_end()
// must have let go of it before the joiner returns.
class timed_joiner final : public weft::unit::joiner {
 public:
  explicit timed_joiner(unsigned waiter) : waiter_(waiter) {}
  void on_end() noexcept override {
    weft::model::unpark(waiter_);
    done_.store_release(1);
  }
  void wait_until_done() {
    while (done_.load_acquire() == 0)
      weft::model::relax();
  }

 private:
  unsigned waiter_;
  weft::base::atomic<int> done_{0};
};

// True: the unit has ended, and is ours. False: timed out.
bool join_for_a_while(model_unit& u, bool careful) {
  if (u.join.has_ended())
    return true;
  auto* j = new timed_joiner(weft::model::self());
  bool ended = true;
  if (u.join.wait_object(*j)) {
    if (!weft::model::park_timed() && u.join.withdraw(*j)) {
      ended = false;
    } else if (careful) {
      j->wait_until_done();
    }
  }
  delete j;
  return ended;
}

void timed_join_then_detach(bool careful) {
  auto* u = new model_unit;
  weft::model::thread runner([u] { run_unit(*u); });
  if (join_for_a_while(*u, careful)) {
    weft::model::check(read(u->result) == 42, "the joiner sees what the unit did");
    delete u;
  } else if (!u->join.detach()) {
    weft::model::check(u->join.has_ended(), "not detached because it has ended");
    weft::model::check(read(u->result) == 42, "who frees the unit sees what it did");
    delete u;
  }
}

TEST(join_word_model, timed_join_then_detach) {
  expect_passes(weft::model::exhaustively(), [] { timed_join_then_detach(true); });
}
TEST(join_word_model_mutants, frame_left_while_the_unit_holds_it) {
  expect_fails(weft::model::options{}, "", [] { timed_join_then_detach(false); });
}

// Gives up, then joins for good: the word can be registered in again.
TEST(join_word_model, withdraw_then_join) {
  expect_passes(bounds(3, 3), [] {
    auto* u = new model_unit;
    model_thread self;
    self.id = weft::model::self();
    weft::model::thread runner([u] { run_unit(*u); });
    if (!join_for_a_while(*u, true)) {
      self.context = 7;
      if (u->join.wait(self.as_descriptor()))
        weft::model::park();
    }
    weft::model::check(read(u->result) == 42, "the joiner sees what the unit did");
    runner.join();
    delete u;
  });
}

TEST(join_word_model, detach) {
  expect_passes(bounds(3, 3), [] {
    auto* u = new model_unit;
    weft::model::thread runner([u] { run_unit(*u); });
    if (!u->join.detach())
      delete u;
  });
}

// Freed by both, or by neither, if detach() were a store.
TEST(join_word_model_mutants, detach_without_looking) {
  expect_fails(weft::model::options{}, "", [] {
    auto* u = new model_unit;
    weft::model::thread runner([u] { run_unit(*u); });
    if (!u->join.has_ended()) {
      const bool ours = !u->join.detach();
      static_cast<void>(ours);
    }
    delete u;
  });
}

// --- every order that is not needed is known ---

TEST(join_word_weakened, word) {
  using weft::model::exactly;
  weft::model::expect_every_weakening_is_found(
      {{exactly(3, 3), [] { join_by_thread(true); }}, {exactly(3, 3), [] { timed_join_then_detach(true); }}},
      {{"join_word.hpp: join_word::withdraw: cas -> acquire",
        "the joiner has written nothing that the unit reads"},
       {"join_word.hpp: join_word::withdraw: cas -> release",
        "if it fails, wait_until_done() acquires what the unit did"},
       {"join_word.hpp: join_word::detach: cas -> acquire",
        "who detaches has written nothing that the end of the unit reads"},
       {"join_word.hpp: join_word::detach: cas -> release",
        "has_ended() in the scenario acquires what the unit did before it is read"}});
}

} // namespace
