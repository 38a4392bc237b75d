// SPDX-License-Identifier: MIT
// Ticks against the way into the runtime and out of it (weft/carrier/user_mode.cpp): the handler runs between
// any two operations of the thread that it interrupts. A tick makes the thread leave, at once or when it
// leaves the runtime; none is forgotten, and a thread is never in two places.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "tests/model/runtime/machine.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

using model::bounds;
using model::check;
using model::expect_fails;
using model::expect_passes;
using model::runtime::machine;
using model::runtime::on_tick;
using sched::preemption;

void tick() {
  on_tick();
}

struct seen {
  bool other_ran = false; // the checker runs one model thread at a time
  model::var<int> of_worker = 0;
};

/// Enters the runtime `times`, then computes until the other thread has run, which takes a preemption.
void work_until_other_runs(seen& s, int times) {
  for (int i = 0; i < times; ++i) {
    const sched::runtime_section in;
    ++s.of_worker;
  }
  while (!s.other_ran)
    model::relax();
}

/// One signal, at whatever moment.
void one_signal(int times) {
  seen s;
  machine m(1, 0, machine::list::shared);
  m.add(preemption::signal_yield, [&] {
    model::interrupt(m.primary, &tick);
    work_until_other_runs(s, times);
  });
  m.add(preemption::signal_yield, [&] {
    ++s.of_worker;
    s.other_ran = true;
  });
  m.run();
}

/// What the monitor does (look_at() and tick_now() in weft/preempt/ticks.cpp) until the other thread has run.
void monitor(machine& m, const seen& s) {
  sched::worker& w = m.worker(0);
  while (!s.other_ran) {
    const std::uint32_t serial = w.preemption.user_mode_serial.load_relaxed();
    if (serial == 0) {
      w.preemption.tick_flag.store_relaxed(sched::whichever_thread);
    } else if (w.preemption.tick_flag.load_relaxed() != serial) {
      w.preemption.tick_flag.store_relaxed(serial);
    } else {
      model::interrupt(m.primary, &tick);
    }
    model::relax();
  }
}

void flags_and_signals(int times) {
  seen s;
  machine m(1, 0, machine::list::shared);
  m.add(preemption::signal_yield, [&] { work_until_other_runs(s, times); });
  m.add(preemption::signal_yield, [&] {
    ++s.of_worker;
    s.other_ran = true;
  });
  const model::thread watches([&] { monitor(m, s); });
  m.run();
}

// Between the store of the thread's serial and its front in go_to_user_mode() the handler sees the worker,
// whose flag is looked at no more.
TEST(tick_model, one_signal_is_never_forgotten) {
  expect_passes(model::one_by_one(bounds(2, 2)), [] { one_signal(2); });
}
TEST(tick_model, flags_then_signals) {
  expect_passes(model::one_by_one(bounds(2, 1)), [] { flags_and_signals(1); });
}

TEST(tick_bugs, user_mode) {
  model::expect_bugs_are_found(
      {{model::one_by_one(model::exactly(2, 1)), [] { one_signal(2); }},
       {model::one_by_one(model::exactly(1, 1)), [] { flags_and_signals(1); }}},
      {"user_mode.cpp: user_mode::go_to_user_mode: store -> late (2)", // the serial's
       "user_mode.cpp: user_mode::go_to_user_mode: load -> unseen",
       "user_mode.cpp: user_mode::go_to_user_mode: store -> forgotten (2)",
       "user_mode.cpp: user_mode::leave_runtime: load -> unseen",
       "user_mode.cpp: user_mode::remember_tick_in_runtime: load -> unseen"});
}

} // namespace
} // namespace weft
