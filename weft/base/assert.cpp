// SPDX-License-Identifier: MIT
#include "weft/base/assert.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace weft::base {
namespace {

// One write, so that lines of several kernel threads do not mix. stdio's streams are not used: the process
// may hold their locks, and a SIGSEGV handler may be what called us.
void say(const char* format, va_list arguments) noexcept {
  constexpr char prefix[] = "weft: ";
  constexpr std::size_t prefix_bytes = sizeof prefix - 1;
  char line[1024];
  __builtin_memcpy(line, prefix, prefix_bytes);
  const std::size_t room = sizeof line - prefix_bytes - 1;
  const int wanted = std::vsnprintf(line + prefix_bytes, room, format, arguments);
  std::size_t length = prefix_bytes;
  if (wanted > 0) {
    length += static_cast<std::size_t>(wanted) < room ? static_cast<std::size_t>(wanted) : room - 1;
  }
  line[length++] = '\n';
  const char* next = line;
  while (length > 0) {
    const ssize_t written = ::write(STDERR_FILENO, next, length);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return;
    }
    next += written;
    length -= static_cast<std::size_t>(written);
  }
}

} // namespace

void panic(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  std::abort();
}

void warn(const char* format, ...) noexcept {
  const int saved = errno;
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  errno = saved;
}

void assert_failed(const char* file, int line, const char* condition, const char* text) noexcept {
  panic("%s:%d: %s (%s)", file, line, text, condition);
}

} // namespace weft::base
