// SPDX-License-Identifier: MIT
// Molecular dynamics of a Lennard-Jones liquid in a periodic cube, in reduced units, by parts that run at the
// same time: velocity Verlet; pair forces (pair_force.hpp) from neighbour lists, which are made anew when an
// atom has gone half the skin. The state is that of LAMMPS' benchmark "lj": an fcc lattice of density 0.8442
// at a temperature of 1.44, cutoff 2.5, skin 0.3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::bench::insitu {

struct vec {
  double x = 0, y = 0, z = 0;
};

inline constexpr double density = 0.8442;
inline constexpr double start_temperature = 1.44;
inline constexpr double cutoff = 2.5;
inline constexpr double skin = 0.3;
inline constexpr double time_step = 0.002;

// The state at the beginning.
struct lattice {
  // 4 c^3 atoms, the least number of this form that is no smaller than `atoms`, without a momentum.
  explicit lattice(std::size_t atoms);
  double edge = 0; // of the cube that holds them
  std::vector<vec> positions, velocities;
};

// Ownership: `step_1` to `step_3` of different parts may run at the same time; each phase begins when the one
// before has ended everywhere, and what stands between phases (`needs_lists()`, `fill_cells()`, `energy()`)
// is called by one.
class liquid {
 public:
  // The atoms of lattice(atoms), in `parts`.
  liquid(std::size_t atoms, unsigned parts);

  [[nodiscard]] std::size_t size() const { return position_.size(); }
  [[nodiscard]] unsigned parts() const { return static_cast<unsigned>(part_.size()); }
  [[nodiscard]] double edge() const { return edge_; }
  [[nodiscard]] const std::vector<vec>& positions() const { return position_; }
  [[nodiscard]] const std::vector<vec>& velocities() const { return velocity_; }

  // Half a kick and the drift.
  void move(unsigned part);
  // Whether some atom has gone too far; then fill_cells(), and make_lists() for each part, come before
  // forces().
  [[nodiscard]] bool needs_lists() const;
  // Atoms back into the cube and sorted into cells: by one, while the others have nothing to do.
  void fill_cells();
  void make_lists(unsigned part);
  // Forces, and the other half of the kick.
  void forces(unsigned part);

  // After forces(), of the whole system.
  struct sums {
    double kinetic = 0, potential = 0;
    vec momentum;
    [[nodiscard]] double energy() const { return kinetic + potential; }
  };
  [[nodiscard]] sums total() const;
  [[nodiscard]] std::size_t lists_made() const { return lists_made_; }

 private:
  struct alignas(128) part_state {
    std::size_t begin = 0, end = 0;
    double furthest2 = 0; // of its atoms since the lists were made, squared
    sums sum;
    std::vector<std::uint32_t> neighbours; // of its atoms, one after the other
    std::vector<std::uint32_t> first;      // where each one's begin, and the end
  };
  [[nodiscard]] std::size_t cell_of(const vec& p) const;

  double edge_ = 0;
  std::size_t cells_ = 0; // along an edge
  std::vector<vec> position_, velocity_, force_, listed_at_;
  std::vector<std::uint32_t> cell_first_, cell_atoms_;
  std::vector<part_state> part_;
  std::size_t lists_made_ = 0;
};

} // namespace weft::bench::insitu
