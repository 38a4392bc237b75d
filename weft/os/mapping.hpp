// SPDX-License-Identifier: MIT
// Anonymous memory from the kernel. All mappings are private and MAP_NORESERVE: stacks reserve far more
// address space than they touch, and strict overcommit would otherwise count all of it. MAP_STACK is not
// used: on Linux it does nothing except, since 6.7, ask for no transparent huge pages, which advise_no_huge()
// says openly on every kernel. MAP_GROWSDOWN is not used: such a mapping does not grow for a stack pointer
// the kernel does not know. Errors: 0 or an errno value. Contexts: all but signal handlers, unless marked.
// Switches: never.
#pragma once

#include <cstddef>

namespace weft::os {

// The OS's page, in bytes. SIGNAL-SAFE.
std::size_t memory_page_bytes() noexcept;
// The default explicit huge page, in bytes; 0 if the kernel has none (/proc/meminfo, read once).
std::size_t huge_page_bytes() noexcept;

inline std::size_t round_up_to_page(std::size_t bytes) noexcept {
  const std::size_t page = memory_page_bytes();
  return (bytes + page - 1) / page * page;
}

enum class page_access : unsigned char { none, read_write };

// `bytes` is a multiple of the page; memory reads as zero. page_access::none reserves addresses only.
// Errors: ENOMEM (also: vm.max_map_count reached), EAGAIN. Fault site: mmap.
int map(std::size_t bytes, page_access wanted, void** result) noexcept;

// As map() with read_write, at an address that is a multiple of `alignment` (a power of two, >= a page).
int map_aligned(std::size_t bytes, std::size_t alignment, page_access wanted, void** result) noexcept;

// On explicit huge pages (huge_page_bytes() each), reserved now, so that touching them cannot fail with
// SIGBUS. Errors: ENOMEM where vm.nr_hugepages does not suffice, EINVAL without support. Fault site: mmap.
int map_huge(std::size_t bytes, void** result) noexcept;

int unmap(void* at, std::size_t bytes) noexcept;

// mprotect. May split a mapping: ENOMEM when that would pass vm.max_map_count. Fault site: mprotect.
// SIGNAL-SAFE.
int protect(void* at, std::size_t bytes, page_access wanted) noexcept;

// Makes pages inaccessible without splitting the mapping (MADV_GUARD_INSTALL, Linux 6.13); what they held is
// lost. Errors: EINVAL on older kernels. Fault site: madvise.
int install_guard(void* at, std::size_t bytes) noexcept;
int remove_guard(void* at, std::size_t bytes) noexcept;
// Whether install_guard works here; tried once on a page of its own.
bool guards_supported() noexcept;

// Gives memory back now; the pages read as zero afterwards (MADV_DONTNEED). Guards stay. Fault site: madvise.
int discard(void* at, std::size_t bytes) noexcept;
// The kernel may take the pages when it is short (MADV_FREE): cheaper, but they count as resident until then.
int discard_lazily(void* at, std::size_t bytes) noexcept;
// Ask for transparent huge pages, or for none. Errors: also ENOMEM (vm.max_map_count reached).
int advise_huge(void* at, std::size_t bytes) noexcept;
int advise_no_huge(void* at, std::size_t bytes) noexcept;

// How many mappings a process may have (vm.max_map_count); 65530, the default, if it cannot be read.
std::size_t max_map_count() noexcept;

} // namespace weft::os
