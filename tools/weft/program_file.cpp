// SPDX-License-Identifier: MIT
#include "tools/weft/program_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>

// The linker's: the head of this very program.
extern "C" [[gnu::visibility("hidden")]] const ElfW(Ehdr) __ehdr_start;

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

fs::path find_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos)
    return name;
  const char* const list = std::getenv("PATH");
  std::istringstream folders(list != nullptr ? list : "/bin:/usr/bin");
  int error = ENOENT;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path here = fs::path(folder.empty() ? "." : folder) / name;
    std::error_code ignored;
    if (::access(here.c_str(), X_OK) == 0 && !fs::is_directory(here, ignored))
      return here;
    if (errno == EACCES)
      error = EACCES;
  }
  fail(error, name);
}

// The loader starts such a program without what the environment says of libraries.
bool is_privileged(const fs::path& path) {
  struct stat s{};
  if (::stat(path.c_str(), &s) == 0 && (s.st_mode & (S_ISUID | S_ISGID)) != 0)
    return (s.st_mode & S_ISUID) != 0 ? s.st_uid != ::geteuid() : s.st_gid != ::getegid();
  return ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

// As the kernel reads it: the rest of the line up to the first blank.
std::string interpreter_in(const std::string& head) {
  const std::size_t begin = head.find_first_not_of(" \t", 2);
  if (begin == std::string::npos)
    return {};
  return head.substr(begin, head.find_first_of(" \t\n", begin) - begin);
}

// For the CPU that this tool is for.
bool is_like_this(const ElfW(Ehdr) & head) {
  return head.e_ident[EI_CLASS] == __ehdr_start.e_ident[EI_CLASS] && head.e_machine == __ehdr_start.e_machine;
}

std::string loader_named_in(std::ifstream& file, const ElfW(Ehdr) & head) {
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    ElfW(Phdr) part{};
    file.seekg(static_cast<std::streamoff>(head.e_phoff + i * std::size_t{head.e_phentsize}));
    if (!file.read(reinterpret_cast<char*>(&part), sizeof part) || part.p_type != PT_INTERP)
      continue;
    std::string name(std::min<std::size_t>(part.p_filesz, PATH_MAX), '\0');
    file.seekg(static_cast<std::streamoff>(part.p_offset));
    file.read(name.data(), static_cast<std::streamsize>(name.size()));
    return name.c_str();
  }
  return {};
}

struct closes_pipe {
  void operator()(std::FILE* f) const { std::fclose(f); }
};

// What `arguments` writes to its standard output under this search path; none if it fails.
std::optional<std::string> output_of(const std::vector<std::string>& arguments,
                                     const std::string& search_path) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return {};
  const std::unique_ptr<std::FILE, closes_pipe> from(::fdopen(ends[0], "r"));
  std::vector<char*> words;
  for (const std::string& a : arguments)
    words.push_back(const_cast<char*>(a.c_str()));
  words.push_back(nullptr);
  const std::string path = "LD_LIBRARY_PATH=" + search_path;
  std::array<char*, 2> variables{const_cast<char*>(path.c_str()), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, words[0], &actions, nullptr, words.data(), variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0)
    return {};
  std::string text;
  std::array<char, 4096> piece{};
  while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), from.get()))
    text.append(piece.data(), n);
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0)
    return {};
  return text;
}

} // namespace

program_file find_program(const std::string& name) {
  program_file found;
  found.path = find_in_path(name);
  constexpr int most_interpreters = 5; // as the kernel
  for (int depth = 0; depth < most_interpreters; ++depth) {
    if (::access(found.path.c_str(), X_OK) != 0)
      fail(errno, found.path);
    std::ifstream file(found.path, std::ios::binary);
    std::string head(256, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(file.gcount()));
    file.clear();
    if (head.starts_with("#!")) {
      if (found.script.empty())
        found.script = found.path;
      found.path = interpreter_in(head);
      continue;
    }
    ElfW(Ehdr) elf{};
    if (!head.starts_with(ELFMAG) || head.size() < sizeof elf)
      fail(ENOEXEC, found.path);
    std::memcpy(&elf, head.data(), sizeof elf);
    if (!is_like_this(elf)) {
      found.what = obstacle::is_foreign;
      return found;
    }
    found.loader = loader_named_in(file, elf);
    found.what = found.loader.empty()        ? obstacle::is_static
                 : is_privileged(found.path) ? obstacle::is_privileged
                                             : obstacle::none;
    return found;
  }
  fail(ELOOP, name);
}

// Lines such as "\tlibm.so.6 => /lib/libm.so.6 (0x...)".
std::optional<std::vector<loaded_library>> libraries_of(const program_file& program,
                                                        const std::string& search_path) {
  const auto text = output_of({program.loader, "--list", program.path}, search_path);
  if (!text)
    return {};
  std::vector<loaded_library> all;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t arrow = line.find(" => "), end = line.rfind(" (0x");
    if (arrow == std::string::npos || end == std::string::npos || end < arrow)
      continue;
    const std::size_t begin = line.find_first_not_of(" \t");
    all.emplace_back(line.substr(begin, arrow - begin), line.substr(arrow + 4, end - arrow - 4));
  }
  return all;
}

} // namespace weft::tool
