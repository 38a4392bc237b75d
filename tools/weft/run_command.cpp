// SPDX-License-Identifier: MIT
// `weft run` sets two variables of the loader's and becomes the program. The folder of the library comes
// first in the search path: it has links of the names that programs look for. Where a program has a copy
// under a path of its own, or loads what it needs later, by a file that we do not know, the library is
// preloaded too: then its names come before all others.
#include "tools/weft/run_command.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/weft/program_file.hpp"

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

struct settings {
  bool openmp = false; // the only one that there is, and so what is meant without it
  bool explain = false;
  bool quiet = false;
  unsigned workers = 0; // 0: as the environment says
};

constexpr auto preloaded = "libgomp.so.1";       // any of the links
constexpr int cannot_run = 126, not_found = 127; // as of env and nohup

[[noreturn]] void refuse(int code, const std::string& why) {
  std::fprintf(stderr, "weft run: %s\n", why.c_str());
  std::exit(code);
}

// Of libweft_omp.so and its links, beside this tool: where both are installed, or in the tree where they were
// built.
fs::path find_openmp_folder() {
  const fs::path self = fs::read_symlink("/proc/self/exe").parent_path();
  std::string tried;
  for (const char* const way : {WEFT_OPENMP_INSTALLED, WEFT_OPENMP_BUILT}) {
    const fs::path folder = (self / way).lexically_normal();
    if (fs::exists(folder / preloaded))
      return folder;
    tried += (tried.empty() ? "" : " nor in ") + folder.string();
  }
  refuse(cannot_run, "libweft_omp.so is not in " + tried + ": this Weft was built without it");
}

std::string before(const std::string& first, const char* variable) {
  const char* const old = std::getenv(variable);
  return old != nullptr && *old != '\0' ? first + ':' + old : first;
}

// A runtime of OpenMP, by its file's name, that of a wheel's private copy among them
// (libgomp-1234abcd.so.1.0.0).
bool is_openmp(const std::string& file) {
  constexpr std::array names{"libgomp", "libomp", "libiomp5"};
  return std::any_of(names.begin(), names.end(), [&file](const std::string& name) {
    return file.starts_with(name) && file.size() > name.size() &&
           (file[name.size()] == '.' || file[name.size()] == '-');
  });
}

// What becomes of the two variables, and why.
struct plan {
  std::string search_path;
  std::string preload; // empty: as it is
  std::string says;
};

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names)
    text += (text.empty() ? "" : ", ") + n;
  return text;
}

using libraries = std::optional<std::vector<loaded_library>>;

std::vector<loaded_library> openmp_among(const libraries& found) {
  std::vector<loaded_library> all = found.value_or(std::vector<loaded_library>{});
  std::erase_if(all, [](const loaded_library& l) { return !is_openmp(l.first); });
  return all;
}

plan plan_for(const program_file& p, const libraries& found, const fs::path& folder,
              std::string search_path) {
  std::vector<std::string> ours, own;
  for (const auto& [name, file] : openmp_among(found)) {
    std::error_code ignored;
    (fs::equivalent(file.parent_path(), folder, ignored) ? ours : own).push_back(name);
  }
  if (own.empty() && !ours.empty())
    return {std::move(search_path), {}, list_of(ours) + " by search path"};
  const std::string who = p.script.empty() ? p.path.filename() : p.script.filename();
  return {std::move(search_path), before(folder / preloaded, "LD_PRELOAD"),
          !own.empty()
              ? list_of(own) + " is not looked for by search path: preloaded"
              : who + " is not linked to a runtime of OpenMP: preloaded, for what it loads or starts"};
}

void explain(const program_file& p, const libraries& found, const plan& how) {
  std::printf("program     %s\n", p.path.c_str());
  if (!p.script.empty())
    std::printf("interprets  %s\n", p.script.c_str());
  for (const auto& [name, file] : openmp_among(found))
    std::printf("OpenMP      %s => %s\n", name.c_str(), file.c_str());
  if (!found)
    std::printf("OpenMP      not known: %s does not list what it loads\n", p.loader.c_str());
  std::printf("sets        LD_LIBRARY_PATH=%s\n", how.search_path.c_str());
  if (!how.preload.empty())
    std::printf("sets        LD_PRELOAD=%s\n", how.preload.c_str());
  std::printf("takes over  %s\n", how.says.c_str());
}

program_file find_or_refuse(const std::string& name) {
  program_file p;
  try {
    p = find_program(name);
  } catch (const std::system_error& e) {
    refuse(e.code() == std::errc::no_such_file_or_directory ? not_found : cannot_run, e.what());
  }
  switch (p.what) {
  case obstacle::is_static:
    refuse(cannot_run, p.path.string() + " is linked statically: nothing of it can be taken over");
  case obstacle::is_privileged:
    refuse(cannot_run, p.path.string() +
                           " gets rights of another user's (setuid, setgid or capabilities): its loader "
                           "heeds no search path and no preload");
  case obstacle::is_foreign:
    refuse(cannot_run, p.path.string() + " is for another CPU");
  case obstacle::none:
    break;
  }
  return p;
}

void run(const settings& s, const std::vector<std::string>& words) {
  if (words.empty())
    refuse(cannot_run, "no program is named: weft run [--openmp] PROGRAM [ARGUMENT...]");
  const program_file p = find_or_refuse(words.front());
  const fs::path folder = find_openmp_folder();
  const std::string search_path = before(folder, "LD_LIBRARY_PATH");
  const libraries found = libraries_of(p, search_path);
  const plan how = plan_for(p, found, folder, search_path);
  if (s.explain)
    return explain(p, found, how);
  if (!s.quiet)
    std::fprintf(stderr, "weft run: OpenMP: %s\n", how.says.c_str());
  ::setenv("LD_LIBRARY_PATH", how.search_path.c_str(), 1);
  if (!how.preload.empty())
    ::setenv("LD_PRELOAD", how.preload.c_str(), 1);
  if (s.workers != 0)
    ::setenv("WEFT_WORKERS", std::to_string(s.workers).c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& w : words)
    arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  ::execvp(arguments.front(), arguments.data());
  refuse(errno == ENOENT ? not_found : cannot_run,
         words.front() + ": " + std::generic_category().message(errno));
}

} // namespace

void add_run_command(CLI::App& app) {
  auto s = std::make_shared<settings>();
  CLI::App* const command = app.add_subcommand(
      "run", "Runs a program whose OpenMP regions are Weft's: weft run [OPTIONS] PROGRAM [ARGUMENT...]");
  command->add_flag("--openmp", s->openmp, "take over OpenMP (what is meant if nothing is said)");
  command->add_flag("--explain", s->explain, "say what would be taken over and what set, and run nothing");
  command->add_flag("-q,--quiet", s->quiet, "do not say what was taken over");
  command->add_option("--workers", s->workers, "how many workers (WEFT_WORKERS)")
      ->check(CLI::Range(1U, 4096U));
  command->prefix_command();
  command->callback([s, command] { run(*s, command->remaining()); });
}

} // namespace weft::tool
