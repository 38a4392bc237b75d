// SPDX-License-Identifier: MIT
// Portable SHA-1 compression. The 80 rounds are unrolled by templates, with the message schedule in a
// ring of 16 words, so that everything stays in registers and the compiler drops the rotations of the
// five state words.

#include "apps/uts/sha1.hpp"

#include <bit>
#include <stdexcept>
#include <utility>

namespace weft::uts {
namespace {

template <int Round>
[[gnu::always_inline]] inline std::uint32_t schedule(sha1_block& w) noexcept {
  if constexpr (Round >= 16) {
    w[Round % 16] =
        std::rotl(w[(Round + 13) % 16] ^ w[(Round + 8) % 16] ^ w[(Round + 2) % 16] ^ w[Round % 16], 1);
  }
  return w[Round % 16];
}

template <int Round>
[[gnu::always_inline]] inline std::uint32_t mix(std::uint32_t b, std::uint32_t c, std::uint32_t d) noexcept {
  if constexpr (Round < 20) {
    return (d ^ (b & (c ^ d))) + 0x5a827999;
  } else if constexpr (Round < 40) {
    return (b ^ c ^ d) + 0x6ed9eba1;
  } else if constexpr (Round < 60) {
    // The two terms share no bit, so their sum is their union; a sum lets the additions overlap.
    return (b & c) + (d & (b ^ c)) + 0x8f1bbcdc;
  } else {
    return (b ^ c ^ d) + 0xca62c1d6;
  }
}

template <int Round>
[[gnu::always_inline]] inline void round(sha1_digest& s, sha1_block& w) noexcept {
  auto& [a, b, c, d, e] = s;
  const std::uint32_t sum = std::rotl(a, 5) + mix<Round>(b, c, d) + e + schedule<Round>(w);
  e = d;
  d = c;
  c = std::rotl(b, 30);
  b = a;
  a = sum;
}

template <int... Rounds>
[[gnu::always_inline]] inline void all_rounds(sha1_digest& s, sha1_block& w,
                                              std::integer_sequence<int, Rounds...>) noexcept {
  (round<Rounds>(s, w), ...);
}

} // namespace

sha1_digest sha1_compress_portable(const sha1_block& block) noexcept {
  sha1_block w = block;
  sha1_digest s = sha1_initial;
  all_rounds(s, w, std::make_integer_sequence<int, 80>{});
  for (std::size_t i = 0; i < s.size(); ++i) {
    s[i] += sha1_initial[i];
  }
  return s;
}

sha1_digest sha1_short(std::string_view message) {
  if (message.size() > sha1_longest_short_message) {
    throw std::length_error("sha1_short: the message does not fit one block");
  }
  sha1_block block{};
  const auto put = [&block](std::size_t at, unsigned char byte) {
    block[at / 4] |= static_cast<std::uint32_t>(byte) << (24 - 8 * (at % 4));
  };
  for (std::size_t i = 0; i < message.size(); ++i) {
    put(i, static_cast<unsigned char>(message[i]));
  }
  put(message.size(), 0x80);
  block[15] = static_cast<std::uint32_t>(message.size() * 8);
  return sha1_compress(block);
}

} // namespace weft::uts
