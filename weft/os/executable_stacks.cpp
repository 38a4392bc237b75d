// SPDX-License-Identifier: MIT
#include "weft/os/executable_stacks.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "weft/base/atomic.hpp"
#include "weft/os/fault.hpp"
#include "weft/os/interruptible.hpp"

namespace weft::os {
namespace {

// The line of /proc/self/maps for main's stack: "7ffc...-7ffc... rwxp 00000000 00:00 0    [stack]".
bool is_executable_main_stack(const char* line) noexcept {
  const char* const rights = std::strchr(line, ' ');
  return rights != nullptr && std::strlen(rights) > 4 && rights[3] == 'x' &&
         std::strstr(rights, "[stack]") != nullptr;
}

// Line by line, as the file may be longer than any buffer here.
bool look_in(int maps) noexcept {
  char line[512], piece[512];
  std::size_t used = 0;
  for (;;) {
    const ssize_t count = uninterrupted([&] { return ::read(maps, piece, sizeof piece); });
    if (count <= 0)
      return false;
    for (ssize_t k = 0; k != count; ++k) {
      if (piece[k] != '\n') {
        if (used + 1 < sizeof line) // the rest of a long name
          line[used++] = piece[k];
        continue;
      }
      line[used] = '\0';
      used = 0;
      if (is_executable_main_stack(line))
        return true;
    }
  }
}

} // namespace

bool stacks_are_executable() noexcept {
  static constinit base::atomic<bool> known{false}; // relaxed: libc never takes it back
  if (known.load_relaxed())
    return true;
  const int maps = uninterrupted([] { return ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC); });
  if (maps < 0)
    return false;
  const bool found = look_in(maps);
  static_cast<void>(close_descriptor(maps));
  if (found)
    known.store_relaxed(true);
  return found;
}

int make_executable(void* at, std::size_t bytes) noexcept {
  if (const int injected = fault(fault_site::mprotect))
    return injected;
  return ::mprotect(at, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) == 0 ? 0 : errno;
}

} // namespace weft::os
