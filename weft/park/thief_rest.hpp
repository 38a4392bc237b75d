// SPDX-License-Identifier: MIT
// When a worker that takes others' units leaves these alone for a while.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace weft::park {

// A theft costs the thief and the owner some hundred nanoseconds each, in cache lines that they wait for, and
// a search costs a CPU. Where a thread creates others and joins them one by one, or two of them take turns,
// one worker alone is faster than two of which one always waits for the other. So a worker rests that has
// stolen short units and searched about as long as it ran, or that is called again and again for units which
// others have taken before it comes: a little longer each time, until a theft is worth it.
//
// All times in ns; `longest`: a rest, 0: it never rests. Ownership: the worker.
class thief_rest {
 public:
  // The worker begins to search, and has stolen so many units in all. How long it rests before; 0: not now.
  std::int64_t begin_search(std::int64_t now, std::uint64_t thefts, std::int64_t longest) noexcept {
    const std::int64_t found_at = std::exchange(found_at_, 0);
    searches_since_ = now;
    if (found_at == 0)
      return 0;
    ran_ += now - found_at;
    if (++searches_ < looks)
      return 0;
    const auto stolen = static_cast<std::int64_t>(thefts - std::exchange(thefts_, thefts));
    const bool in_turns = ran_ < at_most * stolen && 2 * ran_ < 3 * searched_;
    const bool in_vain = stolen >= looks / 2 && (ran_ < too_little * stolen || in_turns);
    ran_ = searched_ = searches_ = 0;
    if (in_vain)
      return one_more(longest);
    in_vain_ = 0;
    return 0;
  }
  // It searches again, after a rest or a sleep.
  void search_again(std::int64_t now) noexcept { searches_since_ = now; }
  // It has found a unit, stolen or not.
  void found(std::int64_t now) noexcept {
    searched_ += now - searches_since_;
    found_at_ = now;
  }
  // It was called, and has found none.
  std::int64_t called_in_vain(std::int64_t longest) noexcept { return one_more(longest); }
  // Whether a long search would be in vain as well.
  [[nodiscard]] bool is_due() const noexcept { return in_vain_ >= patience; }

 private:
  // Of work from one theft: less is in vain; in turns with searches, less than `at_most`.
  static constexpr std::int64_t too_little = 2'000, at_most = 10'000;
  static constexpr std::int64_t looks = 4;
  static constexpr unsigned patience = 2, doublings = 3;

  std::int64_t one_more(std::int64_t longest) noexcept {
    if (longest == 0)
      return 0;
    in_vain_ = std::min(in_vain_ + 1, patience + doublings);
    return is_due() ? longest >> (patience + doublings - in_vain_) : 0;
  }

  std::int64_t found_at_ = 0; // 0: it has searched since, or never found any
  std::int64_t searches_since_ = 0;
  std::int64_t ran_ = 0, searched_ = 0, searches_ = 0; // since the last judgement
  std::uint64_t thefts_ = 0;
  unsigned in_vain_ = 0;
};

} // namespace weft::park
