// SPDX-License-Identifier: MIT
// xsbench: section VI-A1 of "Argobots: A Lightweight Low-Level Threading and Tasking Framework" (TPDS 2018).
// A tasklet looks the cross-sections of one particle up (cross_sections.hpp); each worker has a creator for
// an equal part of the n particles, which makes 8,192 tasklets at a time. Lookups whose energies are near to
// each other find in the caches what the others have read, so a scheduler of the user's runs those 8,192 in
// the order of their energies.
//
// A form is <how>.<size>: sorted, the above; unsorted, the same tasklets in the order of creation; loop, no
// tasklets but a parallel loop; serial: a loop on one worker. Sizes: small, large, tiny (cross_sections.hpp).
//
// A sample is the time of a lookup on all workers together, in ns. Before each one the same n lookups are
// done by a plain loop. Extras, of all samples together: serial_ns, the loop's; x_serial, the sample over the
// loop's; cpu_x_serial, the same of the CPU time, which other programs disturb less; answers, the sum of all
// answers, as XSBench counts it.
#pragma once

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "bench/common/bench.hpp"
#include "bench/xsbench/cross_sections.hpp"

namespace weft::bench::xsbench {

// What a creator makes before its tasklets run: the paper's.
inline constexpr std::size_t batch = 8192;

inline options defaults() {
  return {.n = 1'000'000, .rounds = 1, .repeats = 3, .workers = 1, .form = {}};
}

inline std::vector<std::string> forms(std::initializer_list<const char*> how) {
  std::vector<std::string> all;
  for (const char* const size : {".small", ".large", ".tiny"}) {
    for (const std::string each : how)
      all.push_back(each + size);
  }
  return all;
}
inline std::string how(const recorder& rec) {
  return rec.opt().form.substr(0, rec.opt().form.find('.'));
}

// The lookups of a run. answer_at(i) and part() of different i and parts may be called at the same time.
class lookups {
 public:
  lookups(size s, std::size_t n) : data_(s), answers_(n) {}

  [[nodiscard]] std::size_t count() const { return answers_.size(); }
  [[nodiscard]] double energy_of(std::size_t i) const { return data_.draw(i).energy; }
  void look_up(std::size_t i) { answers_[i] = cross_sections::answer(data_.lookup(i)); }

  // Of one of so many equal parts, a batch after the other: create(j, i) makes the tasklet of particle i, the
  // j-th of its batch, and join(j) joins it.
  template <class Create, class Join>
  void in_batches(std::size_t part, std::size_t parts, Create create, Join join) const {
    const std::size_t end = (part + 1) * count() / parts;
    for (std::size_t begin = part * count() / parts; begin < end; begin += batch) {
      const std::size_t made = std::min(batch, end - begin);
      for (std::size_t j = 0; j < made; ++j)
        create(j, begin + j);
      for (std::size_t j = 0; j < made; ++j)
        join(j);
    }
  }

  // All answers since the last call, which leaves none.
  std::vector<unsigned char> take() { return std::exchange(answers_, std::vector<unsigned char>(count())); }
  // Whether an answer is what a search without the unionised grid finds, and the sums the same bit by bit.
  [[nodiscard]] bool right(std::size_t i, unsigned char answer) const {
    const cross_sections::sums all = data_.lookup_slowly(i);
    return data_.lookup(i) == all && cross_sections::answer(all) == answer;
  }

 private:
  const cross_sections data_;
  std::vector<unsigned char> answers_;
};

struct times {
  double wall = 0, cpu = 0; // ns
};
template <class F>
times time_of(F&& f) {
  const auto cpu_now = [] {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
  };
  const std::int64_t begin = now_ns();
  const double cpu = cpu_now();
  f();
  return {static_cast<double>(now_ns() - begin), cpu_now() - cpu};
}

// look_all_up(l) calls l.look_up() for every particle.
template <class LookAllUp>
int run(recorder& rec, LookAllUp&& look_all_up) {
  const std::size_t n = rec.opt().n;
  const std::string& form = rec.opt().form;
  lookups l(form.ends_with(".large") ? size::large : form.ends_with(".tiny") ? size::tiny : size::small, n);
  const auto serially = [&l] {
    for (std::size_t i = 0; i < l.count(); ++i)
      l.look_up(i);
  };
  serially(); // and the first touch of everything
  const std::vector<unsigned char> expected = l.take();
  for (std::size_t i = 0; i < n; i += 1000)
    rec.check(l.right(i, expected[i]), "a search without the unionised grid finds the same");
  look_all_up(l);
  rec.check(l.take() == expected, "the answers of the warm-up");

  times loop, ours;
  for (std::size_t sample = 0; sample < rec.opt().repeats * rec.opt().rounds; ++sample) {
    const times serial = time_of(serially);
    rec.check(l.take() == expected, "the answers of the plain loop");
    const times here = time_of([&] { look_all_up(l); });
    rec.check(l.take() == expected, "the answers");
    loop = {loop.wall + serial.wall, loop.cpu + serial.cpu};
    ours = {ours.wall + here.wall, ours.cpu + here.cpu};
    rec.add_sample(here.wall / static_cast<double>(n));
    rec.add_ops(n);
  }
  std::uint64_t sum = 0;
  for (const unsigned char each : expected)
    sum += each;
  rec.extra("serial_ns", loop.wall / static_cast<double>(n * rec.opt().repeats * rec.opt().rounds));
  rec.extra("x_serial", ours.wall / loop.wall);
  rec.extra("cpu_x_serial", ours.cpu / loop.cpu);
  rec.extra("answers", static_cast<double>(sum % 999'983));
  return rec.finish();
}

} // namespace weft::bench::xsbench
