// SPDX-License-Identifier: MIT
// The text of answers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::http {

struct response_head {
  int status = 200;
  std::string_view server;
  std::string_view date;
  std::string_view content_type;
  std::uint64_t content_length = 0;
  std::string_view last_modified; // empty: none is sent, as of the next two
  std::string_view etag;          // with it goes Accept-Ranges
  std::string_view location;
  std::uint64_t first_byte = 0; // of a 206
  std::uint64_t whole_size = 0; // of what a 206 is a part of, and a 416 none
  bool keep_alive = true;
};

/// "Not Found" of 404; "Unknown" of a status that this server never sends.
[[nodiscard]] std::string_view reason_of(int status) noexcept;

/// A tag for a version of a file: quoted, strong.
[[nodiscard]] std::string etag_of(std::uint64_t seconds, std::uint64_t nanoseconds, std::uint64_t size);

/// Appends status line and fields, in nginx's order, with the empty line. *Errors*: std::bad_alloc.
void append_head(std::string& out, const response_head& head);

} // namespace weft::http
