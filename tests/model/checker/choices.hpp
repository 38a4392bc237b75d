// SPDX-License-Identifier: MIT
// The decisions of one execution, and the walk over all of them: depth first with replay, or at random.
#pragma once

#include "tests/model/checker/quarantine.hpp"

#include <cstdint>
#include <random>
#include <vector>

namespace weft::model {

/// Every nondeterministic step asks choose(); alternative 0 is the dull one (go on, read the newest store).
class choices {
 public:
  void start_depth_first() { taken_.clear(), random_ = false; }

  void start_random(std::uint64_t seed) {
    random_ = true;
    engine_.seed(seed);
  }

  /// Begins an execution: the recorded prefix is taken again.
  void rewind() noexcept { depth_ = 0; }

  /// One of `count` alternatives, 0 .. count-1.
  unsigned choose(unsigned count) {
    if (count <= 1) {
      return 0;
    }
    if (random_) {
      return engine_() % 4 != 0 ? 0 : static_cast<unsigned>(engine_() % count);
    }
    if (depth_ == taken_.size()) {
      taken_.push_back({0, count});
    }
    return taken_[depth_++].index;
  }

  /// Whether what comes now has not been met in an execution before: no recorded choice is left.
  bool is_new() const noexcept { return !random_ && depth_ == taken_.size(); }

  /// Moves to the next execution; false if all have been run.
  bool advance() {
    if (random_) {
      return true;
    }
    taken_.resize(depth_);
    while (!taken_.empty() && taken_.back().index + 1 == taken_.back().count) {
      taken_.pop_back();
    }
    if (taken_.empty()) {
      return false;
    }
    ++taken_.back().index;
    return true;
  }

 private:
  struct choice {
    unsigned index;
    unsigned count;
  };
  std::vector<choice, host_allocator<choice>> taken_;
  std::size_t depth_ = 0;
  bool random_ = false;
  std::mt19937_64 engine_;
};

} // namespace weft::model
