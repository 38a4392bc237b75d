// SPDX-License-Identifier: MIT
#include "apps/http/conditions.hpp"

#include "apps/http/date.hpp"
#include "apps/http/grammar.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace weft::http {
namespace {

// The next tag of a list, whose tags may contain commas.
std::string_view next_tag(std::string_view& list) noexcept {
  const std::size_t begin = list.find_first_not_of(" \t,");
  if (begin == list.npos) {
    list = {};
    return {};
  }
  list.remove_prefix(begin);
  const std::size_t quote = list.find('"');
  const std::size_t closing = quote > 2 ? list.npos : list.find('"', quote + 1);
  const std::size_t end = closing == list.npos ? std::min(list.find(','), list.size()) : closing + 1;
  const std::string_view tag = list.substr(0, end);
  list.remove_prefix(end);
  return tag;
}

// Ours is strong; theirs, if it is weak, matches only where that is enough.
bool matches(std::string_view list, std::string_view etag, bool weakly) noexcept {
  if (trimmed(list) == "*")
    return true;
  while (!list.empty()) {
    std::string_view tag = next_tag(list);
    if (weakly && tag.starts_with("W/"))
      tag.remove_prefix(2);
    if (!etag.empty() && tag == etag)
      return true;
  }
  return false;
}

// 0: go on; else the answer's status.
int precondition(const request& head, const representation& what) noexcept {
  const auto changed_since = [&what](std::string_view date) -> std::optional<bool> {
    if (date.empty() || what.last_modified.empty())
      return std::nullopt;
    if (date == what.last_modified)
      return false;
    const std::optional<std::time_t> then = parse_date(date);
    return then ? std::optional(what.modified > *then) : std::nullopt;
  };
  if (!head.if_match.empty()) {
    if (!matches(head.if_match, what.etag, false))
      return 412;
  } else if (changed_since(head.if_unmodified_since).value_or(false)) {
    return 412;
  }
  if (!head.if_none_match.empty())
    return matches(head.if_none_match, what.etag, true) ? 304 : 0;
  return changed_since(head.if_modified_since).value_or(true) ? 0 : 304;
}

// No date that is merely near will do, and no weak tag.
bool same_as_before(std::string_view if_range, const representation& what) noexcept {
  if (if_range.empty())
    return true;
  return if_range == what.etag || if_range == what.last_modified;
}

// Takes digits from the front; a number that is too large is as good as the largest.
std::optional<std::uint64_t> take_number(std::string_view& text) noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    const auto digit = static_cast<std::uint64_t>(text[digits] - '0');
    value = value > (most - digit) / 10 ? most : value * 10 + digit;
  }
  text.remove_prefix(digits);
  return digits != 0 ? std::optional(value) : std::nullopt;
}

part range_of(std::string_view range, std::uint64_t size) noexcept {
  const part all{200, 0, size};
  const part nothing{416, 0, 0};
  constexpr std::string_view unit = "bytes=";
  if (!same_word(range.substr(0, unit.size()), unit))
    return all;
  std::string_view spec = trimmed(range.substr(unit.size()));
  const std::optional<std::uint64_t> first = take_number(spec);
  if (!spec.starts_with('-'))
    return all;
  spec.remove_prefix(1);
  const std::optional<std::uint64_t> last = take_number(spec);
  if (!spec.empty() || (!first && !last) || (first && last && *last < *first))
    return all;
  if (!first) { // so many at the end
    if (size == 0)
      return all; // no Content-Range can say that it is all of nothing
    const std::uint64_t sent = std::min(*last, size);
    return sent != 0 ? part{206, size - sent, sent} : nothing;
  }
  if (*first >= size)
    return nothing;
  return {206, *first, std::min(last.value_or(size - 1), size - 1) - *first + 1};
}

} // namespace

part evaluate(const request& head, const representation& what) noexcept {
  const part all{200, 0, what.size};
  if (!head.is_conditional)
    return all;
  if (const int status = precondition(head, what); status != 0)
    return {status, 0, 0};
  // RFC 9110, 14.2: no other method has ranges.
  if (head.range.empty() || head.method != method::get || !same_as_before(head.if_range, what))
    return all;
  return range_of(head.range, what.size);
}

} // namespace weft::http
