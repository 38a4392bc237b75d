// SPDX-License-Identifier: MIT
// Two looks at all workers (weft/park/stillness.hpp) find a moment of rest only where nobody has work left.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "weft/park/stillness.hpp"
#include "weft/park/watcher_rest.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace weft {
namespace {

using model::bounds;
using model::check;
using model::exactly;
using model::expect_every_weakening_is_found;
using model::expect_fails;
using model::expect_passes;
using park::look_at_rest;

constexpr auto parked = static_cast<std::uint32_t>(park::idle_state::parked);

// A worker that has a pool of one unit for itself.
struct model_worker {
  park::parking_spot spot;
  park::stillness still;
  base::atomic<std::uint32_t> unit{0};
  park::sleepers sleeping;
  base::plain<int> home{0}; // written once, before it first stands still

  park::sleepers& waiting_workers() noexcept { return sleeping; }
  [[nodiscard]] bool empty() const noexcept { return unit.load_relaxed() == 0; }
  void announce() noexcept {}

  void begin_parked() noexcept {
    home = 1;
    spot.announce_park();
    sleeping.add();
    still.begin();
  }
  void push() noexcept {
    unit.store_relaxed(1);
    if (!sleeping.any())
      return;
    const std::array<park::parking_spot*, 1> spots{&spot};
    park::choose_sleeper(spots).finish();
  }
};

struct set_up {
  std::array<model_worker, 2> workers;
  park::watcher_rest rest;
  // Units that were pushed and have not run, and units that are yet to be pushed.
  base::atomic<int> to_do{0};

  // As worker::park(), after (P2). `to_rest`: it is the last thing that this worker does.
  void sleep(model_worker& w, bool to_rest) {
    w.still.begin();
    if (to_rest)
      return;
    os::futex_wait(&w.spot.word(), parked);
    w.still.end();
    rest.rouse();
  }
  void park(model_worker& w, bool to_rest) {
    const auto mine = [&w](auto action) { action(w); };
    park::enter_park(w.spot, mine);
    if (w.empty())
      sleep(w, to_rest);
    if (!to_rest)
      park::leave_park(w.spot, mine);
  }
  // Of one that sleeps already.
  void run_one(model_worker& w) {
    const auto mine = [&w](auto action) { action(w); };
    sleep(w, false);
    park::leave_park(w.spot, mine);
    while (w.empty())
      park(w, false);
    w.unit.store_relaxed(0);
    park::leave_search(w.spot, mine);
  }
  bool all_rest(int looks) {
    std::array<look_at_rest, 2> look;
    for (int i = 2 - looks; i < 2; ++i) {
      for (const model_worker& w : workers) {
        if (look[static_cast<unsigned>(i)].see(w.spot, w.still, false))
          check(w.home == 1, "what it wrote before can be read");
      }
    }
    return look[1].confirms(look[looks == 2 ? 0 : 1]);
  }
};

// The second worker wakes the first, and sleeps. The third party looks.
void one_wakes_another(int looks) {
  set_up s;
  s.workers[0].begin_parked();
  s.to_do.store_relaxed(1);
  model::thread first([&s] {
    s.run_one(s.workers[0]);
    s.to_do.store_relaxed(0);
    s.park(s.workers[0], true);
  });
  model::thread second([&s] {
    static_cast<void>(s.workers[1].spot.found_work());
    s.workers[1].home = 1;
    s.workers[0].push();
    s.park(s.workers[1], true);
  });
  if (s.all_rest(looks))
    check(s.to_do.load_relaxed() == 0, "nobody has work");
}

TEST(stillness_model, one_wakes_another) {
  expect_passes(bounds(3, 2), [] { one_wakes_another(2); });
}
TEST(stillness_model, one_look_is_not_enough) {
  expect_fails(bounds(3, 2), "nobody has work", [] { one_wakes_another(1); });
}

TEST(stillness_weakened, two_looks) {
  constexpr auto heavy = "the heavy fence (P2) of whoever woke another stands between that and his rest: the "
                         "second look sees the notification whatever orders it by itself";
  expect_every_weakening_is_found(
      {{exactly(3, 2), [] { one_wakes_another(2); }}},
      {{"parking.hpp: parking_spot::try_notify: load -> relaxed", heavy},
       {"parking.hpp: parking_spot::try_notify: cas -> acquire", heavy},
       {"parking.hpp: parking_spot::try_notify: cas -> release", heavy},
       {"stillness.hpp: stillness::begin: store -> relaxed",
        "the heavy fence (P2) of the same worker stands before"},
       {"parking.hpp: parking_spot::move_on: rmw -> relaxed", "the heavy fence (P2) shows the unit, too"},
       {"heavy fence -> dropped", "whoever is notified sees the unit by (P7); see parking_model"},
       {"watcher_rest.hpp: watcher_rest::rouse: fence -> dropped", "as the first: (P2) of the next rest"}});
}

} // namespace
} // namespace weft
