// SPDX-License-Identifier: MIT
// What every benchmark program shares: arguments, a clock, samples, checks, and one JSON object on stdout.
// One process is one workload of one peer. After a warm-up whose cost does not depend on --rounds, it does
// rounds x repeats equal rounds, so two runs that differ in --rounds give the cost of an operation by
// difference.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::bench {

// Steady clock, nanoseconds.
inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct options {
  std::size_t n = 1;       // size of the workload; its meaning is the workload's
  std::size_t rounds = 1;  // rounds in a sample
  std::size_t repeats = 1; // samples
  unsigned workers = 1;    // kernel threads the peer may use
  std::string form;        // which of the peer's ways to do it; empty: the first one
};

class recorder {
 public:
  // Parses --n --rounds --repeats --workers --form (and --list-forms, which prints the forms and exits).
  // The first of `forms` is the default. Wrong arguments end the process with a message and a non-zero code.
  recorder(int argc, char** argv, options defaults, std::vector<std::string> forms);

  const options& opt() const { return options_; }
  bool form_is(std::string_view form) const { return options_.form == form; }

  // Calls round() repeats x rounds times; a sample is the mean time of an operation over `rounds` rounds,
  // in ns.
  template <class Round>
  void time_rounds(std::size_t ops_per_round, Round&& round) {
    for (std::size_t repeat = 0; repeat < options_.repeats; ++repeat) {
      const std::int64_t begin = now_ns();
      for (std::size_t r = 0; r < options_.rounds; ++r)
        round();
      const auto elapsed = static_cast<double>(now_ns() - begin);
      add_sample(elapsed / static_cast<double>(ops_per_round * options_.rounds));
    }
    add_ops(ops_per_round * options_.rounds * options_.repeats);
  }

  void add_sample(double value) { samples_.push_back(value); }
  void add_ops(std::size_t ops) { ops_ += ops; }
  void unit(std::string name) { unit_ = std::move(name); } // of the samples; "ns/op" unless told
  void extra(std::string name, double value) { extras_.emplace_back(std::move(name), value); }

  // A wrong answer is reported on stderr, and finish() then returns 1.
  void check(bool right, std::string_view what);

  // Prints the JSON object; the value is main's.
  int finish();

 private:
  options options_;
  std::vector<double> samples_;
  std::vector<std::pair<std::string, double>> extras_;
  std::string unit_ = "ns/op";
  std::size_t ops_ = 0;
  bool right_ = true;
};

// Binds the calling kernel thread, and those it starts later, to the k-th CPU of its affinity mask.
void pin_to_cpu(unsigned k);
// The calling kernel thread, and those it starts later, stay on the first n CPUs of its affinity mask.
void keep_to_cpus(unsigned n);

// Resident bytes of this process (Rss), bytes of page tables (VmPTE), and what of the resident bytes is in
// huge pages, from /proc.
struct memory_use {
  double resident = 0;
  double page_tables = 0;
  double huge = 0;
};
memory_use memory_now();

} // namespace weft::bench
