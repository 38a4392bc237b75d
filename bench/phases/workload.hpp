// SPDX-License-Identifier: MIT
// phases: n units with an empty body are created; then all are run and joined; then all are freed. The three
// are timed apart. One operation is one unit through all three; "create", "join" and "free" beside it are
// medians over the samples.
#pragma once

#include <algorithm>
#include <array>

#include "bench/create_join/workload.hpp"

namespace weft::bench::phases {

using create_join::counting_body;
using create_join::empty_body;

inline options defaults() {
  return {.n = 4096, .rounds = 20, .repeats = 5, .workers = 1, .form = {}};
}

// create(body) creates n units that call body.run(); join() and free() do that to all of them.
template <class Create, class Join, class Free>
int run(recorder& rec, Create&& create, Join&& join, Free&& free) {
  create(counting_body{});
  join();
  rec.check(counting_body::count == rec.opt().n, "every unit has run exactly once when it is joined");
  rec.extra("huge_page_bytes", memory_now().huge / static_cast<double>(rec.opt().n));
  free();

  const std::size_t units = rec.opt().n * rec.opt().rounds;
  constexpr const char* names[] = {"create", "join", "free"};
  std::array<std::vector<double>, 3> parts;
  for (std::size_t repeat = 0; repeat < rec.opt().repeats; ++repeat) {
    std::int64_t spent[3] = {};
    for (std::size_t round = 0; round < rec.opt().rounds; ++round) {
      const std::int64_t begin = now_ns();
      create(empty_body{});
      const std::int64_t created = now_ns();
      join();
      const std::int64_t joined = now_ns();
      free();
      spent[0] += created - begin;
      spent[1] += joined - created;
      spent[2] += now_ns() - joined;
    }
    for (std::size_t k = 0; k < 3; ++k)
      parts[k].push_back(static_cast<double>(spent[k]) / static_cast<double>(units));
    rec.add_sample(static_cast<double>(spent[0] + spent[1] + spent[2]) / static_cast<double>(units));
  }
  rec.add_ops(units * rec.opt().repeats);
  for (std::size_t k = 0; k < 3; ++k) {
    std::sort(parts[k].begin(), parts[k].end());
    rec.extra(names[k], parts[k].empty() ? 0 : parts[k][parts[k].size() / 2]);
  }
  return rec.finish();
}

} // namespace weft::bench::phases
