// SPDX-License-Identifier: MIT
// The numbers of cells.hpp. One source for all peers, so that all have the same code.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

#include "bench/leanmd/cells.hpp"

namespace weft::bench::leanmd {
namespace {

// The atoms of b from `first` on that are nearer to a point than the cutoff. Two loops instead of one with a
// branch that nobody can predict: distances by vector instructions, then a list without branches.
class neighbours_of_a_point {
 public:
  explicit neighbours_of_a_point(std::size_t most) : distance2_(most), near_(most) {}

  void find(const triples& b, std::size_t first, double x, double y, double z, double cutoff2) {
    const std::size_t n = b.size();
    double* const __restrict d2 = distance2_.data();
    const double *const bx = b.x.data(), *const by = b.y.data(), *const bz = b.z.data();
    for (std::size_t j = first; j < n; ++j) {
      const double dx = x - bx[j], dy = y - by[j], dz = z - bz[j];
      d2[j] = dx * dx + dy * dy + dz * dz;
    }
    std::uint32_t* const __restrict near = near_.data();
    std::size_t count = 0;
    for (std::size_t j = first; j < n; ++j) {
      near[count] = static_cast<std::uint32_t>(j);
      count += d2[j] < cutoff2 ? 1 : 0;
    }
    count_ = count;
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t at(std::size_t k) const { return near_[k]; }
  [[nodiscard]] double distance2(std::size_t k) const { return distance2_[near_[k]]; }

 private:
  std::vector<double> distance2_;
  std::vector<std::uint32_t> near_;
  std::size_t count_ = 0;
};

int offset(unsigned digit) {
  return static_cast<int>(digit) - 1;
}

// Into the cube, and which cell along this axis.
unsigned wrap(double& x, double cell_edge, unsigned side) {
  const double edge = cell_edge * side;
  x -= edge * std::floor(x / edge);
  if (x >= edge)
    x = 0;
  return std::min(static_cast<unsigned>(x / cell_edge), side - 1);
}

void append(triples& to, const triples& from) {
  to.x.insert(to.x.end(), from.x.begin(), from.x.end());
  to.y.insert(to.y.end(), from.y.begin(), from.y.end());
  to.z.insert(to.z.end(), from.z.begin(), from.z.end());
}

} // namespace

void triples::push_back(double ax, double ay, double az) {
  x.push_back(ax);
  y.push_back(ay);
  z.push_back(az);
}

void triples::assign_zeros(std::size_t n) {
  x.assign(n, 0);
  y.assign(n, 0);
  z.assign(n, 0);
}

cells::cells(unsigned side, std::size_t atoms_per_cell, std::size_t steps) : side_(side), force_(1) {
  const insitu::lattice start(atoms_per_cell * side * side * side);
  edge_ = start.edge / side;
  force_ = insitu::pair_force(cutoff_in_edges * edge_);
  cells_.resize(std::size_t{side} * side * side);
  for (content& c : cells_)
    c.of_step.resize(steps);
  for (std::size_t i = 0; i < start.positions.size(); ++i) {
    insitu::vec p = start.positions[i];
    const insitu::vec& v = start.velocities[i];
    const std::size_t x = wrap(p.x, edge_, side), y = wrap(p.y, edge_, side), z = wrap(p.z, edge_, side);
    content& c = cells_[(x * side + y) * side + z];
    c.position.push_back(p.x, p.y, p.z);
    c.velocity.push_back(v.x, v.y, v.z);
  }
}

std::array<unsigned, 3> cells::place(std::size_t cell) const {
  const auto at = static_cast<unsigned>(cell);
  return {at / (side_ * side_), at / side_ % side_, at % side_};
}

std::size_t cells::neighbour(std::size_t cell, unsigned direction) const {
  const std::array<unsigned, 3> at = place(cell);
  const std::array<unsigned, 3> by = {direction / 9, direction / 3 % 3, direction % 3};
  std::size_t found = 0;
  for (unsigned axis = 0; axis < 3; ++axis)
    found = found * side_ + (at[axis] + side_ + by[axis] - 1) % side_;
  return found;
}

void cells::interact(std::size_t cell, unsigned direction) {
  if (direction == itself)
    return within(cells_[cell]);
  // Where the neighbour's atoms are seen from here: across the border of the cube, an edge of it away.
  const std::array<unsigned, 3> at = place(cell);
  const std::array<unsigned, 3> by = {direction / 9, direction / 3 % 3, direction % 3};
  std::array<double, 3> shift{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    const int there = static_cast<int>(at[axis]) + offset(by[axis]);
    shift[axis] = edge_ * side_ * (there < 0 ? -1 : there >= static_cast<int>(side_) ? 1 : 0);
  }
  content& a = cells_[cell];
  content& b = cells_[neighbour(cell, direction)];
  between(a, b, {shift[0], shift[1], shift[2]}, a.from[direction], b.from[opposite(direction)]);
}

void cells::between(const content& a, const content& b, const insitu::vec& to_b, contribution& on_a,
                    contribution& on_b) {
  const triples &p = a.position, &q = b.position;
  on_a.force.assign_zeros(p.size());
  on_b.force.assign_zeros(q.size());
  const insitu::pair_force force = force_;
  neighbours_of_a_point near(q.size());
  double potential = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double x = p.x[i] - to_b.x, y = p.y[i] - to_b.y, z = p.z[i] - to_b.z;
    near.find(q, 0, x, y, z, force.cutoff2());
    double fx = 0, fy = 0, fz = 0;
    for (std::size_t k = 0; k < near.count(); ++k) {
      const std::size_t j = near.at(k);
      const auto [pair_potential, strength] = force(near.distance2(k));
      potential += pair_potential;
      const double gx = (x - q.x[j]) * strength, gy = (y - q.y[j]) * strength, gz = (z - q.z[j]) * strength;
      fx += gx;
      fy += gy;
      fz += gz;
      on_b.force.x[j] -= gx;
      on_b.force.y[j] -= gy;
      on_b.force.z[j] -= gz;
    }
    on_a.force.x[i] = fx;
    on_a.force.y[i] = fy;
    on_a.force.z[i] = fz;
  }
  on_a.potential = on_b.potential = potential / 2;
}

void cells::within(content& c) {
  const triples& p = c.position;
  contribution& on = c.from[itself];
  on.force.assign_zeros(p.size());
  const insitu::pair_force force = force_;
  neighbours_of_a_point near(p.size());
  double potential = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    near.find(p, i + 1, p.x[i], p.y[i], p.z[i], force.cutoff2());
    double fx = 0, fy = 0, fz = 0;
    for (std::size_t k = 0; k < near.count(); ++k) {
      const std::size_t j = near.at(k);
      const auto [pair_potential, strength] = force(near.distance2(k));
      potential += pair_potential;
      const double gx = (p.x[i] - p.x[j]) * strength, gy = (p.y[i] - p.y[j]) * strength,
                   gz = (p.z[i] - p.z[j]) * strength;
      fx += gx;
      fy += gy;
      fz += gz;
      on.force.x[j] -= gx;
      on.force.y[j] -= gy;
      on.force.z[j] -= gz;
    }
    on.force.x[i] += fx;
    on.force.y[i] += fy;
    on.force.z[i] += fz;
  }
  on.potential = potential;
}

void cells::reduce(std::size_t cell) {
  content& c = cells_[cell];
  c.force.assign_zeros(c.position.size());
  c.potential = 0;
  for (const contribution& each : c.from) {
    for (std::size_t i = 0; i < c.force.size(); ++i) {
      c.force.x[i] += each.force.x[i];
      c.force.y[i] += each.force.y[i];
      c.force.z[i] += each.force.z[i];
    }
    c.potential += each.potential;
  }
}

void cells::advance(std::size_t cell, std::size_t step) {
  content& c = cells_[cell];
  triples &p = c.position, &v = c.velocity;
  const double half_kick = time_step / 2;
  const double second = step == 0 ? 0 : half_kick; // the velocities of the beginning are the right ones
  energies& now = c.of_step[step];
  now = {.kinetic = 0, .potential = c.potential, .momentum = {}};
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double fx = c.force.x[i], fy = c.force.y[i], fz = c.force.z[i];
    const double vx = v.x[i] + fx * second, vy = v.y[i] + fy * second, vz = v.z[i] + fz * second;
    now.kinetic += (vx * vx + vy * vy + vz * vz) / 2;
    now.momentum = {now.momentum.x + vx, now.momentum.y + vy, now.momentum.z + vz};
    v.x[i] = vx + fx * half_kick;
    v.y[i] = vy + fy * half_kick;
    v.z[i] = vz + fz * half_kick;
    p.x[i] += v.x[i] * time_step;
    p.y[i] += v.y[i] * time_step;
    p.z[i] += v.z[i] * time_step;
  }
}

void cells::send_away(std::size_t cell) {
  content& c = cells_[cell];
  for (auto& [positions, velocities] : c.outbox)
    positions = velocities = {};
  const std::array<unsigned, 3> at = place(cell);
  for (std::size_t i = 0; i < c.position.size(); ++i) {
    double x = c.position.x[i], y = c.position.y[i], z = c.position.z[i];
    const std::array<unsigned, 3> now = {wrap(x, edge_, side_), wrap(y, edge_, side_), wrap(z, edge_, side_)};
    unsigned direction = 0;
    for (unsigned axis = 0; axis < 3; ++axis)
      direction = direction * 3 + (now[axis] + side_ + 1 - at[axis]) % side_;
    auto& [positions, velocities] =
        c.outbox.at(direction); // throws for one that has gone farther than a cell
    positions.push_back(x, y, z);
    velocities.push_back(c.velocity.x[i], c.velocity.y[i], c.velocity.z[i]);
  }
  std::tie(c.position, c.velocity) = c.outbox[itself];
}

void cells::take_in(std::size_t cell) {
  content& c = cells_[cell];
  for (unsigned direction = 0; direction < directions; ++direction) {
    if (direction == itself)
      continue;
    const auto& [positions, velocities] = cells_[neighbour(cell, direction)].outbox[opposite(direction)];
    append(c.position, positions);
    append(c.velocity, velocities);
  }
}

energies cells::total(std::size_t step) const {
  energies all;
  for (const content& c : cells_) {
    const energies& one = c.of_step[step];
    all.kinetic += one.kinetic;
    all.potential += one.potential;
    all.momentum = {all.momentum.x + one.momentum.x, all.momentum.y + one.momentum.y,
                    all.momentum.z + one.momentum.z};
  }
  return all;
}

std::size_t cells::atoms() const {
  std::size_t all = 0;
  for (const content& c : cells_)
    all += c.position.size();
  return all;
}

std::uint64_t cells::fingerprint() const {
  std::uint64_t mixed = 0;
  const auto mix = [&mixed](const std::vector<double>& values) {
    for (const double value : values) {
      std::uint64_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      mixed = (mixed ^ bits) * 0x100000001B3; // FNV-1a, a word at a time
      mixed ^= mixed >> 32;
    }
  };
  for (const content& c : cells_) {
    for (const triples* const t : {&c.position, &c.velocity}) {
      mix(t->x);
      mix(t->y);
      mix(t->z);
    }
  }
  return mixed;
}

} // namespace weft::bench::leanmd
