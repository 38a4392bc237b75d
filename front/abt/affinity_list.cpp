// SPDX-License-Identifier: MIT
// The grammar of ABT_SET_AFFINITY, in our words:
//
//   list     := entry { "," entry }
//   entry    := set | set ":" number | set ":" number ":" stride          repeated with a growing offset
//   set      := id | "{" range { "," range } "}"
//   range    := id | id ":" number | id ":" number ":" stride
#include "front/abt/affinity_list.hpp"

#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace weft::abt {
namespace {

constexpr int most = 1 << 16; // numbers in a list, and CPUs that it may name: what goes beyond is a mistake

// Reads from a text; each function is false when the text is something else.
class reader {
 public:
  explicit reader(const char* text) noexcept : at_(text) {}

  bool take(char c) noexcept {
    skip();
    if (*at_ != c)
      return false;
    ++at_;
    return true;
  }
  bool number(int& value) noexcept {
    skip();
    char* end = nullptr;
    errno = 0;
    const long parsed = std::strtol(at_, &end, 10);
    if (end == at_ || errno != 0 || parsed < -most || parsed > most)
      return false;
    at_ = end;
    value = static_cast<int>(parsed);
    return true;
  }
  // [":" number [":" stride]]
  bool repetition(int& count, int& stride) noexcept {
    count = 1;
    stride = 1;
    if (!take(':'))
      return true;
    if (!number(count) || count < 1 || count > most)
      return false;
    return !take(':') || number(stride);
  }
  // An offset may not lead to where no CPU is, nor repetitions of repetitions fill the memory.
  bool put(std::vector<int>& set, std::int64_t id) {
    if (id < -most || id > most || left_-- == 0)
      return false;
    set.push_back(static_cast<int>(id));
    return true;
  }
  bool at_end() noexcept {
    skip();
    return *at_ == '\0';
  }

 private:
  void skip() noexcept {
    while (std::isspace(static_cast<unsigned char>(*at_)) != 0)
      ++at_;
  }
  const char* at_;
  int left_ = 2 * most; // numbers that may still be put, those of repeated sets included
};

bool read_range(reader& in, std::vector<int>& set) {
  int first = 0;
  int count = 1;
  int stride = 1;
  if (!in.number(first) || !in.repetition(count, stride))
    return false;
  for (int i = 0; i < count; ++i) {
    if (!in.put(set, first + std::int64_t{i} * stride))
      return false;
  }
  return true;
}

bool read_set(reader& in, std::vector<int>& set) {
  if (!in.take('{')) {
    int id = 0;
    if (!in.number(id))
      return false;
    return in.put(set, id);
  }
  do {
    if (!read_range(in, set))
      return false;
  } while (in.take(','));
  return in.take('}');
}

bool read_entry(reader& in, std::vector<std::vector<int>>& sets) {
  std::vector<int> set;
  int count = 1;
  int stride = 1;
  if (!read_set(in, set) || !in.repetition(count, stride) || sets.size() + count > most)
    return false;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<int> shifted;
    for (const int id : set) {
      if (!in.put(shifted, id + i * stride))
        return false;
    }
    sets.push_back(std::move(shifted));
  }
  return true;
}

} // namespace

bool parse_affinity(const char* text, std::vector<std::vector<int>>& sets) {
  reader in(text);
  std::vector<std::vector<int>> result;
  do {
    if (!read_entry(in, result))
      return false;
  } while (in.take(','));
  if (!in.at_end())
    return false;
  sets = std::move(result);
  return true;
}

} // namespace weft::abt
