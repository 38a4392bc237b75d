// SPDX-License-Identifier: MIT
// What is computed from a copy of the atoms while the simulation goes on: the structure factor at some waves,
// and a histogram of the velocities.
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
  static constexpr std::size_t waves = 6, bins = 64;
  struct alignas(128) result {
    std::array<double, waves> cosines{}, sines{};
    std::array<std::uint64_t, bins> histogram{};
    double twice_kinetic = 0;
  };

  explicit analysis(unsigned parts) : result_(parts) {}
  [[nodiscard]] unsigned parts() const { return static_cast<unsigned>(result_.size()); }

  // Copies the atoms.
  void take(const liquid& of);
  void run(unsigned part);
  [[nodiscard]] result total() const;

 private:
  std::vector<vec> position_, velocity_;
  double edge_ = 1;
  std::vector<result> result_;
};

} // namespace weft::bench::insitu
