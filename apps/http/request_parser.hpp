// SPDX-License-Identifier: MIT
// HTTP/1.0 and 1.1 requests, one after the other, out of a buffer that the caller owns. Boost.Beast's
// basic_parser reads the heads and is seen in request_parser.cpp only; docs/design/http.md says why this one,
// and what is stricter here. Knows nothing of sockets and threads.
#pragma once

#include "apps/http/chunked_body.hpp"
#include "apps/http/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::http {

enum class method : unsigned char { get, head, other, unknown }; // other: one of those in the IANA registry

/// The head of a request. The views point into the text that step() was given.
struct request {
  http::method method = method::unknown;
  std::string_view target;
  std::string_view if_modified_since; // empty: there is none, or there are several
  std::string_view if_unmodified_since;
  std::string_view if_range;
  std::string_view range;
  std::string if_match; // all of these fields as one list
  std::string if_none_match;
  bool is_conditional = false; // there is one of the above
  bool keep_alive = false;
  bool has_body = false;
  bool expects_continue = false;
};

class request_parser {
 public:
  enum class outcome {
    need_more, // the text ends before the request does
    head,      // head() is valid until the text changes; the body, if any, is to come
    complete,  // the next byte is the next request's
    refused,   // status() says why; nothing more can be read here
  };
  struct progress {
    outcome what;
    std::size_t consumed; // of the text; it must not be shown again
  };

  explicit request_parser(const limits& l) noexcept : limits_(l) {}
  request_parser(const request_parser&) = delete;

  /// Looks at what has come. Until the head is there, `text` begins at the first byte that was not consumed,
  /// and may only grow. *Switches*: never. *Errors*: none; a bad request is an outcome.
  progress step(std::string_view text);

  [[nodiscard]] const request& head() const noexcept { return head_; }
  /// Of a refusal: 400, 413, 414, 431, 501, 505.
  [[nodiscard]] int status() const noexcept { return status_; }
  /// Whether a part of a request has been consumed.
  [[nodiscard]] bool in_request() const noexcept { return state_ != state::before; }

 private:
  enum class state { before, in_head, in_body, over };

  progress step_head(std::string_view text);
  progress step_body(std::string_view text);
  progress refuse(int status) noexcept;

  const limits& limits_;
  request head_;
  std::optional<chunked_body> chunks_; // of the body that is being read, if it comes in chunks
  std::uint64_t left_ = 0;             // of one that has a length
  std::size_t line_ = 0;               // where the line begins in which the head stood incomplete
  int status_ = 0;
  state state_ = state::before;
};

} // namespace weft::http
