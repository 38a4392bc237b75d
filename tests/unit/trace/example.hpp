// SPDX-License-Identifier: MIT
// A recording of two workers and the world outside, written by hand: begin 1,000 ns, end 11,000 ns.
#pragma once

#include "weft/trace/recording.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

namespace weft::trace::test {

constexpr std::int64_t example_begin = 1'000;
constexpr std::int64_t example_end = 11'000;

struct example {
  // Times are nanoseconds after the begin.
  static std::vector<record> later(std::vector<record> events) {
    for (record& r : events) {
      r.time_ns += example_begin;
    }
    return events;
  }

  recording all() const {
    recording r;
    r.begin_ns = example_begin;
    r.end_ns = example_end;
    r.process = 42;
    std::strcpy(r.program, "example");
    r.totals.steals = 5;
    r.totals.parks = 1;
    // In two parts, as in a ring that has wrapped.
    r.tracks.push_back({0, 3, false, 0, std::span(first).first(2), std::span(first).subspan(2), names});
    r.tracks.push_back({1, 4, false, 0, {}, second, {}});
    r.tracks.push_back({0, 6, true, 0, {}, outside, {}});
    return r;
  }

  static constexpr std::uint64_t a = 0xa00;
  static constexpr std::uint64_t b = 0xb00;
  static constexpr std::uint64_t lock = 0x10;

  std::vector<name_entry> names{{"reader"}, {"writer"}};
  // Runs a and b in turn, of which b waits for a lock that a holds.
  std::vector<record> first = later({{0, a, run_argument(thread_kind, 1), event::run},
                                     {100, b, mark_of(a), event::create},
                                     {300, a, 0, event::stop_yield},
                                     {350, b, run_argument(thread_kind, 2), event::run},
                                     {400, lock, mark_of(b), event::lock_wait},
                                     {450, b, 0, event::stop_wait},
                                     {500, a, run_argument(thread_kind, 1), event::run},
                                     {550, lock, mark_of(a), event::lock_pass},
                                     {560, b, mark_of(a), event::ready},
                                     {1'500, a, 0, event::stop_end}});
  // Asleep at first; steals b.
  std::vector<record> second = later({{600, 0, 0, event::unpark},
                                      {700, b, 3, event::steal},
                                      {760, b, thread_kind, event::run},
                                      {800, lock, mark_of(b), event::lock_got},
                                      {900, lock, mark_of(b), event::lock_wait},
                                      {1'760, b, 0, event::stop_wait},
                                      {2'000, 0, 0, event::search},
                                      {2'500, 0, 0, event::park}});
  std::vector<record> outside = later({{5'000, 0xc00, 0, event::create}});
};

} // namespace weft::trace::test
