// SPDX-License-Identifier: MIT
// What was measured of one form, in ns, and how it is told.
#pragma once

#include <algorithm>
#include <cstdio>
#include <vector>

namespace weft::bench::decisions {

class series {
 public:
  void add(double ns) { values_.insert(std::upper_bound(values_.begin(), values_.end(), ns), ns); }
  // Two members of an object of JSON.
  void print() const {
    std::printf("\"least\": %.3f, \"median\": %.3f", values_.front(), values_[values_.size() / 2]);
  }

 private:
  std::vector<double> values_; // in order
};

} // namespace weft::bench::decisions
