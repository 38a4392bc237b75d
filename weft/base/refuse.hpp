// SPDX-License-Identifier: MIT
// How the C++ API reports a call that it does not carry out.
#pragma once

#include <system_error>

namespace weft::base {

// Throws std::system_error with this code and sentence. Contexts: where exceptions may be thrown.
[[noreturn]] inline void refuse(std::errc code, const char* sentence) {
  throw std::system_error(std::make_error_code(code), sentence);
}

} // namespace weft::base
