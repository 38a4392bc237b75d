// SPDX-License-Identifier: MIT
// hpgmg: the structure of HPGMG-FV, written anew: a 3-D finite-volume Poisson equation with variable
// coefficients on a cube of n^3 cells in boxes of 32^3, zero at the boundary, solved by a full multigrid
// cycle and then V-cycles until the largest residual has fallen by 10^9. Red-black Gauss-Seidel, two sweeps
// before and after; each operation on a level is a fork-join region of N threads, but on the smallest levels.
// After section 4.2 of "Lightweight Preemptive User-Level Threads" (Shiina et al.), which runs 28 threads on
// n cores. A form is <how>.<N>; --workers is the number of cores or active workers. An operation is a cell; a
// sample, the time of a solution. Extras: cycles, and seconds a solution (median).
#pragma once

#include <algorithm>
#include <memory>

#include "bench/common/bench.hpp"
#include "bench/hpgmg/operators.hpp"

namespace weft::bench::hpgmg {

inline options defaults() {
  return {.n = 128, .rounds = 1, .repeats = 5, .workers = 2, .form = {}};
}

inline std::vector<std::string> forms(const std::vector<std::string>& ways) {
  std::vector<std::string> all;
  for (const char* threads : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
    for (const std::string& way : ways)
      all.push_back(way + "." + threads);
  }
  return all;
}

struct form {
  explicit form(const recorder& rec)
      : way(rec.opt().form.substr(0, rec.opt().form.find('.'))),
        threads(static_cast<unsigned>(std::stoul(rec.opt().form.substr(way.size() + 1)))) {}
  std::string way;
  unsigned threads;
};

// `Regions`: run(name, threads, f) calls f(0) .. f(threads - 1) and waits; regions of one name do the same
// work each time.
template <class Regions>
class multigrid {
 public:
  multigrid(Regions& regions, unsigned threads, int n) : regions_(regions), threads_(threads) {
    for (int cells = n; cells >= 2; cells /= 2)
      levels_.emplace_back(cells, cells > 2 ? std::min(32, cells / 2) : 2);
    for (box& b : levels_.front().boxes) {
      for (int k = 0; k < levels_.front().side; ++k)
        for (int j = 0; j < levels_.front().side; ++j)
          for (int i = 0; i < levels_.front().side; ++i)
            b.f(i, j, k) = right_side(b, i, j, k);
    }
  }

  // Returns the number of V-cycles after the full one; -1 if they do not get there.
  int solve() {
    for (level& l : levels_) {
      for (box& b : l.boxes)
        b.u.clear();
    }
    const double begin = largest_residual(0);
    full_cycle();
    for (int cycles = 0; cycles < 40; ++cycles) {
      if (largest_residual(0) <= 1e-9 * begin)
        return cycles;
      v_cycle(0);
    }
    return -1;
  }

 private:
  enum operation { exchanging, red, black, residuals, restricting, interpolating, clearing, operations };
  static constexpr std::size_t least_cells = 8 * 8 * 8; // of a level whose regions have several threads

  static double right_side(const box& b, int i, int j, int k) {
    unsigned hash = static_cast<unsigned>(b.origin[0] + i) * 73856093U ^
                    static_cast<unsigned>(b.origin[1] + j) * 19349663U ^
                    static_cast<unsigned>(b.origin[2] + k) * 83492791U;
    hash ^= hash >> 13;
    return 1.0 + static_cast<double>(hash % 1000) / 1000;
  }

  // f(tile, its number), each by one of the threads, every thread its share.
  template <class F>
  void for_tiles(std::size_t depth, operation what, F f) {
    level& l = levels_[depth];
    const std::size_t tiles = l.tiles.size();
    const auto part = [&](unsigned i, unsigned of) {
      for (std::size_t t = tiles * i / of; t < tiles * (i + 1) / of; ++t)
        f(l.tiles[t], t);
    };
    if (static_cast<std::size_t>(l.n) * l.n * l.n <= least_cells || threads_ == 1)
      return part(0, 1);
    regions_.run(static_cast<int>(depth) * operations + what, threads_,
                 [&](unsigned i) { part(i, threads_); });
  }

  void fill_ghosts(std::size_t depth) {
    for_tiles(depth, exchanging, [&](const tile& t, std::size_t) { exchange(levels_[depth], t); });
  }
  void sweep(std::size_t depth, int times) {
    for (int k = 0; k < 2 * times; ++k) {
      fill_ghosts(depth);
      for_tiles(depth, k % 2 == 0 ? red : black,
                [&](const tile& t, std::size_t) { smooth(levels_[depth], t, k % 2); });
    }
  }
  double largest_residual(std::size_t depth) {
    largest_.assign(levels_[depth].tiles.size(), 0);
    fill_ghosts(depth);
    for_tiles(depth, residuals,
              [&](const tile& t, std::size_t number) { largest_[number] = residual(levels_[depth], t); });
    return *std::max_element(largest_.begin(), largest_.end());
  }
  void coarsen(std::size_t depth, field box::* what) {
    for_tiles(depth, restricting,
              [&](const tile& t, std::size_t) { restrict_to(levels_[depth + 1], levels_[depth], t, what); });
  }
  void refine(std::size_t depth) { // from depth + 1
    fill_ghosts(depth + 1);
    for_tiles(depth, interpolating,
              [&](const tile& t, std::size_t) { interpolate(levels_[depth + 1], levels_[depth], t); });
  }
  void clear(std::size_t depth) {
    for_tiles(depth, clearing, [&](const tile& t, std::size_t) {
      if (t.k0 == 0)
        levels_[depth].boxes[static_cast<std::size_t>(t.box)].u.clear();
    });
  }

  void v_cycle(std::size_t depth) {
    if (depth + 1 == levels_.size())
      return sweep(depth, 20);
    sweep(depth, 2);
    largest_residual(depth);
    coarsen(depth, &box::r);
    clear(depth + 1);
    v_cycle(depth + 1);
    refine(depth);
    sweep(depth, 2);
  }
  void full_cycle() {
    for (std::size_t depth = 0; depth + 1 < levels_.size(); ++depth)
      coarsen(depth, &box::f);
    for (std::size_t depth = levels_.size(); depth-- > 0;) {
      clear(depth);
      if (depth + 1 < levels_.size())
        refine(depth);
      v_cycle(depth); // writes the right sides of the levels below, which are not needed any more
    }
  }

  Regions& regions_;
  unsigned threads_;
  std::vector<level> levels_;
  std::vector<double> largest_;
};

template <class Regions>
int run(recorder& rec, Regions& regions) {
  const form wanted(rec);
  multigrid<Regions> all(regions, wanted.threads, static_cast<int>(rec.opt().n));
  int cycles = all.solve();
  const auto cells = static_cast<double>(rec.opt().n * rec.opt().n * rec.opt().n);
  std::vector<double> seconds;
  for (std::size_t repeat = 0; repeat < rec.opt().repeats; ++repeat) {
    const std::int64_t begin = now_ns();
    for (std::size_t r = 0; r < rec.opt().rounds; ++r)
      cycles = std::min(cycles, all.solve());
    const double took = static_cast<double>(now_ns() - begin) / static_cast<double>(rec.opt().rounds);
    rec.add_sample(took / cells);
    seconds.push_back(took / 1e9);
  }
  rec.add_ops(static_cast<std::size_t>(cells) * rec.opt().rounds * rec.opt().repeats);
  std::sort(seconds.begin(), seconds.end());
  rec.extra("seconds", seconds[seconds.size() / 2]);
  rec.extra("v_cycles", cycles);
  rec.unit("ns/cell");
  rec.check(cycles >= 0, "the residual fell by 10^9");
  return rec.finish();
}

} // namespace weft::bench::hpgmg
