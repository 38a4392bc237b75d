// SPDX-License-Identifier: MIT
// A build without liburing.
#include "weft/io/uring.hpp"

namespace weft::io {

std::unique_ptr<source> try_make_uring_source() {
  return nullptr;
}

std::string why_not_uring() {
  return "built without liburing";
}

} // namespace weft::io
