// SPDX-License-Identifier: MIT
// How many kernel threads the process has, by their names. Allocates nothing, so that tests of what happens
// without memory can count, too.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string_view>

namespace weft::test {

// Those whose name satisfies `counts`. RACY: one that was joined is in /proc a little longer.
template <class Predicate>
std::size_t kernel_threads_if(Predicate counts) {
  std::size_t count = 0;
  DIR* const tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr)
    return 0;
  while (const dirent* entry = ::readdir(tasks)) {
    if (entry->d_name[0] == '.')
      continue;
    char path[64], name[32] = {};
    std::snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", entry->d_name);
    ssize_t length = 0;
    if (const int file = ::open(path, O_RDONLY | O_CLOEXEC); file >= 0) {
      length = ::read(file, name, sizeof name);
      ::close(file);
    }
    if (length > 0) // it ends with a new line
      count += counts(std::string_view(name, static_cast<std::size_t>(length) - 1)) ? 1U : 0U;
  }
  ::closedir(tasks);
  return count;
}

// The one that sees to timers begins with the first of them and stays while there is any group.
inline bool sees_to_timers(std::string_view name) {
  return name == "weft-time";
}

// Of Weft's, but for that one. A sanitizer may have some of its own.
inline std::size_t weft_kernel_threads() {
  return kernel_threads_if(
      [](std::string_view name) { return name.starts_with("weft-") && !sees_to_timers(name); });
}

} // namespace weft::test
