// SPDX-License-Identifier: MIT
// What RFC 9110, RFC 9112 and RFC 3986 let stand in the parts of a message. Strict: what is outside of the
// grammar is told apart from what is inside, for two readers of one message that disagree about it are what
// requests are smuggled past.
#pragma once

#include <string_view>

namespace weft::http {

/// Of a name: of a method, a field, a chunk extension. At least one character.
[[nodiscard]] bool is_token(std::string_view text) noexcept;

/// Of a field's value: anything but control characters, of which HTAB may be there.
[[nodiscard]] bool is_field_text(std::string_view text) noexcept;

/// The value of Host, or the authority of a target: a name, an IPv4 address or an IPv6 one in brackets, with
/// a port or without. May be empty, as RFC 9112 has it. No user, and no comma, although RFC 3986 lets one
/// stand in a name: it is how an intermediary joins two fields.
[[nodiscard]] bool is_host(std::string_view text) noexcept;

/// What follows the digits of a chunk's size up to the end of its line: `;name`, `;name=value`,
/// `;name="value"` as often as there are extensions. Blanks that RFC 9112 has recipients remove are allowed,
/// others are not.
[[nodiscard]] bool is_chunk_extension(std::string_view text) noexcept;

/// What a request asks for, by its form (RFC 9112, 3.2).
enum class target_form : unsigned char { origin, absolute, authority, asterisk, wrong };
[[nodiscard]] target_form form_of_target(std::string_view target) noexcept;

/// The value of a hexadecimal digit; -1: it is none.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9')
    return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Without the blanks (SP and HTAB) at both ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos)
    return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Takes the next element of a list (RFC 9110, 5.6.1) from the front of `list`, trimmed; it may be empty.
constexpr std::string_view next_element(std::string_view& list) noexcept {
  const std::size_t end = list.find(',');
  const std::string_view element = trimmed(list.substr(0, end));
  list.remove_prefix(end == list.npos ? list.size() : end + 1);
  return element;
}

/// Whether both are the same word in ASCII, whatever the case.
[[nodiscard]] bool same_word(std::string_view a, std::string_view b) noexcept;

} // namespace weft::http
