// SPDX-License-Identifier: MIT
// A front of some thirty lines, and what becomes of its units.
#include "weft/door/unit_fast.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "weft/door/caller.hpp"
#include "weft/door/request.hpp"
#include "weft/door/section.hpp"
#include "weft/door/switch.hpp"
#include "weft/thread.hpp"

namespace {

namespace door = weft::door;
using door::descriptor;

struct more_of_unit {};
using closure = door::closure<more_of_unit>;

int ended = 0;     // units whose accounts are settled; by one worker at a time
int cancelled = 0; // of those, before they started

void settle(descriptor& u) {
  ++ended;
  door::count(*u.own_pool, -1);
}
void run(descriptor& u) {
  const closure& c = closure::of(u);
  c.function(c.argument);
  settle(u);
}
void drop(descriptor& u) {
  ++cancelled;
  settle(u);
}
void end(descriptor& u) {
  settle(u);
  door::end_now();
}
constinit const door::operations thread{
    &run, &drop, nullptr, nullptr, &end, nullptr, door::closure_function_at};
constinit const door::operations tasklet{
    &run, &drop, nullptr, nullptr, nullptr, nullptr, door::closure_function_at};
constinit const door::operations gone{nullptr, nullptr, nullptr, "gone", nullptr, nullptr, 0};

struct front {
  using more = more_of_unit;
  static constexpr const door::operations& thread = ::thread;
  static constexpr const door::operations& tasklet = ::tasklet;
  static constexpr const door::operations& gone = ::gone;
  static void settle_end(descriptor& u) noexcept { settle(u); }
  static void free_ended(descriptor& u) noexcept { door::free_unit(u, ::gone); }
};
using fast = door::fast_units<front>;

weft::pool& home() {
  return *door::here().current->own_pool;
}

descriptor& make(const door::operations& o, std::uint64_t traits, void (*function)(void*), void* argument) {
  descriptor& u = door::new_unit(o, home(), traits);
  closure::make_in(u, function, argument);
  door::count(home(), 1);
  return u;
}
void go(descriptor& u) {
  door::launch(u, true, [&] { u.own_pool->push(u); });
}
void join_and_free(descriptor& u) {
  if (!u.join.has_ended())
    door::await_end(u);
  door::release_stack(u);
  door::free_unit(u, gone);
}

// As a thread of Weft, in the runtime.
template <class F>
void in_runtime(F f) {
  ended = cancelled = 0;
  weft::thread([&] {
    const door::runtime_section in;
    f();
  }).join();
}

void increment(void* count) {
  ++*static_cast<int*>(count);
}

TEST(door_unit, runs_its_closure_and_ends) {
  in_runtime([] {
    int count = 0;
    descriptor& t = make(thread, door::plain_thread, &increment, &count);
    descriptor& k = make(tasklet, door::plain_tasklet, &increment, &count);
    EXPECT_FALSE(door::is_tasklet(t));
    EXPECT_TRUE(door::is_tasklet(k));
    EXPECT_EQ(door::stage_of(t), door::stage::ready);
    go(t);
    go(k);
    join_and_free(t);
    join_and_free(k);
    EXPECT_EQ(count, 2);
    EXPECT_EQ(ended, 2);
  });
}

TEST(door_unit, every_technique_launches) {
  in_runtime([] {
    for (unsigned technique = 0; technique < door::technique_count; ++technique) {
      int count = 0;
      const door::thread_form form{0, false, static_cast<weft::technique_id>(technique)};
      descriptor& u = make(thread, form.traits(), &increment, &count);
      go(u);
      join_and_free(u);
      EXPECT_EQ(count, 1) << technique;
    }
  });
}

TEST(door_unit, may_end_before_its_function_returns) {
  in_runtime([] {
    int count = 0;
    descriptor& u = make(
        thread, door::plain_thread,
        [](void* c) {
          increment(c);
          settle(*door::here().current);
          door::end_now();
        },
        &count);
    go(u);
    door::await_end(u);
    EXPECT_TRUE(door::has_ended(u));
    EXPECT_EQ(door::stage_of(u), door::stage::ended);
    join_and_free(u);
    EXPECT_EQ(count, 1);
    EXPECT_EQ(ended, 1);
  });
}

TEST(door_unit, has_a_new_life) {
  in_runtime([] {
    int count = 0;
    descriptor& u = make(thread, door::thread_form{128 << 10}.traits(), &increment, &count);
    go(u);
    door::await_end(u);
    EXPECT_THROW(door::renew_unit(u, home(), [] { throw std::runtime_error(""); }), std::runtime_error);
    EXPECT_TRUE(door::has_ended(u));
    door::renew_unit(u, home(), [] {});
    EXPECT_EQ(u.stack_size(), 128U << 10);
    door::count(home(), 1);
    go(u);
    join_and_free(u);
    EXPECT_EQ(count, 2);
  });
}

TEST(door_unit, one_that_was_not_launched_is_forgotten) {
  in_runtime([] {
    descriptor& u = door::new_unit(thread, home(), door::plain_thread);
    door::forget_new_unit(u, gone);
    EXPECT_EQ(u.operations, &gone);
  });
}

TEST(door_unit, is_cancelled_before_it_starts) {
  in_runtime([] {
    int count = 0;
    descriptor& u = make(thread, door::plain_thread, &increment, &count);
    EXPECT_TRUE(door::may_be_cancelled(u));
    door::cancel(u);
    go(u);
    join_and_free(u);
    EXPECT_EQ(count, 0);
    EXPECT_EQ(cancelled, 1);
  });
}

TEST(door_unit, the_fast_paths_and_their_slow_twins_do_the_same) {
  in_runtime([] {
    int count = 0;
    descriptor* u = fast::make_thread(door::here(), &home(), &increment, &count);
    if (u == nullptr) {
      u = &make(thread, door::plain_thread, &increment, &count);
      go(*u);
    }
    if (!fast::join_thread(*u))
      door::await_end(*u);
    EXPECT_EQ(count, 1);
    EXPECT_TRUE(door::has_ended(*u));
    if (!fast::free_thread(*u))
      join_and_free(*u);
  });
}

TEST(door_switch, a_suspended_thread_is_taken_once) {
  in_runtime([] {
    int count = 0;
    descriptor& u = make(
        thread, door::plain_thread,
        [](void* c) {
          door::suspend_until_taken();
          increment(c);
        },
        &count);
    go(u);
    while (!door::take_suspended(u))
      weft::this_thread::yield();
    EXPECT_FALSE(door::take_suspended(u));
    EXPECT_EQ(count, 0);
    door::resume_taken(u);
    join_and_free(u);
    EXPECT_EQ(count, 1);
  });
}

TEST(door_switch, a_taken_thread_runs_in_place_of_the_caller) {
  in_runtime([] {
    int count = 0;
    descriptor& u = make(thread, door::plain_thread, &increment, &count);
    door::mark_taken(u);
    EXPECT_TRUE(door::is_taken(u));
    door::yield_to_taken(u);
    join_and_free(u);
    EXPECT_EQ(count, 1);
  });
}

} // namespace
