// SPDX-License-Identifier: MIT
// leanmd: section VI-A2 of "Argobots: A Lightweight Low-Level Threading and Tasking Framework" (TPDS 2018). A
// molecular dynamics in cells (cells.hpp): a thread a cell, a tasklet a pair of neighbouring cells, and
// futures with a compartment for each of whom a cell waits for. n atoms a cell; a sample is the time of a
// step, in ms, over `rounds` steps. Forms: cells.<side>, side^3 cells; serial.<side>, calls.
//
// A thread's step: it makes the tasklets of half of its pairs, as each pair has two cells, and waits for the
// future of its forces, of which every tasklet of its pairs fills a compartment; the last one adds them up.
// It moves its atoms and tells the 26 neighbours, which is a compartment of a second future of each; when its
// own is complete, it begins the next step. Nothing but these futures orders the cells.
//
// Beside the time: energy_drift, the most, relative, of all steps; state, a number from all bits of all
// positions and velocities at the end, which must be the same for every peer, form and number of workers.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bench/common/bench.hpp"
#include "bench/leanmd/cells.hpp"

namespace weft::bench::leanmd {

inline options defaults() {
  return {.n = 300, .rounds = 20, .repeats = 1, .workers = 2, .form = {}};
}

inline std::vector<std::string> forms(std::initializer_list<const char*> how) {
  std::vector<std::string> all;
  for (const std::string each : how) {
    for (const char* const side : {"7", "5", "4", "3"})
      all.push_back(each + "." + side);
  }
  return all;
}
inline std::string how(const recorder& rec) {
  return rec.opt().form.substr(0, rec.opt().form.find('.'));
}
inline unsigned side(const recorder& rec) {
  return static_cast<unsigned>(std::stoul(rec.opt().form.substr(how(rec).size() + 1)));
}

// Half as many steps as LeanMD's, so that a run of 20 has one in its middle.
inline constexpr std::size_t steps_between_migrations = 10;
inline bool migrates_after(std::size_t step) {
  return (step + 1) % steps_between_migrations == 0;
}

// By calls: what every other way must come to, bit by bit.
inline void run_serially(cells& all, std::size_t steps) {
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t c = 0; c < all.count(); ++c) {
      for (unsigned direction = itself; direction < directions; ++direction)
        all.interact(c, direction);
    }
    for (std::size_t c = 0; c < all.count(); ++c) {
      all.reduce(c);
      all.advance(c, step);
      if (migrates_after(step))
        all.send_away(c);
    }
    for (std::size_t c = 0; migrates_after(step) && c < all.count(); ++c)
      all.take_in(c);
  }
}

// Peer has
//   future           future(compartments, f): set() fills one and returns at once; the last one calls f and
//                    wakes whoever is in wait(), of which there is one. Then the compartments are empty
//                    again.
//   tasklet          tasklet(f): a tasklet of f(); join()
//   for_each(n, f)   f(k) for each k below n, each by a thread; returns when all have ended
template <class Peer>
class threads_of_cells {
 public:
  threads_of_cells(cells& all, std::size_t steps) : all_(all), steps_(steps) {
    for (std::size_t c = 0; c < all.count(); ++c) {
      forces_.push_back(std::make_unique<future>(directions, [&all, c] { all.reduce(c); }));
      for (auto& of_round : moved_)
        of_round.push_back(std::make_unique<future>(directions - 1, [] {}));
    }
  }

  void run() {
    Peer::for_each(all_.count(), [this](std::size_t c) { live(c); });
  }

 private:
  using future = typename Peer::future;

  void live(std::size_t c) {
    std::size_t round = 0;
    for (std::size_t step = 0; step < steps_; ++step) {
      std::vector<typename Peer::tasklet> pairs;
      pairs.reserve(directions - itself);
      for (unsigned direction = itself; direction < directions; ++direction)
        pairs.emplace_back([this, c, direction] { interact(c, direction); });
      forces_[c]->wait();
      all_.advance(c, step);
      if (migrates_after(step)) {
        all_.send_away(c);
        meet(c, round++);
        all_.take_in(c);
      }
      meet(c, round++);
      for (typename Peer::tasklet& each : pairs)
        each.join();
    }
  }

  void interact(std::size_t c, unsigned direction) {
    all_.interact(c, direction);
    forces_[c]->set();
    if (direction != itself)
      forces_[all_.neighbour(c, direction)]->set();
  }

  // Tells the neighbours, and waits until they all have told this cell. A neighbour may be one round ahead,
  // never two, for which it needs this cell: so two futures, by turns.
  void meet(std::size_t c, std::size_t round) {
    for (unsigned direction = 0; direction < directions; ++direction) {
      if (direction != itself)
        moved_[round % 2][all_.neighbour(c, direction)]->set();
    }
    moved_[round % 2][c]->wait();
  }

  cells& all_;
  const std::size_t steps_;
  std::vector<std::unique_ptr<future>> forces_;
  std::array<std::vector<std::unique_ptr<future>>, 2> moved_;
};

// simulate(all, steps) runs the cells.
template <class Simulate>
int run(recorder& rec, Simulate&& simulate) {
  const std::size_t steps = rec.opt().rounds, n = rec.opt().n;
  rec.unit("ms/step");
  {
    // The same bits as by calls: of all steps if the system is small, else of two.
    const std::size_t compared = side(rec) == 3 ? steps : std::min<std::size_t>(steps, 2);
    cells expected(side(rec), n, compared), found(side(rec), n, compared);
    run_serially(expected, compared);
    simulate(found, compared);
    rec.check(found.fingerprint() == expected.fingerprint(), "the same bits as by calls");
  }
  for (std::size_t repeat = 0; repeat < rec.opt().repeats; ++repeat) {
    cells all(side(rec), n, steps);
    const std::size_t atoms = all.atoms();
    const std::int64_t begin = now_ns();
    simulate(all, steps);
    rec.add_sample(static_cast<double>(now_ns() - begin) / 1e6 / static_cast<double>(steps));
    rec.add_ops(steps);
    rec.check(all.atoms() == atoms, "no atom is lost");
    const energies first = all.total(0);
    double drift = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      const energies now = all.total(step);
      drift =
          std::max(drift, std::abs((now.kinetic + now.potential) / (first.kinetic + first.potential) - 1));
      const insitu::vec& p = now.momentum;
      rec.check(std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)}) < 1e-9 * static_cast<double>(atoms),
                "no momentum");
    }
    rec.check(drift < 1e-5, "the energy stays");
    if (repeat == 0) {
      rec.extra("energy_drift", drift);
      rec.extra("state", static_cast<double>(all.fingerprint() >> 12)); // of a double's digits
    }
  }
  return rec.finish();
}

} // namespace weft::bench::leanmd
