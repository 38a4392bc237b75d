// SPDX-License-Identifier: MIT
// The choice of the SHA-1 form on x86-64: the SHA instructions where the processor has them, asked once at
// load. The round structure is the one of Intel's note "New instructions supporting the Secure Hash
// Algorithm" (2013).

#include "apps/uts/sha1.hpp"

#include <cpuid.h>
#include <immintrin.h>

#include <utility>

#define WEFT_UTS_SHA_TARGET [[gnu::target("sha,sse4.1")]]

namespace weft::uts {
namespace {

bool processor_has_sha() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0) {
    return false;
  }
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

const bool has_sha = processor_has_sha();

// Four rounds: `e` carries the fifth state word in its top lane on entry, and the old `abcd` on return.
template <int Group>
WEFT_UTS_SHA_TARGET inline void four_rounds(__m128i& abcd, __m128i& e, __m128i (&w)[4]) noexcept {
  __m128i& now = w[Group % 4];
  if constexpr (Group >= 4) {
    const __m128i mixed = _mm_xor_si128(_mm_sha1msg1_epu32(now, w[(Group + 1) % 4]), w[(Group + 2) % 4]);
    now = _mm_sha1msg2_epu32(mixed, w[(Group + 3) % 4]);
  }
  const __m128i sum = Group == 0 ? _mm_add_epi32(e, now) : _mm_sha1nexte_epu32(e, now);
  e = abcd;
  abcd = _mm_sha1rnds4_epu32(abcd, sum, Group / 5);
}

template <int... Groups>
WEFT_UTS_SHA_TARGET inline void all_rounds(__m128i& abcd, __m128i& e, __m128i (&w)[4],
                                           std::integer_sequence<int, Groups...>) noexcept {
  (four_rounds<Groups>(abcd, e, w), ...);
}

WEFT_UTS_SHA_TARGET sha1_digest compress_sha_ni(const sha1_block& block) noexcept {
  __m128i w[4];
  for (int i = 0; i < 4; ++i) {
    const auto* at = reinterpret_cast<const __m128i*>(block.data() + 4 * i);
    w[i] = _mm_shuffle_epi32(_mm_loadu_si128(at), 0x1b); // the instructions want the first word on top
  }
  const __m128i initial_abcd =
      _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sha1_initial.data())), 0x1b);
  const __m128i initial_e = _mm_set_epi32(static_cast<int>(sha1_initial[4]), 0, 0, 0);
  __m128i abcd = initial_abcd;
  __m128i e = initial_e;
  all_rounds(abcd, e, w, std::make_integer_sequence<int, 20>{});
  e = _mm_sha1nexte_epu32(e, initial_e);
  abcd = _mm_shuffle_epi32(_mm_add_epi32(abcd, initial_abcd), 0x1b);
  sha1_digest digest;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(digest.data()), abcd);
  digest[4] = static_cast<std::uint32_t>(_mm_extract_epi32(e, 3));
  return digest;
}

} // namespace

sha1_digest sha1_compress(const sha1_block& block) noexcept {
  return has_sha ? compress_sha_ni(block) : sha1_compress_portable(block);
}

std::string_view sha1_form() noexcept {
  return has_sha ? "SHA-NI" : "portable";
}

} // namespace weft::uts
