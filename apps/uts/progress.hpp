// SPDX-License-Identifier: MIT
// Progress on the terminal: on a tty one line that is rewritten as the run goes, and one line that stays
// per result; otherwise plain lines, with a sign of life every ten seconds.
#pragma once

#include <cstddef>
#include <string>

namespace weft::uts {

class progress {
 public:
  /// `total_weight`: the sum of all steps' weights, in any unit that is about proportional to time.
  progress(std::size_t steps, double total_weight);

  void begin(const std::string& what, double weight);
  void tick(double seconds, std::size_t resident);
  void end(const std::string& line, bool ok);
  /// A step that is left out; an empty line says nothing about it.
  void skip(const std::string& line, double weight);
  void note(const std::string& line, bool bad = false);

 private:
  [[nodiscard]] std::string time_left(double seconds) const;
  void clear() const;

  bool tty_;
  std::size_t steps_;
  std::size_t step_ = 0;
  double total_weight_;
  double done_weight_ = 0;
  double done_seconds_ = 0;
  double weight_ = 0;
  double step_seconds_ = 0;
  double next_sign_ = 0;
  std::size_t resident_ = 0;
  std::string what_;
};

} // namespace weft::uts
