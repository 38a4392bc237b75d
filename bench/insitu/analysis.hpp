// SPDX-License-Identifier: MIT
// What is computed from a copy of the atoms while the simulation goes on: the structure factor at some waves
// and a histogram of the velocities, or the radial distribution, how often two atoms are so far apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/insitu/lj.hpp"

namespace weft::bench::insitu {

// Ownership: take() while no part runs; parts may run at the same time.
class analysis {
 public:
  enum class kind : std::uint8_t { waves, distances };
  static constexpr std::size_t waves = 6, bins = 64;
  static constexpr double furthest = cutoff; // that two atoms are counted
  static constexpr std::size_t sampled = 8;  // each eighth atom; all others around it
  using counts = std::array<std::uint64_t, bins>;
  struct alignas(128) result {
    std::array<double, waves> cosines{}, sines{};
    counts histogram{};
    counts distances{}; // of each sampled atom to each other one
    double twice_kinetic = 0;
  };

  analysis(unsigned parts, kind what) : what_(what), result_(parts) {}
  [[nodiscard]] unsigned parts() const { return static_cast<unsigned>(result_.size()); }

  // Copies the atoms, for distances into cells.
  void take(const liquid& of);
  void run(unsigned part);
  [[nodiscard]] result total() const;

  [[nodiscard]] std::size_t centres() const { return (position_.size() + sampled - 1) / sampled; }
  // result::distances of the last copy, by a look at all others.
  [[nodiscard]] counts distances_of_all_pairs() const;
  // The radial distribution: how many atoms are at that distance, beside as many as there would be if they
  // were anywhere.
  [[nodiscard]] static std::array<double, bins> radial(const counts& distances, std::size_t centres);

 private:
  void sort_into_cells();
  void add_waves(unsigned part);
  void add_distances(unsigned part);
  [[nodiscard]] long cell_along(double x) const;

  kind what_;
  long cells_ = 1;                        // along an edge
  std::vector<std::uint32_t> cell_first_; // of position_, which is in the order of cells
  std::vector<vec> position_, velocity_;
  double edge_ = 1;
  std::vector<result> result_;
};

} // namespace weft::bench::insitu
