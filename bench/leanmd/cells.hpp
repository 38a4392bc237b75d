// SPDX-License-Identifier: MIT
// A Lennard-Jones liquid in a periodic cube of side^3 cells: who is in which cell, the forces between two
// cells, and a cell's step. The physics is that of insitu; the geometry is LeanMD's: a cutoff of three
// quarters of a cell's edge, so that a cell has to do with itself and its 26 neighbours, and atoms that move
// to another cell every so many steps only.
//
// Directions: 0 to 26, (x * 3 + y) * 3 + z of offsets of 0, 1 or 2; 13 is the cell itself, and the opposite
// of k is 26 - k.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/insitu/lj.hpp"
#include "bench/insitu/pair_force.hpp"

namespace weft::bench::leanmd {

inline constexpr unsigned directions = 27, itself = 13;
constexpr unsigned opposite(unsigned direction) {
  return directions - 1 - direction;
}

inline constexpr double time_step = 0.0005; // about LeanMD's femtosecond, for argon
inline constexpr double cutoff_in_edges = 0.75;

// Three numbers of each atom of a cell, one list each, for vector instructions.
struct triples {
  std::vector<double> x, y, z;
  [[nodiscard]] std::size_t size() const { return x.size(); }
  void push_back(double ax, double ay, double az);
  void assign_zeros(std::size_t n);
};

// What one of the pairs of cells that a cell belongs to adds to its forces.
struct contribution {
  triples force;
  double potential = 0; // this cell's half
};

// Of one cell in one step.
struct energies {
  double kinetic = 0, potential = 0;
  insitu::vec momentum;
};

// Ownership: interact() may run for any number of pairs at the same time while no cell of them is in another
// of these functions; the others change the cell that they are given, and nothing else but read_from's
// outbox.
class cells {
 public:
  // `side`, at least 3, to the third cells with about `atoms_per_cell` each, for so many steps.
  cells(unsigned side, std::size_t atoms_per_cell, std::size_t steps);

  [[nodiscard]] std::size_t count() const { return cells_.size(); }
  [[nodiscard]] std::size_t neighbour(std::size_t cell, unsigned direction) const;

  // The forces between `cell` and its neighbour in that direction, for both.
  void interact(std::size_t cell, unsigned direction);
  // Adds the 27 contributions up, always in the same order.
  void reduce(std::size_t cell);
  // The second half of the kick of step `step`, its energies, the first half of the next one, and the drift.
  void advance(std::size_t cell, std::size_t step);

  // Atoms that are not in this cell any more go into its outbox, by direction; then every cell takes in what
  // its neighbours have for it.
  void send_away(std::size_t cell);
  void take_in(std::size_t cell);

  // Of all cells. Only between steps.
  [[nodiscard]] energies total(std::size_t step) const;
  [[nodiscard]] std::size_t atoms() const;
  // A number from all bits of all positions and velocities, in order.
  [[nodiscard]] std::uint64_t fingerprint() const;

 private:
  struct content {
    triples position, velocity;
    triples force;
    double potential = 0;
    std::array<contribution, directions> from;
    std::array<std::pair<triples, triples>, directions> outbox; // positions, velocities
    std::vector<energies> of_step;
  };
  [[nodiscard]] std::array<unsigned, 3> place(std::size_t cell) const;
  void within(content& c);
  void between(const content& a, const content& b, const insitu::vec& to_b, contribution& on_a,
               contribution& on_b);

  unsigned side_;
  double edge_ = 0; // of a cell
  insitu::pair_force force_;
  std::vector<content> cells_;
};

} // namespace weft::bench::leanmd
