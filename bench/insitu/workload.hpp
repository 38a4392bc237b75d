// SPDX-License-Identifier: MIT
// insitu: the molecular dynamics of lj.hpp with n atoms, and analyses of analysis.hpp beside it, as in Fig. 9
// of "Lightweight Preemptive User-Level Threads" (Shiina et al., PPoPP 2021). Each phase of a step is one
// simulation thread a worker; at every step or every second step the atoms are copied and `workers - 1`
// analysis threads (at least one) are started, which must have ended before the next copy. A sample is the
// wall time of a step, in ms, over `rounds` steps; its end is that of the last analysis.
//
// Forms: "none" (no analysis), and "<how>.1", "<how>.2": what priority the analysis threads have, and how
// often there are some; "<how>.radial.1", "<how>.radial.2": the same, but the radial distribution. Beside the
// time: energy_drift, the most, relative, of all steps; lists, how often the neighbour lists were made;
// analysis_ms, how long an analysis took from the copy to its end; peak_at, peak: where the radial
// distribution has its first peak, and how high; state, a number from all bits of all positions and
// velocities at the end, the same with and without an analysis.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>

#include "bench/common/bench.hpp"
#include "bench/insitu/analysis.hpp"
#include "bench/insitu/lj.hpp"

namespace weft::bench::insitu {

inline options defaults() {
  return {.n = 256'000, .rounds = 100, .repeats = 1, .workers = 2, .form = {}};
}

// "<how>.1" and "<how>.2" for each, and the same with the radial distribution.
inline std::vector<std::string> forms(std::initializer_list<const char*> how) {
  std::vector<std::string> all{"none"};
  for (const std::string each : how) {
    all.push_back(each + ".1");
    all.push_back(each + ".2");
    all.push_back(each + ".radial.1");
    all.push_back(each + ".radial.2");
  }
  return all;
}
inline std::string how(const recorder& rec) {
  return rec.opt().form.substr(0, rec.opt().form.find('.'));
}
inline unsigned every(const recorder& rec) {
  return rec.form_is("none") ? 0 : rec.opt().form.back() == '1' ? 1 : 2;
}

inline analysis::kind what(const recorder& rec) {
  return rec.opt().form.find(".radial.") != std::string::npos ? analysis::kind::distances
                                                              : analysis::kind::waves;
}

inline std::uint64_t fingerprint(const liquid& of) {
  std::uint64_t state = 0;
  for (const std::vector<vec>* all : {&of.positions(), &of.velocities()}) {
    for (const vec& v : *all) {
      for (const double x : {v.x, v.y, v.z})
        state = (std::rotl(state, 5) ^ std::bit_cast<std::uint64_t>(x)) * 0x9e37'79b9'7f4a'7c15;
    }
  }
  return state;
}

// How many neighbours an atom has hardly depends on the state; a look at all pairs is for few atoms.
inline void check_distances(recorder& rec, const analysis& of, std::size_t atoms) {
  const analysis::counts found = of.total().distances;
  const auto neighbours = static_cast<double>(std::accumulate(found.begin(), found.end(), std::uint64_t{0})) /
                          static_cast<double>(of.centres());
  const double expected = 4 * M_PI / 3 * std::pow(analysis::furthest, 3) * density - 1;
  rec.check(std::abs(neighbours / expected - 1) < 0.1, "as many neighbours as the density says");
  rec.check(atoms > 5'000 || found == of.distances_of_all_pairs(), "the distances of all pairs");
  const auto radial = analysis::radial(found, of.centres());
  const auto peak = std::max_element(radial.begin(), radial.end());
  rec.extra("peak_at",
            (static_cast<double>(peak - radial.begin()) + 0.5) * analysis::furthest / analysis::bins);
  rec.extra("peak", *peak);
}

// What a peer must offer:
//   for_each_part(f)   f(part) for the parts [0, workers), at the same time; returns when all have ended
//   start(f)           starts f(part) for [0, analysis threads), of low priority; returns at once
//   finish()           waits until those have ended
template <class Peer>
double steps(recorder& rec, Peer& peer, liquid& system, analysis& beside, double& most_drift) {
  const unsigned interval = every(rec);
  const std::size_t count = rec.opt().rounds;
  bool running = false;
  double in_analysis = 0;
  std::int64_t copied_at = 0;
  const auto end_analysis = [&] {
    if (!running)
      return;
    peer.finish();
    in_analysis += static_cast<double>(now_ns() - copied_at);
    running = false;
  };
  const double energy = system.total().energy();
  const std::int64_t begin = now_ns();
  for (std::size_t step = 0; step < count; ++step) {
    peer.for_each_part([&system](unsigned part) { system.move(part); });
    if (system.needs_lists()) {
      system.fill_cells();
      peer.for_each_part([&system](unsigned part) { system.make_lists(part); });
    }
    peer.for_each_part([&system](unsigned part) { system.forces(part); });
    most_drift = std::max(most_drift, std::abs(system.total().energy() / energy - 1));
    if (interval != 0 && step % interval == 0) {
      end_analysis();
      beside.take(system);
      copied_at = now_ns();
      running = true;
      peer.start([&beside](unsigned part) { beside.run(part); });
    }
  }
  end_analysis();
  const double elapsed = static_cast<double>(now_ns() - begin);
  const auto analyses = interval == 0 ? 0 : (count + interval - 1) / interval;
  if (analyses != 0)
    rec.extra("analysis_ms", in_analysis / 1e6 / static_cast<double>(analyses));
  return elapsed / 1e6 / static_cast<double>(count);
}

template <class Peer>
int run(recorder& rec, Peer& peer) {
  rec.unit("ms/step");
  for (std::size_t repeat = 0; repeat < rec.opt().repeats; ++repeat) {
    liquid system(rec.opt().n, rec.opt().workers);
    analysis beside(std::max(rec.opt().workers, 2U) - 1, what(rec));
    double drift = 0;
    rec.add_sample(steps(rec, peer, system, beside, drift));
    rec.add_ops(rec.opt().rounds);
    const auto after = system.total();
    const auto n = static_cast<double>(system.size());
    const auto& p = after.momentum;
    rec.check(drift < 1e-4, "the energy stays");
    rec.check(std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)}) < 1e-9 * n, "no momentum");
    rec.extra("energy_drift", drift);
    rec.extra("temperature", 2 * after.kinetic / (3 * n));
    rec.extra("lists", static_cast<double>(system.lists_made()));
    rec.extra("state", static_cast<double>(fingerprint(system) >> 12)); // of a double's digits
    if (every(rec) != 0 && what(rec) == analysis::kind::distances) {
      check_distances(rec, beside, system.size());
    } else if (every(rec) != 0) {
      const auto found = beside.total();
      std::uint64_t counted = 0;
      for (const std::uint64_t each : found.histogram)
        counted += each;
      rec.check(counted == 3 * system.size(), "every velocity was counted");
      const bool of_the_end = (rec.opt().rounds - 1) % every(rec) == 0;
      rec.check(!of_the_end || std::abs(found.twice_kinetic / 2 - after.kinetic) < 1e-9 * after.kinetic,
                "the analysis saw the step that it was for");
    }
  }
  return rec.finish();
}

} // namespace weft::bench::insitu
