// SPDX-License-Identifier: MIT
#include "apps/http/request_parser.hpp"

#include "apps/http/grammar.hpp"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace weft::http {
namespace {

namespace beast = boost::beast;
using beast::http::field;
using beast::http::verb;

std::string_view view_of(beast::string_view text) noexcept {
  return {text.data(), text.size()};
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

// The codings of all fields Transfer-Encoding, in their order.
class transfer_codings {
 public:
  void add(std::string_view list) noexcept {
    are_there_ = true;
    while (!list.empty()) {
      const std::string_view one = next_element(list);
      if (one.empty())
        continue; // RFC 9110, 5.6.1.2
      ends_in_chunked_ = !has_chunked_ && same_word(one, "chunked");
      has_chunked_ = has_chunked_ || same_word(one, "chunked");
      has_others_ = has_others_ || !same_word(one, "chunked");
    }
  }
  [[nodiscard]] bool are_there() const noexcept { return are_there_; }
  // 0: chunked and nothing else. Where that is not the last, nobody knows where the body ends (RFC
  // 9112, 6.3).
  [[nodiscard]] int status() const noexcept { return !ends_in_chunked_ ? 400 : has_others_ ? 501 : 0; }

 private:
  bool are_there_ = false;
  bool has_chunked_ = false;
  bool has_others_ = false;
  bool ends_in_chunked_ = false;
};

// Of a field that may be there once: where it comes again, none of them is believed.
void set_once(std::string_view& field, bool& was_there, std::string_view value) noexcept {
  field = std::exchange(was_there, true) ? std::string_view() : value;
}

void append_to_list(std::string& list, std::string_view value) {
  if (!list.empty())
    list.push_back(',');
  list.append(value.empty() ? "," : value);
}

// What Beast calls while it parses one head. Views point into the buffer that is parsed.
class head_parser final : public beast::http::basic_parser<true> {
 public:
  head_parser(const limits& l, request& out) : limits_(l), out_(out) {
    header_limit(static_cast<std::uint32_t>(l.head_bytes));
    body_limit(l.body_bytes);
  }
  [[nodiscard]] bool is_chunked() const noexcept { return codings_.are_there(); }
  [[nodiscard]] std::size_t fields() const noexcept { return fields_; }
  int status = 0;

 private:
  void on_request_impl(verb v, beast::string_view, beast::string_view text, int version,
                       beast::error_code& error) override {
    out_.method = method_of(v);
    out_.target = view_of(text);
    version_ = version;
    switch (form_of_target(out_.target)) {
    case target_form::origin:
    case target_form::absolute:
      if (v == verb::connect)
        stop_with(status, 400, error);
      break;
    case target_form::authority:
      if (v != verb::connect)
        stop_with(status, 400, error);
      break;
    case target_form::asterisk:
      if (v != verb::options)
        stop_with(status, 400, error);
      break;
    case target_form::wrong:
      stop_with(status, 400, error);
    }
  }
  void on_response_impl(int, beast::string_view, int, beast::error_code&) override {}
  void on_field_impl(field name, beast::string_view, beast::string_view text,
                     beast::error_code& error) override {
    if (++fields_ > limits_.fields)
      return stop_with(status, 431, error);
    const std::string_view value = view_of(text);
    switch (name) {
    case field::host: // RFC 9112, 3.2
      if (std::exchange(has_host_, true) || !is_host(value))
        stop_with(status, 400, error);
      break;
    case field::content_length: // which Beast would let come twice
      if (std::exchange(has_length_, true))
        stop_with(status, 400, error);
      break;
    case field::transfer_encoding:
      codings_.add(value);
      break;
    case field::expect:
      out_.expects_continue = version_ >= 11 && same_word(value, "100-continue");
      break;
    default:
      on_condition(name, value);
    }
  }
  void on_condition(field name, std::string_view value) {
    switch (name) {
    case field::if_match:
      append_to_list(out_.if_match, value);
      break;
    case field::if_none_match:
      append_to_list(out_.if_none_match, value);
      break;
    case field::if_modified_since:
      set_once(out_.if_modified_since, has_modified_since_, value);
      break;
    case field::if_unmodified_since:
      set_once(out_.if_unmodified_since, has_unmodified_since_, value);
      break;
    case field::if_range:
      // One that nobody can believe is one that does not hold.
      out_.if_range = std::exchange(has_if_range_, true) || value.empty() ? "?" : value;
      break;
    case field::range:
      set_once(out_.range, has_range_, value);
      break;
    default:
      return;
    }
    out_.is_conditional = true;
  }
  void on_header_impl(beast::error_code& error) override {
    if (version_ >= 11 && !has_host_)
      stop_with(status, 400, error); // RFC 9112, 3.2
    else if (codings_.are_there() && (version_ < 11 || has_length_))
      stop_with(status, 400, error); // RFC 9112, 6.1
    else if (codings_.are_there() && codings_.status() != 0)
      stop_with(status, codings_.status(), error);
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
  std::size_t on_body_impl(beast::string_view, beast::error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, beast::error_code&) override { return 0; }
  void on_finish_impl(beast::error_code&) override {}

  const limits& limits_;
  request& out_;
  transfer_codings codings_;
  std::size_t fields_ = 0;
  int version_ = 0;
  bool has_host_ = false;
  bool has_length_ = false;
  bool has_modified_since_ = false;
  bool has_unmodified_since_ = false;
  bool has_if_range_ = false;
  bool has_range_ = false;
};

// Whether a request line is of another version of HTTP, which is not the same as no HTTP at all.
bool is_other_version(std::string_view line) noexcept {
  constexpr std::string_view name = " HTTP/";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::size_t at = line.rfind(name);
  if (at == line.npos || std::count(line.begin(), line.end(), ' ') != 2)
    return false;
  const std::string_view version = line.substr(at + name.size());
  return version.size() == 3 && is_digit(version[0]) && version[1] == '.' && is_digit(version[2]);
}

int status_of(beast::error_code error, const head_parser& m, std::string_view text) noexcept {
  if (m.status != 0)
    return m.status;
  if (error == beast::http::error::body_limit)
    return 413;
  if (error == beast::http::error::bad_version && is_other_version(text.substr(0, text.find('\r'))))
    return 505;
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
  head_ = {};
  head_parser parser(limits_, head_); // made anew for each request: Beast's has no reset
  beast::error_code error;
  const std::size_t taken = parser.put(boost::asio::const_buffer(text.data(), end), error);
  if (error || taken != end)
    return refuse(status_of(error, parser, text));
  head_.keep_alive = parser.keep_alive();
  left_ = parser.content_length().value_or(0);
  chunks_.reset();
  if (parser.is_chunked())
    chunks_.emplace(limits_, parser.fields());
  head_.has_body = chunks_ || left_ != 0;
  state_ = state::in_body;
  return {outcome::head, end};
}

request_parser::progress request_parser::step_body(std::string_view text) {
  if (chunks_) {
    const auto [what, consumed] = chunks_->step(text);
    if (what == chunked_body::outcome::refused)
      return refuse(chunks_->status());
    if (what == chunked_body::outcome::need_more)
      return {outcome::need_more, consumed};
    state_ = state::before;
    return {outcome::complete, consumed};
  }
  const std::size_t taken = std::min<std::uint64_t>(left_, text.size());
  left_ -= taken;
  if (left_ != 0)
    return {outcome::need_more, taken};
  state_ = state::before;
  return {outcome::complete, taken};
}

} // namespace weft::http
