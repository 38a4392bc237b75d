// SPDX-License-Identifier: MIT
// Units that are asked to migrate while they run, wait in a pool, become ready or end: the shipped
// weft/sched/requests.cpp, pool.cpp, put_back() and weft/unit/extension.cpp under the checker. A unit is in
// one place at a time, is never lost, and ends where it was asked to go last or before.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "tests/model/runtime/machine.hpp"
#include "weft/sched/requests.hpp"
#include "weft/sched/switch.hpp"
#include "weft/unit/extension.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <system_error>

namespace weft {
namespace {

using model::bounds;
using model::check;
using model::exactly;
using model::expect_bugs_are_found;
using model::expect_every_weakening_is_found;
using model::expect_passes;
using model::expect_walks_pass;
using model::runtime::bare_worker;

/// A unit that yields some times, then ends.
struct moving {
  unit::descriptor unit{};
  int rounds = 0;
  model::var<int> runs = 0; // plain: two at once, or an unordered hand-over, is a race
  bool ended = false;
  // Of requests, to be checked where no load is stale; the checker runs one model thread at a time.
  int asking = 0;
  sched::pool* asked = nullptr; // the last that was asked for
};

struct world {
  std::array<std::shared_ptr<sched::pool>, 2> pools;
  std::array<std::unique_ptr<bare_worker>, 2> workers;
  std::array<moving, 2> units;
  unsigned left = 0;
  int callbacks = 0;
  bool heeded = false; // check that no request is passed over

  world(std::array<sched::access, 2> modes, unsigned count, int rounds) {
    static constexpr unit::operations nothing{nullptr, nullptr, nullptr};
    model::thread_word(&sched::weft_current_worker, &sched::face_of_others());
    for (unsigned i = 0; i < 2; ++i) {
      pools[i] = sched::make_pool(sched::order::fifo, modes[i]);
      workers[i] = std::make_unique<bare_worker>(i);
      pools[i]->attach(**workers[i]);
      (*workers[i])->attention.store_relaxed(0);
    }
    for (; left < count; ++left) {
      moving& m = units[left];
      m.rounds = rounds;
      unit::initialise(m.unit, nothing, pools[0].get(), unit::kind_thread);
      pools[0]->push(m.unit);
    }
  }
  ~world() {
    for (moving& m : units)
      delete m.unit.extension.load_relaxed(); // made by a request that came after the end
  }

  /// The loop of a worker, as worker::run() for units that leave their stack by themselves.
  void serve(unsigned which) {
    sched::worker& w = **workers[which];
    sched::weft_current_worker = &w;
    while (left != 0) {
      const std::array<sched::pool*, 2> asked{where_asked(0), where_asked(1)};
      unit::descriptor* const u = pools[which]->pop(w);
      if (u == nullptr) {
        model::relax();
      } else if (!moves_first(*u)) {
        const auto index = static_cast<std::size_t>(reinterpret_cast<moving*>(u) - units.data());
        sched::pool* const wanted = asked[index];
        check(!heeded || wanted == nullptr || wanted != where_asked(index) || wanted == u->own_pool,
              "a request was passed over");
        run(w, *u);
      }
    }
    sched::weft_current_worker = &sched::face_of_others();
  }

  void ask(unsigned which, unsigned target) {
    const auto callback = [](unit::descriptor&, void* self) { ++static_cast<world*>(self)->callbacks; };
    moving& m = units[which];
    ++m.asking;
    try {
      sched::request_migration(m.unit, *pools[target], callback, this);
      m.asked = pools[target].get();
    } catch (const std::system_error&) { // it has ended
    }
    --m.asking;
  }

  /// The pool that the unit was asked to go to, if that is certain.
  sched::pool* where_asked(std::size_t which) const {
    return units[which].asking != 0 ? nullptr : units[which].asked;
  }

 private:
  static bool moves_first(unit::descriptor& u) {
    if (!u.has(unit::migration_requested))
      return false;
    sched::pool* const before = u.own_pool;
    sched::apply_migration(u);
    if (u.own_pool == before)
      return false;
    u.own_pool->push(u);
    return true;
  }

  void run(sched::worker& w, unit::descriptor& u) {
    moving& m = *reinterpret_cast<moving*>(&u); // its first member
    check(!m.ended, "an ended unit was run");
    u.state.start_running();
    w.current = &u;
    ++m.runs;
    const bool ends = m.runs == m.rounds;
    w.current = &w.loop_unit;
    if (ends) {
      unit::drop_extension(u);
      u.state.finish();
      m.ended = true;
      --left;
    } else {
      u.state.block();
      sched::put_back(u);
    }
  }
};

constexpr auto shared = sched::access::mpmc;
constexpr auto owned = sched::access::mpsc;

void two_workers_and_a_requester(std::array<sched::access, 2> modes, unsigned units, int rounds,
                                 bool heeded = false) {
  world all(modes, units, rounds);
  all.heeded = heeded;
  {
    const model::thread a([&] { all.serve(0); });
    const model::thread b([&] { all.serve(1); });
    all.ask(0, 1);
    all.ask(units - 1, units > 1 ? 1 : 0);
  }
  for (unsigned i = 0; i < units; ++i)
    check(all.units[i].runs == rounds, "a unit did not run to its end");
  check(all.callbacks <= 2, "a request was carried out twice");
}

/// Asked once, and then no more, so that a worker can be certain where the unit is to go.
void one_request(std::array<sched::access, 2> modes) {
  world all(modes, 1, 2);
  all.heeded = true;
  {
    const model::thread a([&] { all.serve(0); });
    const model::thread b([&] { all.serve(1); });
    all.ask(0, 1);
  }
  check(all.units[0].runs == 2, "a unit did not run to its end");
  check(all.callbacks <= 1, "a request was carried out twice");
}

/// Two ask at once; one worker serves both pools' units in turn.
void two_requesters() {
  world all({shared, shared}, 1, 2);
  {
    const model::thread a([&] { all.serve(0); });
    const model::thread b([&] { all.serve(1); });
    const model::thread c([&] { all.ask(0, 1); });
    all.ask(0, 1);
  }
  check(all.units[0].runs == 2, "the unit did not run to its end");
}

TEST(migration_model, between_shared_pools) {
  expect_passes(bounds(1, 2), [] { two_workers_and_a_requester({shared, shared}, 1, 2); });
}
TEST(migration_model, between_owned_pools) {
  expect_passes(bounds(3, 0), [] { two_workers_and_a_requester({owned, owned}, 1, 2); });
}
TEST(migration_model, from_an_owned_to_a_shared_pool) {
  expect_passes(bounds(1, 1), [] { two_workers_and_a_requester({owned, shared}, 1, 2); });
}
TEST(migration_model, two_units) {
  expect_passes(bounds(1, 1), [] { two_workers_and_a_requester({shared, shared}, 2, 2); });
}
TEST(migration_model, two_requesters) {
  expect_passes(bounds(1, 0), two_requesters);
  expect_walks_pass({}, 10'000, two_requesters);
}

TEST(migration_weakened, pools_and_requests) {
  expect_every_weakening_is_found(
      {{exactly(1, 1), [] { two_workers_and_a_requester({shared, shared}, 1, 2); }},
       {exactly(1, 1), [] { two_workers_and_a_requester({owned, owned}, 1, 2); }}},
      {{"pool.cpp: pool::~pool: store -> relaxed", "before the threads start and after they have ended"},
       {"pool.cpp: pool::attach: store -> relaxed", "before the threads start and after they have ended"},
       {"pool.cpp: pool::publish_servers: store -> relaxed",
        "before the threads start and after they have ended"},
       {"requests.cpp: sched::apply_migration: rmw -> acquire",
        "for who waits until the unit has moved: nobody here"},
       {"requests.cpp: sched::apply_migration: rmw -> release",
        "for who waits until the unit has moved: nobody here"},
       {"worker.hpp: worker::ask: rmw -> acquire", "these workers look into their inboxes unasked"},
       {"worker.hpp: worker::ask: rmw -> release", "these workers look into their inboxes unasked"},
       {"descriptor.hpp: pool_reference::publish: store -> relaxed",
        "a hint where to look; the pool decides under its lock, by the mark or as the owner"},
       {"descriptor.hpp: pool_reference::get: load -> relaxed",
        "a hint where to look; the pool decides under its lock, by the mark or as the owner"},
       {"extension.cpp: extension_lock::extension_lock: rmw -> acquire",
        "traits are changed by acq_rel operations one after the other: one of them alone is not missed"},
       {"extension.cpp: extension_lock::extension_lock: rmw -> release",
        "traits are changed by acq_rel operations one after the other: one of them alone is not missed"},
       {"extension.cpp: extension_lock::~extension_lock: rmw -> acquire",
        "traits are changed by acq_rel operations one after the other: one of them alone is not missed"},
       {"extension.cpp: extension_lock::~extension_lock: rmw -> release",
        "traits are changed by acq_rel operations one after the other: one of them alone is not missed"},
       {"extension.cpp: unit::extend_locked: rmw -> acquire",
        "traits are changed by acq_rel operations one after the other: one of them alone is not missed"},
       {"extension.cpp: unit::extend_locked: rmw -> release",
        "traits are changed by acq_rel operations one after the other: one of them alone is not missed"},
       {"extension.cpp: unit::request_migration: rmw -> acquire",
        "traits are changed by acq_rel operations one after the other: one of them alone is not missed"},
       {"extension.cpp: unit::request_migration: rmw -> release",
        "traits are changed by acq_rel operations one after the other: one of them alone is not missed"}});
}

// However deep it looks: a request that a worker has not seen yet may be passed over.
TEST(migration_model, no_request_is_passed_over) {
  model::options how = bounds(1, 0);
  how.stale_reads = 0;
  expect_passes(how, [] { two_workers_and_a_requester({shared, shared}, 1, 2, true); });
  expect_passes(how, [] { one_request({shared, shared}); });
  expect_passes(how, [] { one_request({owned, owned}); });
}
TEST(migration_bugs, pools_and_requests) {
  const model::options how = exactly(1, 0);
  expect_bugs_are_found({{how, [] { two_workers_and_a_requester({shared, shared}, 1, 2, true); }},
                         {how, [] { two_workers_and_a_requester({owned, owned}, 1, 2, true); }},
                         {how, [] { one_request({shared, shared}); }},
                         {how, two_requesters}},
                        {"requests.cpp: sched::apply_migration: load -> unseen",
                         "requests.cpp: sched::apply_migration: rmw -> forgotten (2)", // it stays requested
                         "pool.hpp: unit_marks::leave: store -> forgotten",
                         "extension.cpp: extension_lock::extension_lock: rmw -> forgotten",
                         "extension.cpp: extension_lock::~extension_lock: rmw -> forgotten",
                         "extension.cpp: unit::request_migration: rmw -> forgotten"});
}

} // namespace
} // namespace weft
