// SPDX-License-Identifier: MIT
#include "weft/memory/statistics.hpp"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace weft::memory {
namespace {

// The kilobytes after `key` in the text of /proc/self/status, as bytes.
std::size_t field(const char* text, const char* key) noexcept {
  const char* at = std::strstr(text, key);
  return at == nullptr ? 0 : std::strtoull(at + std::strlen(key), nullptr, 10) * 1024;
}

std::size_t count_mappings() noexcept {
  const int file = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return 0;
  }
  std::size_t lines = 0;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(file, part, sizeof part)) > 0;) {
    for (ssize_t index = 0; index < got; ++index) {
      lines += part[index] == '\n' ? 1 : 0;
    }
  }
  ::close(file);
  return lines;
}

} // namespace

process_memory read_process_memory(bool with_mappings) noexcept {
  process_memory result = {};
  const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return result;
  }
  char text[4096];
  const ssize_t got = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (got <= 0) {
    return result;
  }
  text[got] = '\0';
  result.resident = field(text, "VmRSS:");
  result.peak_resident = field(text, "VmHWM:");
  result.page_tables = field(text, "VmPTE:");
  if (with_mappings) {
    result.mappings = count_mappings();
  }
  return result;
}

memory_statistics read_statistics(stack_depot& depot) noexcept {
  return {depot.count(), read_process_memory()};
}

} // namespace weft::memory
