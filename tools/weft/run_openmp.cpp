// SPDX-License-Identifier: MIT
// Where a program has a copy of an OpenMP library under a path of its own, or loads what it needs later, by a
// file that we do not know, ours is preloaded too: then its names come before all others.
#include <algorithm>
#include <array>
#include <cstdio>
#include <system_error>

#include "tools/weft/run_door.hpp"

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

constexpr auto preloaded = "libgomp.so.1"; // any of the links

// A runtime of OpenMP, by its file's name, that of a wheel's private copy among them
// (libgomp-1234abcd.so.1.0.0).
bool is_openmp(const std::string& file) {
  constexpr std::array names{"libgomp", "libomp", "libiomp5"};
  return std::any_of(names.begin(), names.end(), [&file](const std::string& name) {
    return file.starts_with(name) && file.size() > name.size() &&
           (file[name.size()] == '.' || file[name.size()] == '-');
  });
}

std::vector<loaded_library> openmp_among(const libraries& found) {
  std::vector<loaded_library> all = found.value_or(std::vector<loaded_library>{});
  std::erase_if(all, [](const loaded_library& l) { return !is_openmp(l.first); });
  return all;
}

} // namespace

fs::path find_openmp() {
  return find_door(WEFT_OPENMP_INSTALLED, WEFT_OPENMP_BUILT, preloaded, "libweft_omp.so");
}

takeover take_openmp_over(const program_file& p, const libraries& found, const fs::path& folder) {
  std::vector<std::string> ours, own;
  for (const auto& [name, file] : openmp_among(found)) {
    std::error_code ignored;
    (fs::equivalent(file.parent_path(), folder, ignored) ? ours : own).push_back(name);
  }
  if (own.empty() && !ours.empty())
    return {{}, list_of(ours) + " by search path"};
  return {folder / preloaded, !own.empty() ? list_of(own) + " is not looked for by search path: preloaded"
                                           : name_of(p) + " is not linked to a runtime of OpenMP: "
                                                          "preloaded, for what it loads or starts"};
}

void explain_openmp(const program_file& p, const libraries& found) {
  for (const auto& [name, file] : openmp_among(found))
    std::printf("OpenMP      %s => %s\n", name.c_str(), file.c_str());
  if (!found)
    std::printf("OpenMP      not known: %s does not list what it loads\n", p.loader.c_str());
}

} // namespace weft::tool
