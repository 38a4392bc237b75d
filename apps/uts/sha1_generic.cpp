// SPDX-License-Identifier: MIT
// The choice of the SHA-1 form on processors for which we have no special one.

#include "apps/uts/sha1.hpp"

namespace weft::uts {

sha1_digest sha1_compress(const sha1_block& block) noexcept {
  return sha1_compress_portable(block);
}

std::string_view sha1_form() noexcept {
  return "portable";
}

} // namespace weft::uts
