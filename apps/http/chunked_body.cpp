// SPDX-License-Identifier: MIT
#include "apps/http/chunked_body.hpp"

#include "apps/http/grammar.hpp"

#include <algorithm>

namespace weft::http {
namespace {

// What decides where a message ends and whom it is for may not come after it (RFC 9110, 6.5.1).
bool is_for_heads_only(std::string_view name) noexcept {
  return same_word(name, "content-length") || same_word(name, "transfer-encoding") || same_word(name, "host");
}

} // namespace

chunked_body::progress chunked_body::step(std::string_view text) noexcept {
  std::string_view rest = text;
  while (take(rest)) {
  }
  const outcome what = status_ != 0            ? outcome::refused
                       : state_ == state::over ? outcome::complete
                                               : outcome::need_more;
  return {what, text.size() - rest.size()};
}

bool chunked_body::take(std::string_view& text) noexcept {
  switch (state_) {
  case state::size:
  case state::trailer:
    return take_line(text);
  case state::data:
    return take_data(text);
  case state::end_of_data:
    return take_end_of_data(text);
  case state::over:
    break;
  }
  return false;
}

// A line that is too long is refused for that, whatever it says: it depends on nothing that is yet to come.
bool chunked_body::take_line(std::string_view& text) noexcept {
  const std::size_t most = limits_.head_bytes - trailer_;
  const std::size_t end = text.substr(0, most).find('\n');
  if (end == text.npos)
    return text.size() >= most ? refuse(431) : false;
  if (end == 0 || text[end - 1] != '\r')
    return refuse(400);
  const std::string_view line = text.substr(0, end - 1);
  if (!(state_ == state::size ? on_size(line) : on_trailer(line)))
    return false;
  text.remove_prefix(end + 1);
  return true;
}

bool chunked_body::take_data(std::string_view& text) noexcept {
  const std::uint64_t taken = std::min<std::uint64_t>(left_, text.size());
  text.remove_prefix(static_cast<std::size_t>(taken));
  left_ -= taken;
  if (left_ != 0)
    return false;
  state_ = state::end_of_data;
  return true;
}

bool chunked_body::take_end_of_data(std::string_view& text) noexcept {
  constexpr std::string_view end = "\r\n";
  if (!end.starts_with(text.substr(0, end.size())))
    return refuse(400);
  if (text.size() < end.size())
    return false;
  text.remove_prefix(end.size());
  state_ = state::size;
  return true;
}

bool chunked_body::on_size(std::string_view line) noexcept {
  std::uint64_t size = 0;
  std::size_t digits = 0;
  for (; digits < line.size() && hex_value(line[digits]) >= 0; ++digits) {
    if (size >> 60 != 0)
      return refuse(400);
    size = size << 4 | static_cast<unsigned>(hex_value(line[digits]));
  }
  const std::string_view extension = line.substr(digits);
  if (digits == 0 || !is_chunk_extension(extension))
    return refuse(400);
  // Small chunks with long extensions are a way to send much more than a body may have.
  extensions_ += extension.size();
  if (extensions_ > limits_.head_bytes)
    return refuse(431);
  if (size > limits_.body_bytes - body_)
    return refuse(413);
  body_ += size;
  left_ = size;
  state_ = size == 0 ? state::trailer : state::data;
  return true;
}

bool chunked_body::on_trailer(std::string_view line) noexcept {
  trailer_ += line.size() + 2;
  if (line.empty()) {
    state_ = state::over;
    return true;
  }
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == line.npos || !is_token(name) || !is_field_text(line.substr(colon + 1)) ||
      is_for_heads_only(name))
    return refuse(400);
  return ++fields_ > limits_.fields ? refuse(431) : true;
}

bool chunked_body::refuse(int status) noexcept {
  status_ = status;
  state_ = state::over;
  return false;
}

} // namespace weft::http
