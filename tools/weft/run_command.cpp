// SPDX-License-Identifier: MIT
// `weft run` sets two variables of the loader's and becomes the program.
#include "tools/weft/run_command.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>

#include "tools/weft/run_door.hpp"

namespace weft::tool {

namespace fs = std::filesystem;

namespace {

const char* speaker = "weft run";

} // namespace

void speak_as(const char* command) {
  speaker = command;
}

void refuse_to_run(int code, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", speaker, why.c_str());
  std::exit(code);
}

fs::path find_door(const char* installed, const char* built, const std::string& file,
                   const std::string& what) {
  const fs::path self = fs::read_symlink("/proc/self/exe").parent_path();
  std::string tried;
  for (const char* const way : {installed, built}) {
    const fs::path folder = (self / way).lexically_normal();
    if (fs::exists(folder / file))
      return folder;
    tried += (tried.empty() ? "" : " nor in ") + folder.string();
  }
  refuse_to_run(cannot_run, what + " is not in " + tried + ": this Weft was built without it");
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names)
    text += (text.empty() ? "" : ", ") + n;
  return text;
}

std::string name_of(const program_file& p) {
  return p.script.empty() ? p.path.filename() : p.script.filename();
}

std::string before(const std::string& first, const std::string& rest) {
  return rest.empty() ? first : first + ':' + rest;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

program_file find_or_refuse(const std::string& name) {
  program_file p;
  try {
    p = find_program(name);
  } catch (const std::system_error& e) {
    refuse_to_run(e.code() == std::errc::no_such_file_or_directory ? not_found : cannot_run, e.what());
  }
  switch (p.what) {
  case obstacle::is_static:
    refuse_to_run(cannot_run, p.path.string() + " is linked statically: nothing of it can be taken over");
  case obstacle::is_privileged:
    refuse_to_run(cannot_run, p.path.string() +
                                  " gets rights of another user's (setuid, setgid or capabilities): its "
                                  "loader heeds no search path and no preload");
  case obstacle::is_foreign:
    refuse_to_run(cannot_run, p.path.string() + " is for another CPU");
  case obstacle::none:
    break;
  }
  return p;
}

void become(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& w : words)
    arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  ::execvp(arguments.front(), arguments.data());
  refuse_to_run(errno == ENOENT ? not_found : cannot_run,
                words.front() + ": " + std::generic_category().message(errno));
}

namespace {

struct settings {
  bool openmp = false; // what is meant where no door is named
  bool pthreads = false;
  bool explain = false;
  bool quiet = false;
  bool alone = false;
  unsigned workers = 0; // 0: as the environment says
};

// What becomes of the two variables.
struct plan {
  std::string search_path = variable("LD_LIBRARY_PATH");
  std::string preload; // what comes before what is preloaded already; empty: nothing
  std::vector<std::string> says;

  void add(const char* door, const takeover& t) {
    says.push_back(std::string(door) + ": " + t.says);
    if (!t.preload.empty())
      preload = before(t.preload, preload);
  }
};

void explain(const plan& how) {
  if (how.search_path != variable("LD_LIBRARY_PATH"))
    std::printf("sets        LD_LIBRARY_PATH=%s\n", how.search_path.c_str());
  if (!how.preload.empty())
    std::printf("sets        LD_PRELOAD=%s\n", before(how.preload, variable("LD_PRELOAD")).c_str());
  for (const std::string& s : how.says)
    std::printf("takes over  %s\n", s.c_str());
}

void set(const plan& how, const settings& s) {
  if (!s.quiet) {
    for (const std::string& line : how.says)
      std::fprintf(stderr, "weft run: %s\n", line.c_str());
  }
  if (!how.search_path.empty())
    ::setenv("LD_LIBRARY_PATH", how.search_path.c_str(), 1);
  if (!how.preload.empty())
    ::setenv("LD_PRELOAD", before(how.preload, variable("LD_PRELOAD")).c_str(), 1);
  if (s.alone)
    ::setenv("WEFT_PTHREADS_CHILDREN", "off", 1);
  if (s.workers != 0)
    ::setenv("WEFT_WORKERS", std::to_string(s.workers).c_str(), 1);
}

void run(const settings& s, const std::vector<std::string>& words) {
  if (words.empty())
    refuse_to_run(cannot_run, "no program is named: weft run [--openmp] [--pthreads] PROGRAM [ARGUMENT...]");
  const bool openmp = s.openmp || !s.pthreads;
  const program_file p = find_or_refuse(words.front());
  const fs::path openmp_folder = openmp ? find_openmp() : fs::path();
  const fs::path pthreads_library = s.pthreads ? find_pthreads() : fs::path();
  plan how;
  if (openmp)
    how.search_path = before(openmp_folder, how.search_path);
  const libraries found = libraries_of(p, how.search_path);
  if (s.explain) {
    std::printf("program     %s\n", p.path.c_str());
    if (!p.script.empty())
      std::printf("interprets  %s\n", p.script.c_str());
  }
  if (openmp) {
    how.add("OpenMP", take_openmp_over(p, found, openmp_folder));
    if (s.explain)
      explain_openmp(p, found);
  }
  if (s.pthreads) {
    how.add("Pthreads", take_pthreads_over(p, found, pthreads_library));
    if (s.explain)
      explain_pthreads(p, found, pthreads_library);
  }
  if (s.explain)
    return explain(how);
  set(how, s);
  become(words);
}

} // namespace

void add_run_command(CLI::App& app) {
  auto s = std::make_shared<settings>();
  CLI::App* const command = app.add_subcommand(
      "run",
      "Runs a program whose OpenMP regions or threads are Weft's: weft run [OPTIONS] PROGRAM [ARGUMENT...]");
  command->add_flag("--openmp", s->openmp, "take over OpenMP (what is meant if nothing is said)");
  command->add_flag("--pthreads", s->pthreads, "take over Pthreads; with --openmp both");
  command->add_flag("--explain", s->explain, "say what would be taken over and what set, and run nothing");
  command->add_flag("-q,--quiet", s->quiet, "do not say what was taken over");
  command->add_flag("--alone", s->alone,
                    "take the threads of this program over, and not those of the programs that it starts "
                    "(WEFT_PTHREADS_CHILDREN=off)");
  command->add_option("--workers", s->workers, "how many workers (WEFT_WORKERS)")
      ->check(CLI::Range(1U, 4096U));
  command->prefix_command();
  command->callback([s, command] { run(*s, command->remaining()); });
}

} // namespace weft::tool
