// SPDX-License-Identifier: MIT
#include "apps/http/grammar.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <string>

namespace weft::http {
namespace {

constexpr bool is_alpha(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_token_char(char c) noexcept {
  return is_alpha(c) || is_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}
constexpr bool is_field_char(char c) noexcept {
  const auto code = static_cast<unsigned char>(c);
  return code == '\t' || (code >= 0x20 && code != 0x7f);
}
// Of a name as RFC 3986 has it, without the comma and the percent sign.
constexpr bool is_name_char(char c) noexcept {
  return is_alpha(c) || is_digit(c) || std::string_view("-._~!$&'()*+;=").find(c) != std::string_view::npos;
}

void skip_blanks(std::string_view& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

bool is_port(std::string_view text) noexcept {
  unsigned value = 0;
  for (const char c : text) {
    if (!is_digit(c))
      return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > 65'535)
      return false;
  }
  return true; // of no digits as well: RFC 3986, 3.2.3
}

// The inside of the brackets of an IP literal.
bool is_literal(std::string_view text) noexcept {
  if (text.size() > 2 && (text[0] | 0x20) == 'v') { // of a version to come: "v1.…"
    const std::size_t dot = text.find('.');
    if (dot == text.npos || dot == 1 || dot + 1 == text.size())
      return false;
    return std::all_of(text.begin() + 1, text.begin() + static_cast<long>(dot),
                       [](char c) { return hex_value(c) >= 0; }) &&
           std::all_of(text.begin() + static_cast<long>(dot) + 1, text.end(),
                       [](char c) { return is_name_char(c) || c == ':'; });
  }
  constexpr std::size_t longest = INET6_ADDRSTRLEN;
  if (text.size() >= longest || text.find('\0') != text.npos)
    return false;
  in6_addr ignored{};
  char copy[longest] = {};
  std::copy(text.begin(), text.end(), copy);
  return ::inet_pton(AF_INET6, copy, &ignored) == 1;
}

// Takes a token from the front.
bool take_token(std::string_view& text) noexcept {
  const auto* const end = std::find_if_not(text.begin(), text.end(), is_token_char);
  const bool is_there = end != text.begin();
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  return is_there;
}

// Takes what is between quotation marks from the front, with them.
bool take_quoted(std::string_view& text) noexcept {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return true;
    }
    if (text[i] == '\\' && ++i == text.size())
      return false;
    if (!is_field_char(text[i]))
      return false;
  }
  return false;
}

} // namespace

bool is_token(std::string_view text) noexcept {
  return take_token(text) && text.empty();
}

bool is_field_text(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), is_field_char);
}

bool is_host(std::string_view text) noexcept {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos || !is_literal(text.substr(1, end - 1)))
      return false;
    text.remove_prefix(end + 1);
    return text.empty() || (text[0] == ':' && is_port(text.substr(1)));
  }
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '%') {
      if (name.size() - i < 3 || hex_value(name[i + 1]) < 0 || hex_value(name[i + 2]) < 0)
        return false;
      i += 2;
    } else if (!is_name_char(name[i])) {
      return false;
    }
  }
  return colon == text.npos || is_port(text.substr(colon + 1));
}

bool is_chunk_extension(std::string_view text) noexcept {
  while (!text.empty()) {
    skip_blanks(text);
    if (!text.starts_with(';'))
      return false;
    text.remove_prefix(1);
    skip_blanks(text);
    if (!take_token(text))
      return false;
    std::string_view value = text;
    skip_blanks(value);
    if (!value.starts_with('='))
      continue;
    value.remove_prefix(1);
    skip_blanks(value);
    if (!(value.starts_with('"') ? take_quoted(value) : take_token(value)))
      return false;
    text = value;
  }
  return true;
}

target_form form_of_target(std::string_view target) noexcept {
  // A fragment is never sent; a backslash and the like are no one's path, but browsers send them.
  if (target.empty() || target.find('#') != target.npos)
    return target_form::wrong;
  if (target[0] == '/')
    return target_form::origin;
  if (target == "*")
    return target_form::asterisk;
  const std::size_t scheme = target.find("://");
  if (scheme != target.npos && is_alpha(target[0])) {
    const std::string_view name = target.substr(0, scheme);
    const std::string_view rest = target.substr(scheme + 3);
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
    const bool is_known = same_word(name, "http") || same_word(name, "https");
    const bool is_named = !authority.empty() && authority[0] != ':'; // RFC 9110, 4.2.1
    return is_known && is_named && is_host(authority) ? target_form::absolute : target_form::wrong;
  }
  const std::size_t colon = target.rfind(':');
  const bool has_port = colon != target.npos && colon != 0 && colon + 1 != target.size();
  return has_port && is_host(target) ? target_form::authority : target_form::wrong;
}

bool same_word(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [lower](char x, char y) { return lower(x) == lower(y); });
}

} // namespace weft::http
