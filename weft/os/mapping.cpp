// SPDX-License-Identifier: MIT
#include "weft/os/mapping.hpp"

#include "weft/base/first_use.hpp"
#include "weft/os/fault.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

namespace weft::os {
namespace {

int protection(page_access wanted) noexcept {
  return wanted == page_access::none ? PROT_NONE : PROT_READ | PROT_WRITE;
}

int map_with(std::size_t bytes, page_access wanted, int flags, void** result) noexcept {
  if (const int injected = fault(fault_site::mmap)) {
    return injected;
  }
  void* at = ::mmap(nullptr, bytes, protection(wanted), MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (at == MAP_FAILED) {
    return errno;
  }
  *result = at;
  return 0;
}

int advise(void* at, std::size_t bytes, int advice) noexcept {
  if (const int injected = fault(fault_site::madvise)) {
    return injected;
  }
  // EAGAIN: the kernel asks to try again (guard pages under memory pressure)
  for (;;) {
    if (::madvise(at, bytes, advice) == 0) {
      return 0;
    }
    if (errno != EAGAIN && errno != EINTR) {
      return errno;
    }
  }
}

// For what may split a mapping. EAGAIN says here that there is no room for one more (vm.max_map_count), which
// another try does not change.
int advise_mapping(void* at, std::size_t bytes, int advice) noexcept {
  if (const int injected = fault(fault_site::madvise))
    return injected;
  if (::madvise(at, bytes, advice) == 0)
    return 0;
  return errno == EAGAIN ? ENOMEM : errno;
}

// The number after `key` in a file of "key number" lines, or the file's first number if `key` is empty; 0 if
// absent.
std::size_t number_in_file(const char* path, const char* key) noexcept {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) {
    return 0;
  }
  char line[256];
  unsigned long number = 0;
  while (number == 0 && std::fgets(line, sizeof line, file) != nullptr) {
    const char* from = line;
    const char* match = key;
    while (*match != '\0' && *from == *match) {
      ++from;
      ++match;
    }
    if (*match != '\0' || std::sscanf(from, "%lu", &number) != 1) {
      number = 0;
    }
  }
  std::fclose(file);
  return number;
}

} // namespace

std::size_t memory_page_bytes() noexcept {
  static constinit base::first_number bytes;
  return bytes.get([]() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); });
}

std::size_t huge_page_bytes() noexcept {
  static constinit base::first_number bytes;
  return bytes.get([]() noexcept { return number_in_file("/proc/meminfo", "Hugepagesize:") * 1024; });
}

std::size_t max_map_count() noexcept {
  static constinit base::first_number count;
  return count.get([]() noexcept {
    const std::size_t number = number_in_file("/proc/sys/vm/max_map_count", "");
    return number == 0 ? 65530 : number;
  });
}

int map(std::size_t bytes, page_access wanted, void** result) noexcept {
  return map_with(bytes, wanted, MAP_NORESERVE, result);
}

int map_aligned(std::size_t bytes, std::size_t alignment, page_access wanted, void** result) noexcept {
  const std::size_t page = memory_page_bytes();
  const std::size_t slack = alignment > page ? alignment - page : 0;
  void* whole = nullptr;
  if (const int error = map(bytes + slack, wanted, &whole)) {
    return error;
  }
  const auto low = reinterpret_cast<std::uintptr_t>(whole);
  const std::uintptr_t at = (low + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
  const std::size_t before = at - low;
  if (before != 0) {
    ::munmap(whole, before);
  }
  if (slack != before) {
    ::munmap(reinterpret_cast<void*>(at + bytes), slack - before);
  }
  *result = reinterpret_cast<void*>(at);
  return 0;
}

int map_huge(std::size_t bytes, void** result) noexcept {
  // No MAP_NORESERVE: the pages are set aside now, or the call fails.
  return map_with(bytes, page_access::read_write, MAP_HUGETLB, result);
}

int unmap(void* at, std::size_t bytes) noexcept {
  return ::munmap(at, bytes) == 0 ? 0 : errno;
}

int protect(void* at, std::size_t bytes, page_access wanted) noexcept {
  if (const int injected = fault(fault_site::mprotect)) {
    return injected;
  }
  return ::mprotect(at, bytes, protection(wanted)) == 0 ? 0 : errno;
}

int install_guard(void* at, std::size_t bytes) noexcept {
  return advise(at, bytes, MADV_GUARD_INSTALL);
}

int remove_guard(void* at, std::size_t bytes) noexcept {
  return advise(at, bytes, MADV_GUARD_REMOVE);
}

bool guards_supported() noexcept {
  static constinit base::first_number supported;
  return supported.get([]() noexcept -> std::size_t {
    const std::size_t page = memory_page_bytes();
    void* at = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
      return 0;
    }
    const bool works = ::madvise(at, page, MADV_GUARD_INSTALL) == 0;
    ::munmap(at, page);
    return works ? 1 : 0;
  }) != 0;
}

int discard(void* at, std::size_t bytes) noexcept {
  return advise(at, bytes, MADV_DONTNEED);
}

int discard_lazily(void* at, std::size_t bytes) noexcept {
  return advise(at, bytes, MADV_FREE);
}

int advise_huge(void* at, std::size_t bytes) noexcept {
  return advise_mapping(at, bytes, MADV_HUGEPAGE);
}

int advise_no_huge(void* at, std::size_t bytes) noexcept {
  return advise_mapping(at, bytes, MADV_NOHUGEPAGE);
}

} // namespace weft::os
