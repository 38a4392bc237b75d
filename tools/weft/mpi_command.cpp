// SPDX-License-Identifier: MIT
// `weft mpi` becomes the engine's launcher, which gives each rank the layer by the loader's preload.
#include "tools/weft/mpi_command.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tools/weft/run_door.hpp"

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

struct settings {
  unsigned ranks = 0; // 0: as the launcher does without a number
  std::string engine; // empty: the one that the program is linked to
  std::string launcher;
  unsigned workers = 0; // 0: as the environment says
  bool main = false;
  bool explain = false;
  bool quiet = false;
};

// An engine, as Debian and those who build it themselves name its parts.
struct mpi_engine {
  const char* name;
  std::array<const char*, 2> libraries; // of its own
  const char* layer;
  std::array<const char*, 3> launchers;
};
constexpr std::array<mpi_engine, 2> engines{{{"openmpi",
                                              {"libmpi.so.40", "libmpi_mpifh.so.40"},
                                              "libweft_mpi_openmpi.so",
                                              {"mpiexec.openmpi", "mpirun.openmpi", "mpiexec"}},
                                             {"mpich",
                                              {"libmpich.so.12", "libmpi.so.12"},
                                              "libweft_mpi_mpich.so",
                                              {"mpiexec.mpich", "mpiexec.hydra", "mpiexec"}}}};

bool has(const libraries& found, const char* name) {
  return found && std::any_of(found->begin(), found->end(),
                              [name](const loaded_library& l) { return l.first == name; });
}

// Why it is this one goes to `why`.
const mpi_engine& engine_of(const program_file& p, const libraries& found, const std::string& named,
                            std::string& why) {
  for (const mpi_engine& e : engines) {
    if (named == e.name) {
      why = "as said";
      return e;
    }
    if (!named.empty())
      continue;
    for (const char* const library : e.libraries) {
      if (!has(found, library))
        continue;
      why = name_of(p) + " is linked to " + library;
      return e;
    }
  }
  refuse_to_run(cannot_run, name_of(p) + " is linked neither to Open MPI's library nor to MPICH's: say which "
                                         "one it loads by --engine openmpi or --engine mpich");
}

bool is_in_path(const std::string& command) {
  if (command.find('/') != std::string::npos)
    return ::access(command.c_str(), X_OK) == 0;
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder) / command).c_str(), X_OK) == 0)
      return true;
  }
  return false;
}

// The launcher, and what is said to it before all else.
std::vector<std::string> launcher_of(const mpi_engine& e, const std::string& named) {
  std::vector<std::string> words;
  std::istringstream text(named);
  for (std::string word; text >> word;)
    words.push_back(word);
  for (const char* const candidate : e.launchers) {
    if (words.empty() && is_in_path(candidate))
      words.emplace_back(candidate);
  }
  if (words.empty() || !is_in_path(words.front()))
    refuse_to_run(not_found, (words.empty() ? std::string(e.launchers.front()) : words.front()) +
                                 " is not in PATH: the launcher of " + e.name +
                                 " is needed (--launcher names another one)");
  return words;
}

// A variable for all ranks, those on other machines too.
void tell(std::vector<std::string>& words, const mpi_engine& e, const std::string& name,
          const std::string& value) {
  if (std::string(e.name) == "openmpi") {
    words.insert(words.end(), {"-x", name + "=" + value});
  } else {
    words.insert(words.end(), {"-genv", name, value});
  }
}

void run(const settings& s, const std::vector<std::string>& program) {
  speak_as("weft mpi");
  if (program.empty())
    refuse_to_run(cannot_run, "no program is named: weft mpi [-n RANKS] PROGRAM [ARGUMENT...]");
  const program_file p = find_or_refuse(program.front());
  const libraries found = libraries_of(p, variable("LD_LIBRARY_PATH"));
  std::string why;
  const mpi_engine& e = engine_of(p, found, s.engine, why);
  std::vector<std::string> words = launcher_of(e, s.launcher);
  std::string says = words.front() + " starts " + (s.ranks == 0 ? "the" : std::to_string(s.ranks)) +
                     (s.ranks == 1 ? " rank" : " ranks");
  if (s.ranks != 0)
    words.insert(words.end(), {"-n", std::to_string(s.ranks)});
  if (has(found, e.layer)) {
    says += std::string("; ") + name_of(p) + " is linked to " + e.layer;
  } else {
    const fs::path layer =
        find_door(WEFT_MPI_INSTALLED, WEFT_MPI_BUILT, e.layer, std::string("the layer for ") + e.name) /
        e.layer;
    tell(words, e, "LD_PRELOAD", before(layer, variable("LD_PRELOAD")));
    says += std::string(" with ") + e.layer + ": " + why;
  }
  if (s.workers != 0)
    tell(words, e, "WEFT_WORKERS", std::to_string(s.workers));
  if (s.main)
    tell(words, e, "WEFT_MPI_MAIN", "1");
  words.insert(words.end(), program.begin(), program.end());
  if (s.explain) {
    for (const std::string& w : words)
      std::printf("%s%s", &w == words.data() ? "" : " ", w.c_str());
    std::printf("\n");
    return;
  }
  if (!s.quiet)
    std::fprintf(stderr, "weft mpi: %s\n", says.c_str());
  become(words);
}

} // namespace

void add_mpi_command(CLI::App& app) {
  auto s = std::make_shared<settings>();
  CLI::App* const command = app.add_subcommand(
      "mpi", "Starts a program's ranks by its MPI's launcher, with Weft's layer: threads "
             "that wait in MPI suspend themselves: weft mpi [OPTIONS] PROGRAM [ARGUMENT...]");
  command->add_option("-n,--ranks", s->ranks, "how many ranks (unless said, what the launcher does without)")
      ->check(CLI::Range(1U, 1U << 20));
  command
      ->add_option(
          "--engine", s->engine,
          "openmpi or mpich, for a program that loads its MPI later (unless said, what it is linked to)")
      ->check(CLI::IsMember({"openmpi", "mpich"}));
  command->add_option("--launcher", s->launcher,
                      "what starts ranks, with options of its own: 'mpiexec.openmpi --oversubscribe'");
  command->add_option("--workers", s->workers, "how many workers a rank has (WEFT_WORKERS)")
      ->check(CLI::Range(1U, 4096U));
  command->add_flag("--main", s->main, "main() is a thread of Weft too, from MPI_Init on (WEFT_MPI_MAIN=1)");
  command->add_flag("--explain", s->explain, "print the command, and start nothing");
  command->add_flag("-q,--quiet", s->quiet, "do not say what is started");
  command->prefix_command();
  command->callback([s, command] { run(*s, command->remaining()); });
}

} // namespace weft::tool
