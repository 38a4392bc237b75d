// SPDX-License-Identifier: MIT
// The points of kmeans: scikit-learn's hand-written digits, 1,797 rows of 8 x 8 pixels of 0 to 16 and a
// label, from the file that WEFT_KMEANS_DATA names (tools/kmeans_data fetches it), resampled: a point is a
// row drawn at random, with noise of up to half a step in each pixel, so that no two points are the same.
// Equal in all programs: the first n of one sequence.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace weft::bench::kmeans {

inline constexpr std::size_t features = 64;

struct alignas(64) point {
  float at[features] = {};
};

// Exit codes: 77 is what ctest takes for skipped.
inline constexpr int no_data = 77, wrong_data = 2;

[[noreturn]] inline void give_up(int code, const std::string& why) {
  std::fprintf(stderr, "kmeans: %s\n", why.c_str());
  std::exit(code);
}

// "pixel,...,pixel,label": false if it is anything else.
inline bool read_row(const std::string& line, point& p) {
  const char* at = line.c_str();
  for (std::size_t column = 0; column <= features; ++column) {
    char* end = nullptr;
    const float value = std::strtof(at, &end);
    if (end == at || *end != (column == features ? '\0' : ','))
      return false;
    if (column < features)
      p.at[column] = value;
    at = end + 1;
  }
  return true;
}

inline std::vector<point> read_rows() {
  const char* path = std::getenv("WEFT_KMEANS_DATA");
  if (path == nullptr || *path == '\0')
    give_up(no_data, "no data: run `tools/kmeans_data FILE` and set WEFT_KMEANS_DATA=FILE");
  std::ifstream file(path);
  if (!file)
    give_up(wrong_data, std::string("cannot read WEFT_KMEANS_DATA=") + path);
  std::vector<point> rows;
  for (std::string line; std::getline(file, line);) {
    if (!read_row(line, rows.emplace_back()))
      give_up(wrong_data, std::string(path) + ":" + std::to_string(rows.size()) +
                              ": not 64 numbers and a label, with commas between");
  }
  if (rows.empty())
    give_up(wrong_data, std::string(path) + " is empty");
  return rows;
}

inline std::vector<point> resample(const std::vector<point>& rows, std::size_t n) {
  std::mt19937_64 random(1);
  std::vector<point> points(n);
  for (point& p : points) {
    p = rows[random() % rows.size()];
    for (float& pixel : p.at)
      pixel += static_cast<float>(random() >> 40) * 0x1p-24F - 0.5F; // not <random>'s: theirs differ
  }
  return points;
}

} // namespace weft::bench::kmeans
