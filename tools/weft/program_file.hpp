// SPDX-License-Identifier: MIT
// The file of a program that is about to be run: where it lies, who loads it, what the loader finds for it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::tool {

// What keeps a loader from taking over names of a program.
enum class obstacle { none, is_static, is_privileged, is_foreign };

struct program_file {
  std::filesystem::path path;
  std::filesystem::path script; // which `path` interprets; empty: none
  std::filesystem::path loader; // empty: static
  obstacle what = obstacle::none;
};

// As the shell finds `name`; of a script the interpreter. Errors: std::system_error of its errno
// (no_such_file_or_directory, permission_denied, executable_format_error).
[[nodiscard]] program_file find_program(const std::string& name);

// What the loader would load: the name that is asked for, and the file that it finds. Empty: it says nothing.
using loaded_library = std::pair<std::string, std::filesystem::path>;
[[nodiscard]] std::optional<std::vector<loaded_library>> libraries_of(const program_file& program,
                                                                      const std::string& search_path);

} // namespace weft::tool
