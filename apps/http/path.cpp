// SPDX-License-Identifier: MIT
#include "apps/http/path.hpp"

#include "apps/http/grammar.hpp"

#include <algorithm>
#include <utility>

namespace weft::http {
namespace {

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
  if (!target.starts_with('/')) { // absolute-form; the scheme's letters may be of any case
    const std::size_t scheme = target.find("://");
    if (scheme != target.npos) {
      target.remove_prefix(scheme + 3);
      const std::size_t path = target.find_first_of("/?#");
      target = path == target.npos || target[path] != '/' ? std::string_view("/") : target.substr(path);
    }
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

std::string folder_location(std::string_view target) {
  std::string_view path = target_path(target);
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  std::string out = "/";
  for (const char c : path) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    const auto code = static_cast<unsigned char>(c);
    if (code > 0x20 && code < 0x7f && c != '\\') { // browsers take a backslash for a slash
      out.push_back(c);
    } else {
      out.push_back('%');
      out.push_back(digits[code >> 4]);
      out.push_back(digits[code & 15]);
    }
  }
  if (!path.empty())
    out.push_back('/');
  if (const std::size_t query = target.find('?'); query != target.npos)
    out.append(target.substr(query));
  return out;
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
