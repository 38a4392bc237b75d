// SPDX-License-Identifier: MIT
// Whether a request with conditions gets what it asks for, all of it or a part (RFC 9110, 13 and 14).
#pragma once

#include "apps/http/request_parser.hpp"

#include <cstdint>
#include <ctime>
#include <string_view>

namespace weft::http {

/// What is known of what would be sent.
struct representation {
  std::string_view etag;          // a strong one, with its quotation marks; empty: there is none
  std::string_view last_modified; // as it is sent; empty: not known
  std::time_t modified = 0;       // the same
  std::uint64_t size = 0;
};

struct part {
  int status = 200; // 200: all of it; 206: a part; 304, 412, 416: nothing
  std::uint64_t first = 0;
  std::uint64_t size = 0;
};

/// For a GET or HEAD that is answered with 200 if there are no conditions. If-Match goes before
/// If-Unmodified-Since, If-None-Match before If-Modified-Since, all before Range. Only one range is sent:
/// several, a range in other units, or one that is not well-formed are as if there was none.
[[nodiscard]] part evaluate(const request& head, const representation& what) noexcept;

} // namespace weft::http
