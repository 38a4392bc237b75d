// SPDX-License-Identifier: MIT
// SHA-1 (FIPS 180-4) of messages that fit one block, as the UTS tree generator needs it: every node
// costs exactly one compression. Digests are kept as five big-endian words, so that no byte is ever
// swapped on the way down the tree.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weft::uts {

using sha1_digest = std::array<std::uint32_t, 5>;
using sha1_block = std::array<std::uint32_t, 16>;

inline constexpr sha1_digest sha1_initial = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
inline constexpr std::size_t sha1_longest_short_message = 55;

/// One compression from the initial state, in portable C++.
sha1_digest sha1_compress_portable(const sha1_block& block) noexcept;

/// One compression from the initial state, by the fastest form that this processor has.
sha1_digest sha1_compress(const sha1_block& block) noexcept;

/// Name of the form that `sha1_compress` uses: "portable" or "SHA-NI".
std::string_view sha1_form() noexcept;

/// SHA-1 of a message of at most 55 bytes. Errors: std::length_error if it is longer.
sha1_digest sha1_short(std::string_view message);

} // namespace weft::uts
