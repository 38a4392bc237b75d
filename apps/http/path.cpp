// SPDX-License-Identifier: MIT
#include "apps/http/path.hpp"

#include <utility>

namespace weft::http {
namespace {

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9')
    return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    if (text.size() - i < 3)
      return std::nullopt;
    const int high = hex_value(text[i + 1]);
    const int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0 || (high == 0 && low == 0))
      return std::nullopt;
    out.push_back(static_cast<char>(high << 4 | low));
    i += 2;
  }
  return out;
}

// Segment by segment; empty ones and "." say nothing.
bool append_segments(std::string& out, std::string_view path) {
  while (!path.empty()) {
    const std::size_t end = path.find('/');
    const std::string_view segment = path.substr(0, end);
    if (segment == "..")
      return false;
    if (!segment.empty() && segment != ".")
      out.append(out.empty() ? "" : "/").append(segment);
    path.remove_prefix(end == path.npos ? path.size() : end + 1);
  }
  return true;
}

} // namespace

std::string_view target_path(std::string_view target) noexcept {
  constexpr std::string_view scheme = "http://";
  if (target.starts_with(scheme)) {
    target.remove_prefix(scheme.size());
    const std::size_t slash = target.find('/');
    target = slash == target.npos ? std::string_view("/") : target.substr(slash);
  }
  return target.substr(0, target.find_first_of("?#"));
}

std::optional<std::string> file_path(std::string_view target) {
  const std::string_view path = target_path(target);
  if (!path.starts_with('/'))
    return std::nullopt;
  const std::optional<std::string> plain = decoded(path);
  std::string out;
  if (!plain || plain->find('\0') != plain->npos || !append_segments(out, *plain))
    return std::nullopt;
  if (plain->ends_with('/'))
    out.append(out.empty() ? "" : "/").append("index.html");
  return out.empty() ? "." : std::move(out);
}

std::string_view content_type(std::string_view path) noexcept {
  static constexpr std::pair<std::string_view, std::string_view> known[] = {
      {".html", "text/html"},        {".txt", "text/plain"},        {".css", "text/css"},
      {".js", "text/javascript"},    {".json", "application/json"}, {".png", "image/png"},
      {".jpg", "image/jpeg"},        {".svg", "image/svg+xml"},     {".md", "text/markdown"},
      {".wasm", "application/wasm"},
  };
  for (const auto& [ending, type] : known) {
    if (path.ends_with(ending))
      return type;
  }
  return "application/octet-stream";
}

} // namespace weft::http
