// SPDX-License-Identifier: MIT
// Macroscopic cross-sections of a reactor, the kernel of a Monte Carlo transport of neutrons: the data, and
// the lookup of one particle. The shape is XSBench's (J. Tramm et al., PHYSOR 2014), the data and the code
// are our own: each nuclide has its cross-sections at 11,303 random energies; a unionised grid has all
// energies of all nuclides in order, and for each one where it lies in the grid of every nuclide; a material
// is a list of nuclides with their densities. A lookup finds a random energy in the unionised grid and adds
// up what the nuclides of a random material have there, five sums.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft::bench::xsbench {

inline constexpr std::size_t channels = 5; // total, elastic, absorption, fission, neutrons of fission

// small, large: XSBench's. tiny: for a test.
enum class size { tiny, small, large };
constexpr std::size_t nuclides(size s) {
  return s == size::large ? 355 : 68;
}
constexpr std::size_t grid_points(size s) { // of a nuclide
  return s == size::tiny ? 113 : 11'303;
}

// Immutable once made: any number of lookups at a time.
class cross_sections {
 public:
  using sums = std::array<double, channels>;

  // small: 0.3 GB; large: 5.9 GB, and some seconds.
  explicit cross_sections(size s);

  // Particle i: the same in every program, whoever asks and when.
  struct particle {
    double energy;
    std::size_t material;
  };
  [[nodiscard]] particle draw(std::uint64_t i) const;

  // The sums of particle i, by the unionised grid.
  [[nodiscard]] sums lookup(std::uint64_t i) const;
  // The same without the unionised grid: a search in the grid of each nuclide. Equal bit by bit.
  [[nodiscard]] sums lookup_slowly(std::uint64_t i) const;

  // What a lookup is for here: the number of the largest sum, from 1.
  [[nodiscard]] static unsigned char answer(const sums& all);

 private:
  struct point {
    double energy;
    sums at;
  };
  struct part { // of a material
    std::uint32_t nuclide;
    double density;
  };

  void make_points();
  void make_materials(size s);
  void unionise();
  [[nodiscard]] std::size_t row_of(double energy) const;
  void add(sums& all, const part& p, std::size_t at, double energy) const;

  std::size_t nuclides_, grid_points_;
  std::vector<point> points_;               // of one nuclide after the other, by energy
  std::vector<double> energies_;            // of the unionised grid
  std::unique_ptr<std::uint32_t[]> places_; // of each of these energies, a place for each nuclide
  std::vector<std::vector<part>> materials_;
};

} // namespace weft::bench::xsbench
