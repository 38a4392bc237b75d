// SPDX-License-Identifier: MIT
// What a door of Weft's needs to take a program over, and what it says of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/weft/program_file.hpp"

namespace weft::tool {

constexpr int cannot_run = 126, not_found = 127; // as of env and nohup
// Whose words a refusal is: "weft run" unless said.
void speak_as(const char* command);
[[noreturn]] void refuse_to_run(int code, const std::string& why);

// A program that the loader can take over.
[[nodiscard]] program_file find_or_refuse(const std::string& name);
// As the shell does.
[[noreturn]] void become(const std::vector<std::string>& words);
// Of the environment; "" if it is not there.
[[nodiscard]] std::string variable(const char* name);
// "first:rest".
[[nodiscard]] std::string before(const std::string& first, const std::string& rest);

// None: the loader does not tell.
using libraries = std::optional<std::vector<loaded_library>>;

// The folder where a door's library lies, seen from this tool, where both are installed or in the tree where
// they were built. `file`: what must be there; `what`: its name, for the refusal.
[[nodiscard]] std::filesystem::path find_door(const char* installed, const char* built,
                                              const std::string& file, const std::string& what);

struct takeover {
  std::filesystem::path preload; // empty: none
  std::string says;
};

// --- OpenMP, whose folder comes first in the search path: it has links of the names that programs look for
// ---

[[nodiscard]] std::filesystem::path find_openmp();
[[nodiscard]] takeover take_openmp_over(const program_file& p, const libraries& found,
                                        const std::filesystem::path& folder);
void explain_openmp(const program_file& p, const libraries& found);

// --- Pthreads, always preloaded ---

[[nodiscard]] std::filesystem::path find_pthreads();
[[nodiscard]] takeover take_pthreads_over(const program_file& p, const libraries& found,
                                          const std::filesystem::path& library);
void explain_pthreads(const program_file& p, const libraries& found, const std::filesystem::path& library);

// "a, b, c".
[[nodiscard]] std::string list_of(const std::vector<std::string>& names);
// The script, or the program: what the user has named.
[[nodiscard]] std::string name_of(const program_file& p);

} // namespace weft::tool
