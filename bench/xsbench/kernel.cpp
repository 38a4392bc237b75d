// SPDX-License-Identifier: MIT
// The numbers of cross_sections.hpp. One source for all peers, so that all have the same code.
#include <algorithm>
#include <numeric>
#include <utility>

#include "bench/common/random.hpp"
#include "bench/xsbench/cross_sections.hpp"

namespace weft::bench::xsbench {
namespace {

constexpr std::size_t materials = 12;
// Nuclides of each material; the first is the fuel. Those of the Hoogenboom-Martin reactor, as XSBench has
// it.
constexpr std::array<std::size_t, materials> nuclides_of = {0, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9};
constexpr std::size_t in_fuel(size s) {
  return s == size::large ? 321 : 34;
}
// Of a thousand lookups, how many are in each material: 140 in the fuel.
constexpr std::array<unsigned, materials> share = {140, 52, 275, 134, 154, 64, 66, 55, 8, 15, 25, 12};

enum stream : std::uint64_t { of_energies = 1, of_values, of_densities, of_nuclides, of_particles };

} // namespace

cross_sections::cross_sections(size s)
    : nuclides_(xsbench::nuclides(s)), grid_points_(xsbench::grid_points(s)) {
  make_points();
  make_materials(s);
  unionise();
}

void cross_sections::make_points() {
  points_.resize(nuclides_ * grid_points_);
  for (std::size_t k = 0; k < points_.size(); ++k) {
    points_[k].energy = unit_interval(random_at(of_energies, k));
    for (std::size_t c = 0; c < channels; ++c)
      points_[k].at[c] = unit_interval(random_at(of_values, k * channels + c));
  }
  for (std::size_t n = 0; n < nuclides_; ++n) {
    const auto first = points_.begin() + static_cast<std::ptrdiff_t>(n * grid_points_);
    std::sort(first, first + static_cast<std::ptrdiff_t>(grid_points_),
              [](const point& a, const point& b) { return a.energy < b.energy; });
  }
}

void cross_sections::make_materials(size s) {
  std::uint64_t drawn = 0;
  for (std::size_t m = 0; m < materials; ++m) {
    // A material's nuclides are drawn as cards are: any, but none twice; a lookup takes them in order.
    std::vector<std::uint32_t> all(nuclides_);
    std::iota(all.begin(), all.end(), 0);
    const std::size_t count = m == 0 ? in_fuel(s) : nuclides_of[m];
    for (std::size_t k = 0; k < count; ++k)
      std::swap(all[k], all[k + random_at(of_nuclides, drawn++) % (nuclides_ - k)]);
    all.resize(count);
    std::sort(all.begin(), all.end());
    std::vector<part>& parts = materials_.emplace_back();
    for (const std::uint32_t n : all)
      parts.push_back({n, unit_interval(random_at(of_densities, m * nuclides_ + n))});
  }
}

void cross_sections::unionise() {
  std::vector<std::pair<double, std::uint32_t>> all; // and whose it is
  all.reserve(points_.size());
  for (std::size_t k = 0; k < points_.size(); ++k)
    all.emplace_back(points_[k].energy, static_cast<std::uint32_t>(k / grid_points_));
  std::sort(all.begin(), all.end());
  // Of each nuclide, the last point that is no higher; never its last one, so that there is a next one.
  std::vector<std::uint32_t> here(nuclides_, 0);
  std::vector<std::uint32_t> passed(nuclides_, 0);
  const auto last = static_cast<std::uint32_t>(grid_points_ - 2);
  energies_.reserve(all.size());
  places_ = std::make_unique_for_overwrite<std::uint32_t[]>(all.size() * nuclides_);
  for (std::size_t row = 0; row < all.size(); ++row) {
    const auto [energy, n] = all[row];
    energies_.push_back(energy);
    here[n] = std::min(passed[n]++, last);
    std::copy(here.begin(), here.end(), places_.get() + row * nuclides_);
  }
}

cross_sections::particle cross_sections::draw(std::uint64_t i) const {
  const double energy = unit_interval(random_at(of_particles, 2 * i));
  auto at = static_cast<unsigned>(random_at(of_particles, 2 * i + 1) % 1000);
  std::size_t material = 0;
  while (at >= share[material])
    at -= share[material++];
  return {energy, material};
}

std::size_t cross_sections::row_of(double energy) const {
  const auto above = std::upper_bound(energies_.begin(), energies_.end(), energy);
  return above == energies_.begin() ? 0 : static_cast<std::size_t>(above - energies_.begin()) - 1;
}

// Between a nuclide's points `at` and at + 1; straight on outside its grid.
inline void cross_sections::add(sums& all, const part& p, std::size_t at, double energy) const {
  const point* const low = &points_[p.nuclide * grid_points_ + at];
  const double weight = (energy - low[0].energy) / (low[1].energy - low[0].energy);
  for (std::size_t c = 0; c < channels; ++c)
    all[c] += p.density * (low[0].at[c] + weight * (low[1].at[c] - low[0].at[c]));
}

cross_sections::sums cross_sections::lookup(std::uint64_t i) const {
  const particle p = draw(i);
  const std::uint32_t* const places = places_.get() + row_of(p.energy) * nuclides_;
  sums all{};
  for (const part& each : materials_[p.material])
    add(all, each, places[each.nuclide], p.energy);
  return all;
}

cross_sections::sums cross_sections::lookup_slowly(std::uint64_t i) const {
  const particle p = draw(i);
  sums all{};
  for (const part& each : materials_[p.material]) {
    const point* const first = &points_[each.nuclide * grid_points_];
    const point* const above = std::upper_bound(first, first + grid_points_, p.energy,
                                                [](double e, const point& q) { return e < q.energy; });
    const auto at = above == first ? 0 : static_cast<std::size_t>(above - first) - 1;
    add(all, each, std::min(at, grid_points_ - 2), p.energy);
  }
  return all;
}

unsigned char cross_sections::answer(const sums& all) {
  return static_cast<unsigned char>(std::max_element(all.begin(), all.end()) - all.begin() + 1);
}

} // namespace weft::bench::xsbench
