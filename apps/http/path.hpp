// SPDX-License-Identifier: MIT
// From a request's target to the name of a file below the served directory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft::http {

/// The path of an origin-form ("/a/b?query") or absolute-form ("http://host/a/b") target, decoded, without
/// its query: relative ("a/b"), "." for the root; "index.html" is appended where it ends in a slash. Nothing:
/// the target is no path, is badly encoded, contains a NUL, or a ".." anywhere, which no honest client sends
/// since RFC 3986 has it removed before.
[[nodiscard]] std::optional<std::string> file_path(std::string_view target);

/// The path of a target as it stands, without its query.
[[nodiscard]] std::string_view target_path(std::string_view target) noexcept;

/// Where a folder is that was asked for without the slash at its end: the path of `target` with one, and its
/// query. Only a path, which begins with one slash: a second would name another host.
[[nodiscard]] std::string folder_location(std::string_view target);

/// By the ending of its name; "application/octet-stream" if that says nothing.
[[nodiscard]] std::string_view content_type(std::string_view path) noexcept;

} // namespace weft::http
