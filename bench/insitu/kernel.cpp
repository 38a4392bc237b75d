// SPDX-License-Identifier: MIT
// The numbers of lj.hpp and analysis.hpp. One source for all peers, so that all have the same code.
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "bench/insitu/analysis.hpp"
#include "bench/insitu/lj.hpp"
#include "bench/insitu/pair_force.hpp"

namespace weft::bench::insitu {
namespace {

constexpr pair_force force(cutoff);

// The nearest image of a difference of coordinates that are less than one and a half edges apart.
[[gnu::always_inline]] inline double nearest(double d, double edge) {
  const double half = edge / 2;
  return d > half ? d - edge : d < -half ? d + edge : d;
}
[[gnu::always_inline]] inline vec difference(const vec& a, const vec& b, double edge) {
  return {nearest(a.x - b.x, edge), nearest(a.y - b.y, edge), nearest(a.z - b.z, edge)};
}
[[gnu::always_inline]] inline double square(const vec& v) {
  return v.x * v.x + v.y * v.y + v.z * v.z;
}

double wrapped(double x, double edge) {
  x -= edge * std::floor(x / edge);
  return x < edge ? x : 0;
}

} // namespace

lattice::lattice(std::size_t atoms) {
  std::size_t side = 1;
  while (4 * side * side * side < atoms)
    ++side;
  const std::size_t n = 4 * side * side * side;
  edge = std::cbrt(static_cast<double>(n) / density);
  const double spacing = edge / static_cast<double>(side);
  for (std::size_t i = 0; i < side * side * side; ++i) {
    const double x = static_cast<double>(i / (side * side)), y = static_cast<double>(i / side % side),
                 z = static_cast<double>(i % side);
    for (const vec& in_cell : {vec{0, 0, 0}, vec{0.5, 0.5, 0}, vec{0.5, 0, 0.5}, vec{0, 0.5, 0.5}})
      positions.push_back({(x + in_cell.x) * spacing, (y + in_cell.y) * spacing, (z + in_cell.z) * spacing});
  }
  // Without a momentum, and at the temperature that was asked for.
  std::mt19937_64 random(4711);
  std::normal_distribution<double> normal;
  vec mean;
  for (std::size_t i = 0; i < n; ++i) {
    const vec v{normal(random), normal(random), normal(random)};
    velocities.push_back(v);
    mean = {mean.x + v.x, mean.y + v.y, mean.z + v.z};
  }
  const auto count = static_cast<double>(n);
  double twice_kinetic = 0;
  for (vec& v : velocities) {
    v = {v.x - mean.x / count, v.y - mean.y / count, v.z - mean.z / count};
    twice_kinetic += square(v);
  }
  const double scale = std::sqrt(start_temperature * 3 * (count - 1) / twice_kinetic);
  for (vec& v : velocities)
    v = {v.x * scale, v.y * scale, v.z * scale};
}

liquid::liquid(std::size_t atoms, unsigned parts) {
  lattice start(atoms);
  edge_ = start.edge;
  position_ = std::move(start.positions);
  velocity_ = std::move(start.velocities);
  const std::size_t n = position_.size();
  cells_ = std::max<std::size_t>(static_cast<std::size_t>(edge_ / (cutoff + skin)), 1);
  force_.resize(n);
  listed_at_.resize(n);
  cell_atoms_.resize(n);
  part_.resize(parts);
  for (unsigned p = 0; p < parts; ++p) {
    part_[p].begin = n * p / parts;
    part_[p].end = n * (p + 1) / parts;
  }
  fill_cells();
  for (unsigned p = 0; p < parts; ++p)
    make_lists(p);
  // The forces at the start; the kick that comes with them is taken back.
  const std::vector<vec> velocities = velocity_;
  for (unsigned p = 0; p < parts; ++p)
    forces(p);
  velocity_ = velocities;
  for (part_state& p : part_) {
    p.sum.kinetic = 0;
    for (std::size_t i = p.begin; i < p.end; ++i)
      p.sum.kinetic += square(velocity_[i]) / 2;
  }
}

void liquid::move(unsigned part) {
  part_state& mine = part_[part];
  double furthest2 = 0;
  for (std::size_t i = mine.begin; i < mine.end; ++i) {
    vec& v = velocity_[i];
    vec& p = position_[i];
    const vec& f = force_[i];
    v = {v.x + f.x * (time_step / 2), v.y + f.y * (time_step / 2), v.z + f.z * (time_step / 2)};
    p = {p.x + v.x * time_step, p.y + v.y * time_step, p.z + v.z * time_step};
    const vec& from = listed_at_[i];
    furthest2 = std::max(furthest2, square({p.x - from.x, p.y - from.y, p.z - from.z}));
  }
  mine.furthest2 = furthest2;
}

bool liquid::needs_lists() const {
  return std::any_of(part_.begin(), part_.end(),
                     [](const part_state& p) { return p.furthest2 > skin * skin / 4; });
}

std::size_t liquid::cell_of(const vec& p) const {
  const auto along = [this](double x) {
    return std::min(static_cast<std::size_t>(x / edge_ * static_cast<double>(cells_)), cells_ - 1);
  };
  return (along(p.x) * cells_ + along(p.y)) * cells_ + along(p.z);
}

void liquid::fill_cells() {
  cell_first_.assign(cells_ * cells_ * cells_ + 1, 0);
  for (std::size_t i = 0; i < size(); ++i) {
    vec& p = position_[i];
    p = {wrapped(p.x, edge_), wrapped(p.y, edge_), wrapped(p.z, edge_)};
    listed_at_[i] = p;
    ++cell_first_[cell_of(p) + 1];
  }
  for (std::size_t c = 1; c < cell_first_.size(); ++c)
    cell_first_[c] += cell_first_[c - 1];
  std::vector<std::uint32_t> next(cell_first_.begin(), cell_first_.end() - 1);
  for (std::size_t i = 0; i < size(); ++i)
    cell_atoms_[next[cell_of(position_[i])]++] = static_cast<std::uint32_t>(i);
  ++lists_made_;
}

// Each atom has all its neighbours, so that every part writes to its own atoms only.
void liquid::make_lists(unsigned part) {
  part_state& mine = part_[part];
  constexpr double reach2 = (cutoff + skin) * (cutoff + skin);
  mine.neighbours.clear();
  mine.first.clear();
  const auto side = static_cast<long>(cells_);
  for (std::size_t i = mine.begin; i < mine.end; ++i) {
    mine.first.push_back(static_cast<std::uint32_t>(mine.neighbours.size()));
    const vec p = position_[i];
    const auto cell = static_cast<long>(cell_of(p));
    const long cx = cell / (side * side), cy = cell / side % side, cz = cell % side;
    // With fewer than three cells along an edge, some would be met twice.
    const long low = side < 3 ? 0 : -1, high = side < 3 ? side - 1 : 1;
    for (long dx = low; dx <= high; ++dx) {
      for (long dy = low; dy <= high; ++dy) {
        for (long dz = low; dz <= high; ++dz) {
          const long other =
              ((cx + dx + side) % side * side + (cy + dy + side) % side) * side + (cz + dz + side) % side;
          const auto at = static_cast<std::size_t>(other);
          for (std::uint32_t k = cell_first_[at]; k < cell_first_[at + 1]; ++k) {
            const std::uint32_t j = cell_atoms_[k];
            if (j != i && square(difference(p, position_[j], edge_)) < reach2)
              mine.neighbours.push_back(j);
          }
        }
      }
    }
  }
  mine.first.push_back(static_cast<std::uint32_t>(mine.neighbours.size()));
  mine.furthest2 = 0;
}

void liquid::forces(unsigned part) {
  part_state& mine = part_[part];
  sums sum;
  const vec* const positions = position_.data();
  for (std::size_t i = mine.begin; i < mine.end; ++i) {
    const vec p = positions[i];
    vec f;
    double potential = 0;
    const std::uint32_t* j = mine.neighbours.data() + mine.first[i - mine.begin];
    const std::uint32_t* const end = mine.neighbours.data() + mine.first[i - mine.begin + 1];
    for (; j != end; ++j) {
      const vec d = difference(p, positions[*j], edge_);
      const double r2 = square(d);
      if (r2 >= force.cutoff2())
        continue;
      const auto [pair_potential, strength] = force(r2);
      potential += pair_potential;
      f = {f.x + d.x * strength, f.y + d.y * strength, f.z + d.z * strength};
    }
    force_[i] = f;
    vec& v = velocity_[i];
    v = {v.x + f.x * (time_step / 2), v.y + f.y * (time_step / 2), v.z + f.z * (time_step / 2)};
    sum.potential += potential / 2;
    sum.kinetic += square(v) / 2;
    sum.momentum = {sum.momentum.x + v.x, sum.momentum.y + v.y, sum.momentum.z + v.z};
  }
  mine.sum = sum;
}

liquid::sums liquid::total() const {
  sums all;
  for (const part_state& p : part_) {
    all.kinetic += p.sum.kinetic;
    all.potential += p.sum.potential;
    all.momentum = {all.momentum.x + p.sum.momentum.x, all.momentum.y + p.sum.momentum.y,
                    all.momentum.z + p.sum.momentum.z};
  }
  return all;
}

// --- analysis ---

void analysis::take(const liquid& of) {
  position_.assign(of.positions().begin(), of.positions().end());
  velocity_.assign(of.velocities().begin(), of.velocities().end());
  edge_ = of.edge();
  if (what_ == kind::distances)
    sort_into_cells();
  for (result& r : result_)
    r = result{};
}

long analysis::cell_along(double x) const {
  return std::min(static_cast<long>(x / edge_ * static_cast<double>(cells_)), cells_ - 1);
}

void analysis::sort_into_cells() {
  cells_ = std::max(static_cast<long>(edge_ / furthest), 1L);
  const auto cell_of = [this](const vec& p) {
    return static_cast<std::size_t>((cell_along(p.x) * cells_ + cell_along(p.y)) * cells_ + cell_along(p.z));
  };
  cell_first_.assign(static_cast<std::size_t>(cells_ * cells_ * cells_) + 1, 0);
  for (vec& p : position_) {
    p = {wrapped(p.x, edge_), wrapped(p.y, edge_), wrapped(p.z, edge_)};
    ++cell_first_[cell_of(p) + 1];
  }
  for (std::size_t c = 1; c < cell_first_.size(); ++c)
    cell_first_[c] += cell_first_[c - 1];
  std::vector<std::uint32_t> next(cell_first_.begin(), cell_first_.end() - 1);
  std::vector<vec> sorted(position_.size());
  for (const vec& p : position_)
    sorted[next[cell_of(p)]++] = p;
  position_.swap(sorted);
}

void analysis::run(unsigned part) {
  if (what_ == kind::distances)
    add_distances(part);
  else
    add_waves(part);
}

namespace {

void count_distance(const vec& a, const vec& b, double edge, analysis::counts& into) {
  const double r2 = square(difference(a, b, edge));
  if (r2 < analysis::furthest * analysis::furthest)
    ++into[std::min(static_cast<std::size_t>(std::sqrt(r2) * (analysis::bins / analysis::furthest)),
                    analysis::bins - 1)];
}

} // namespace

void analysis::add_distances(unsigned part) {
  counts& mine = result_[part].distances;
  const std::size_t parts = result_.size();
  // With fewer than three cells along an edge, some would be met twice.
  const long low = cells_ < 3 ? 0 : -1, high = cells_ < 3 ? cells_ - 1 : 1;
  for (std::size_t c = centres() * part / parts; c < centres() * (part + 1) / parts; ++c) {
    const std::size_t i = c * sampled;
    const vec p = position_[i];
    const long cx = cell_along(p.x), cy = cell_along(p.y), cz = cell_along(p.z);
    for (long dx = low; dx <= high; ++dx) {
      for (long dy = low; dy <= high; ++dy) {
        for (long dz = low; dz <= high; ++dz) {
          const long other = ((cx + dx + cells_) % cells_ * cells_ + (cy + dy + cells_) % cells_) * cells_ +
                             (cz + dz + cells_) % cells_;
          const auto at = static_cast<std::size_t>(other);
          for (std::size_t j = cell_first_[at]; j < cell_first_[at + 1]; ++j) {
            if (j != i)
              count_distance(p, position_[j], edge_, mine);
          }
        }
      }
    }
  }
}

analysis::counts analysis::distances_of_all_pairs() const {
  counts all{};
  for (std::size_t i = 0; i < position_.size(); i += sampled) {
    for (std::size_t j = 0; j < position_.size(); ++j) {
      if (j != i)
        count_distance(position_[i], position_[j], edge_, all);
    }
  }
  return all;
}

std::array<double, analysis::bins> analysis::radial(const counts& distances, std::size_t centres) {
  std::array<double, bins> found{};
  for (std::size_t b = 0; b < bins; ++b) {
    const double from = furthest * static_cast<double>(b) / bins;
    const double to = furthest * static_cast<double>(b + 1) / bins;
    const double volume = 4 * M_PI / 3 * (to * to * to - from * from * from);
    found[b] = static_cast<double>(distances[b]) / (static_cast<double>(centres) * density * volume);
  }
  return found;
}

// The structure factor along the axes, S(k) = |sum of exp(i k r)|^2 / N at multiples of 2 pi / edge, and a
// histogram of the velocities.
void analysis::add_waves(unsigned part) {
  result& mine = result_[part];
  const std::size_t n = position_.size(), parts = result_.size();
  const double unit = 2 * M_PI / edge_;
  // The first peak of the liquid is at k = 6.8 or so; around it.
  const auto first = static_cast<long>(6.8 / unit) - static_cast<long>(waves / 2);
  for (std::size_t i = n * part / parts; i < n * (part + 1) / parts; ++i) {
    const vec& p = position_[i];
    for (std::size_t w = 0; w < waves; ++w) {
      const double k = static_cast<double>(std::max(first, 1L) + static_cast<long>(w)) * unit;
      const double x = w % 3 == 0 ? p.x : w % 3 == 1 ? p.y : p.z;
      mine.cosines[w] += std::cos(k * x);
      mine.sines[w] += std::sin(k * x);
    }
    const vec& v = velocity_[i];
    for (const double each : {v.x, v.y, v.z}) {
      const double at = std::clamp((each + 6) / 12, 0.0, 0.999999);
      ++mine.histogram[static_cast<std::size_t>(at * static_cast<double>(bins))];
    }
    mine.twice_kinetic += square(v);
  }
}

analysis::result analysis::total() const {
  result all;
  for (const result& r : result_) {
    for (std::size_t w = 0; w < waves; ++w) {
      all.cosines[w] += r.cosines[w];
      all.sines[w] += r.sines[w];
    }
    for (std::size_t b = 0; b < bins; ++b) {
      all.histogram[b] += r.histogram[b];
      all.distances[b] += r.distances[b];
    }
    all.twice_kinetic += r.twice_kinetic;
  }
  return all;
}

} // namespace weft::bench::insitu
