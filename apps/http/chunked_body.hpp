// SPDX-License-Identifier: MIT
// Where a body in chunks ends (RFC 9112, 7.1), read by the grammar and nothing else: a line ends in CRLF and
// has no other CR, LF or NUL, wherever it stands. What is in the chunks is dropped. Not left to Boost.Beast:
// it takes whatever stands in quotation marks, and unfolds fields of a trailer.
#pragma once

#include "apps/http/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::http {

class chunked_body {
 public:
  enum class outcome { need_more, complete, refused };
  struct progress {
    outcome what;
    std::size_t consumed; // of the text; it must not be shown again
  };

  /// `fields`: those of the request's head, which count with those of the trailer.
  explicit chunked_body(const limits& l, std::size_t fields = 0) noexcept : limits_(l), fields_(fields) {}

  /// Looks at what has come: `text` begins at the first byte that was not consumed. How it is cut decides
  /// nothing. *Switches*: never. *Errors*: none; a bad body is an outcome.
  progress step(std::string_view text) noexcept;

  /// Of a refusal: 400, 413, 431.
  [[nodiscard]] int status() const noexcept { return status_; }

 private:
  enum class state { size, data, end_of_data, trailer, over };

  // Takes one piece from the front; false: it needs more, is complete or refused.
  bool take(std::string_view& text) noexcept;
  bool take_line(std::string_view& text) noexcept;
  bool take_data(std::string_view& text) noexcept;
  bool take_end_of_data(std::string_view& text) noexcept;
  bool on_size(std::string_view line) noexcept;
  bool on_trailer(std::string_view line) noexcept;
  bool refuse(int status) noexcept;

  const limits& limits_;
  std::uint64_t left_ = 0;     // of the chunk
  std::uint64_t body_ = 0;     // bytes of all chunks
  std::size_t extensions_ = 0; // bytes of them, in all lines
  std::size_t trailer_ = 0;    // bytes of its lines
  std::size_t fields_;
  int status_ = 0;
  state state_ = state::size;
};

} // namespace weft::http
