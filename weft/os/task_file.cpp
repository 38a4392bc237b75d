// SPDX-License-Identifier: MIT
#include "weft/os/task_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace weft::os {

std::size_t read_task_file(int id, const char* file, std::span<char> text) noexcept {
  std::array<char, 64> path;
  static_cast<void>(std::snprintf(path.data(), path.size(), "/proc/self/task/%d/%s", id, file));
  const int opened = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  const ssize_t length = opened >= 0 ? ::read(opened, text.data(), text.size() - 1) : -1;
  if (opened >= 0)
    ::close(opened);
  const std::size_t bytes = length > 0 ? static_cast<std::size_t>(length) : 0;
  text[bytes] = '\0';
  return bytes;
}

} // namespace weft::os
