// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <utility>

#include "tools/weft/elf_names.hpp"
#include "tools/weft/run_door.hpp"

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

constexpr auto file_name = "libweft_pthread.so";

bool begins_with_one_of(const std::string& name, const auto& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&name](const char* b) { return name.starts_with(b); });
}

// libc's own files ask for its functions too, and are none of the program's.
bool is_libc(const std::string& name) {
  constexpr std::array parts{"libc.so.", "libpthread.so.", "libm.so.", "libdl.so.", "librt.so.", "ld-linux"};
  return begins_with_one_of(name, parts);
}

bool is_of_threads(const std::string& name) {
  constexpr std::array beginnings{"pthread_", "sem_", "thrd_", "mtx_", "cnd_", "tss_", "call_once"};
  return begins_with_one_of(name, beginnings);
}

// What the program and the libraries that it is linked to ask for and do.
struct uses {
  bool known = false;
  std::set<std::string> taken, left; // functions for threads: ours, and libc's
  std::vector<std::string> clones;   // files that ask for clone()
  std::vector<std::string> futexes;  // that call futex(2) in their own code
  std::string sanitizer;             // what one of them was compiled with; empty: nothing of that kind
};

// Its runtime has functions for threads of its own.
std::string sanitizer_of(const elf_names& file) {
  constexpr std::array runtimes{
      std::pair{"__tsan_init", "ThreadSanitizer"}, std::pair{"__asan_init", "AddressSanitizer"},
      std::pair{"__msan_init", "MemorySanitizer"}, std::pair{"__hwasan_init", "HWAddressSanitizer"},
      std::pair{"__lsan_do_leak_check", "LeakSanitizer"}};
  for (const auto& [function, name] : runtimes) {
    if (file.asked.contains(function) || file.given.contains(function))
      return name;
  }
  return {};
}

void add(const std::string& name, const elf_names& file, const std::set<std::string>& ours, uses& to) {
  for (const std::string& asked : file.asked) {
    if (ours.contains(asked))
      to.taken.insert(asked);
    else if (is_of_threads(asked))
      to.left.insert(asked);
  }
  if (file.asked.contains("clone"))
    to.clones.push_back(name);
  if (file.futex_calls != 0)
    to.futexes.push_back(name);
  if (to.sanitizer.empty())
    to.sanitizer = sanitizer_of(file);
}

uses uses_of(const program_file& p, const libraries& found, const fs::path& library) {
  const auto ours = names_of(library);
  const auto program = names_of(p.path);
  if (!ours || !program)
    return {};
  uses all{.known = true, .taken = {}, .left = {}, .clones = {}, .futexes = {}, .sanitizer = {}};
  add(p.path.filename(), *program, ours->given, all);
  for (const auto& [name, file] : found.value_or(std::vector<loaded_library>{})) {
    const auto names = is_libc(name) ? std::nullopt : names_of(file);
    if (names)
      add(name, *names, ours->given, all);
  }
  return all;
}

std::string list_of(const std::set<std::string>& names) {
  return tool::list_of(std::vector<std::string>(names.begin(), names.end()));
}

} // namespace

fs::path find_pthreads() {
  return find_door(WEFT_PTHREADS_INSTALLED, WEFT_PTHREADS_BUILT, file_name, file_name) / file_name;
}

takeover take_pthreads_over(const program_file& p, const libraries& found, const fs::path& library) {
  const uses u = uses_of(p, found, library);
  if (!u.sanitizer.empty())
    refuse_to_run(cannot_run, name_of(p) + " was compiled with " + u.sanitizer +
                                  ", which has functions for threads of its own: run it as it is");
  if (u.taken.contains("pthread_create") || u.taken.contains("thrd_create"))
    return {library, std::to_string(u.taken.size()) + " functions, by preload"};
  return {library, u.known ? name_of(p) + " and its libraries create no threads: preloaded, for what is "
                                          "loaded or started later"
                           : "preloaded"};
}

void explain_pthreads(const program_file& p, const libraries& found, const fs::path& library) {
  const uses u = uses_of(p, found, library);
  if (!u.known)
    return static_cast<void>(std::printf("Pthreads    not known: this tool was built without libelf\n"));
  if (!u.taken.empty())
    std::printf("Pthreads    taken over: %s\n", list_of(u.taken).c_str());
  if (!u.left.empty())
    std::printf("Pthreads    libc's still: %s\n", list_of(u.left).c_str());
  for (const std::string& file : u.clones)
    std::printf("Pthreads    %s calls clone(): what it makes there are kernel threads still\n", file.c_str());
  for (const std::string& file : u.futexes)
    std::printf(
        "Pthreads    %s calls futex(2) in code of its own: a wait there blocks its kernel thread, and "
        "another one takes the worker\n",
        file.c_str());
}

} // namespace weft::tool
