// SPDX-License-Identifier: MIT
// Numbers that are random enough for a choice of whom to steal from, and cheap.
#pragma once

#include <cstdint>

namespace weft::base {

// Xorshift64* (Vigna 2016): a victim need not be more random than that.
inline std::uint64_t next_random(std::uint64_t& state) noexcept {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545F4914F6CDD1DULL;
}

// A beginning for each number, of which neighbours have few bits in common (Knuth's multiplicative hashing).
inline std::uint64_t seed_of(std::uint64_t number) noexcept {
  return (number + 1) * 0x9E3779B97F4A7C15ULL;
}

} // namespace weft::base
