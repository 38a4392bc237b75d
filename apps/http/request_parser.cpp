// SPDX-License-Identifier: MIT
#include "apps/http/request_parser.hpp"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace weft::http {
namespace {

namespace beast = boost::beast;
using beast::http::field;
using beast::http::verb;

std::string_view view_of(beast::string_view text) noexcept {
  return {text.data(), text.size()};
}

bool same_word(beast::string_view a, beast::string_view b) noexcept {
  return beast::iequals(a, b);
}

method method_of(verb v) noexcept {
  switch (v) {
  case verb::get:
    return method::get;
  case verb::head:
    return method::head;
  case verb::unknown:
    return method::unknown;
  default:
    return method::other;
  }
}

// A request that is well-formed to Beast and yet not to be served: any error code will do, the status says
// it.
void stop_with(int& status, int wanted, beast::error_code& error) noexcept {
  status = wanted;
  error = beast::http::error::bad_field;
}

// What Beast calls while it parses one message. Views point into the buffer that is parsed.
class message final : public beast::http::basic_parser<true> {
 public:
  explicit message(const limits& l) : limits_(l) {
    header_limit(static_cast<std::uint32_t>(l.head_bytes)); // also of a trailer
    body_limit(l.body_bytes);
  }
  std::string_view target;
  std::string_view if_modified_since;
  http::method method = method::unknown;
  bool expects_continue = false;
  bool has_body = false;
  bool is_finished = false;
  int status = 0;

 private:
  void on_request_impl(verb v, beast::string_view, beast::string_view text, int version,
                       beast::error_code&) override {
    method = method_of(v);
    target = view_of(text);
    version_ = version;
  }
  void on_response_impl(int, beast::string_view, int, beast::error_code&) override {}
  void on_field_impl(field name, beast::string_view, beast::string_view value,
                     beast::error_code& error) override {
    if (++fields_ > limits_.fields)
      return stop_with(status, 431, error);
    switch (name) {
    case field::host:
      if (std::exchange(has_host_, true))
        stop_with(status, 400, error);
      break;
    case field::transfer_encoding:
      // Another coding than chunked alone would leave open where the body ends.
      if (version_ < 11)
        stop_with(status, 400, error);
      else if (!same_word(value, "chunked"))
        stop_with(status, 501, error);
      break;
    case field::expect:
      expects_continue = version_ >= 11 && same_word(value, "100-continue");
      break;
    case field::if_modified_since:
      if_modified_since = view_of(value);
      break;
    default:
      break;
    }
  }
  void on_header_impl(beast::error_code& error) override {
    if (version_ >= 11 && !has_host_)
      stop_with(status, 400, error); // RFC 9112, 3.2
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
  std::size_t on_body_impl(beast::string_view body, beast::error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body, beast::error_code&) override {
    return body.size();
  }
  void on_finish_impl(beast::error_code&) override { is_finished = true; }

  const limits& limits_;
  std::size_t fields_ = 0;
  int version_ = 0;
  bool has_host_ = false;
};

int status_of(beast::error_code error, const message& m, std::string_view text) noexcept {
  if (m.status != 0)
    return m.status;
  if (error == beast::http::error::body_limit)
    return 413;
  if (error == beast::http::error::bad_version) {
    // Another version of HTTP is not the same as no HTTP at all.
    const std::string_view line = text.substr(0, text.find('\r'));
    return line.find(" HTTP/") != line.npos ? 505 : 400;
  }
  return 400;
}

// Looks for the end of a head, line by line, from where the last look ended. Beast would take the same lines,
// but what it says to a bare LF would depend on how the text was cut, and a folded field (obsolete since RFC
// 7230) it unfolds into a buffer of its own.
constexpr std::size_t not_yet = 0;
constexpr std::size_t never = std::string_view::npos;
std::size_t find_end(std::string_view text, std::size_t& line) noexcept {
  for (;;) {
    const std::size_t end = text.find('\n', line);
    if (end == text.npos)
      return not_yet;
    if (end == line || text[end - 1] != '\r')
      return never;
    if (line != 0 && (text[line] == ' ' || text[line] == '\t'))
      return never;
    const bool is_empty = end == line + 1;
    line = end + 1;
    if (is_empty)
      return line;
  }
}

} // namespace

class request_parser::beast_parser {
 public:
  std::optional<message> current; // made anew for each request: Beast's has no reset
};

request_parser::request_parser(const limits& l) : limits_(l), parser_(std::make_unique<beast_parser>()) {}
request_parser::~request_parser() = default;

request_parser::progress request_parser::refuse(int status) noexcept {
  status_ = status;
  state_ = state::over;
  return {outcome::refused, 0};
}

request_parser::progress request_parser::step(std::string_view text) {
  switch (state_) {
  case state::before:
  case state::in_head:
    return step_head(text);
  case state::in_body:
    return step_body(text);
  case state::over:
    break;
  }
  return {outcome::refused, 0};
}

request_parser::progress request_parser::step_head(std::string_view text) {
  if (state_ == state::before) {
    if (text.starts_with("\r\n"))
      return {outcome::need_more, 2}; // RFC 9112, 2.2: an empty line before a request is ignored
    if (text.empty() || text == "\r")
      return {outcome::need_more, 0};
    line_ = 0;
    state_ = state::in_head;
  }
  const std::string_view allowed = text.substr(0, limits_.head_bytes);
  const std::size_t end = find_end(allowed, line_);
  if (end == never)
    return refuse(400);
  if (end == not_yet)
    return text.size() < limits_.head_bytes ? progress{outcome::need_more, 0}
                                            : refuse(line_ == 0 ? 414 : 431);
  parser_->current.emplace(limits_);
  message& m = *parser_->current;
  beast::error_code error;
  const std::size_t taken = m.put(boost::asio::const_buffer(text.data(), end), error);
  if (error || taken != end)
    return refuse(status_of(error, m, text));
  head_.method = m.method;
  head_.target = m.target;
  head_.if_modified_since = m.if_modified_since;
  head_.keep_alive = m.keep_alive();
  head_.has_body = !m.is_finished;
  head_.expects_continue = m.expects_continue;
  state_ = state::in_body;
  return {outcome::head, end};
}

// The shortest end of a chunked body. Beast asserts that it is given no less than that once it has seen the
// line of the last chunk, which alone is three bytes of an empty body.
constexpr std::size_t bytes_of_last_chunk = std::string_view("0\r\n\r\n").size();

request_parser::progress request_parser::step_body(std::string_view text) {
  message& m = *parser_->current;
  std::size_t consumed = 0;
  while (!m.is_finished) {
    const std::size_t left = text.size() - consumed;
    if (left == 0 || (m.chunked() && left < bytes_of_last_chunk))
      return {outcome::need_more, consumed};
    // No more at a time than the line of a chunk or a trailer may have: what is refused as too long does not
    // depend on how much has come.
    const std::size_t given = std::min(left, limits_.head_bytes);
    beast::error_code error;
    const std::size_t taken = m.put(boost::asio::const_buffer(text.data() + consumed, given), error);
    consumed += taken;
    if (error == beast::http::error::need_more) {
      if (given == limits_.head_bytes && taken == 0)
        return refuse(431);
      if (given == left)
        return {outcome::need_more, consumed};
    } else if (error) {
      return refuse(status_of(error, m, {}));
    }
  }
  state_ = state::before;
  return {outcome::complete, consumed};
}

} // namespace weft::http
