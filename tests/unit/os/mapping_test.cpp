// SPDX-License-Identifier: MIT
#include "weft/os/mapping.hpp"

#include "weft/os/fault.hpp"

#include <cerrno>
#include <cstdint>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace weft::os;

// Reads or writes a byte through the kernel, which says EFAULT instead of raising SIGSEGV.
bool readable(void* at) {
  int ends[2];
  if (::pipe(ends) != 0) {
    return false;
  }
  const bool good = ::write(ends[1], at, 1) == 1;
  ::close(ends[0]);
  ::close(ends[1]);
  return good;
}

struct mapped {
  explicit mapped(std::size_t pages, page_access wanted = page_access::read_write)
      : bytes{pages * memory_page_bytes()} {
    EXPECT_EQ(map(bytes, wanted, &at), 0);
  }
  ~mapped() { EXPECT_EQ(unmap(at, bytes), 0); }
  char* page(std::size_t index) const { return static_cast<char*>(at) + index * memory_page_bytes(); }
  std::size_t bytes;
  void* at = nullptr;
};

TEST(mapping, page_size) {
  EXPECT_EQ(memory_page_bytes(), static_cast<std::size_t>(::getpagesize()));
  EXPECT_EQ(round_up_to_page(1), memory_page_bytes());
  EXPECT_EQ(round_up_to_page(memory_page_bytes()), memory_page_bytes());
  EXPECT_EQ(round_up_to_page(0), 0U);
  EXPECT_GT(max_map_count(), 1000U);
}

TEST(mapping, memory_reads_as_zero_and_can_be_written) {
  const mapped memory{4};
  for (std::size_t index = 0; index < 4; ++index) {
    EXPECT_EQ(*memory.page(index), 0);
    *memory.page(index) = 1;
  }
}

TEST(mapping, reserved_addresses_become_memory_by_protect) {
  const mapped memory{2, page_access::none};
  EXPECT_FALSE(readable(memory.page(0)));
  ASSERT_EQ(protect(memory.page(1), memory_page_bytes(), page_access::read_write), 0);
  EXPECT_FALSE(readable(memory.page(0)));
  EXPECT_TRUE(readable(memory.page(1)));
}

TEST(mapping, aligned) {
  for (const std::size_t alignment : {memory_page_bytes(), std::size_t{1} << 16, std::size_t{1} << 21}) {
    void* at = nullptr;
    ASSERT_EQ(map_aligned(3 * memory_page_bytes(), alignment, page_access::read_write, &at), 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % alignment, 0U);
    EXPECT_TRUE(readable(static_cast<char*>(at) + 3 * memory_page_bytes() - 1));
    EXPECT_EQ(unmap(at, 3 * memory_page_bytes()), 0);
  }
}

TEST(mapping, guards_come_and_go) {
  const mapped memory{3};
  if (!guards_supported()) {
    EXPECT_EQ(install_guard(memory.page(0), memory_page_bytes()), EINVAL);
    GTEST_SKIP() << "kernel without MADV_GUARD_INSTALL";
  }
  ASSERT_EQ(install_guard(memory.page(1), memory_page_bytes()), 0);
  EXPECT_TRUE(readable(memory.page(0)));
  EXPECT_FALSE(readable(memory.page(1)));
  EXPECT_TRUE(readable(memory.page(2)));
  EXPECT_EQ(discard(memory.page(0), memory.bytes), 0);
  EXPECT_FALSE(readable(memory.page(1))) << "guards survive discard()";
  ASSERT_EQ(remove_guard(memory.page(1), memory_page_bytes()), 0);
  EXPECT_TRUE(readable(memory.page(1)));
}

TEST(mapping, discard_forgets) {
  const mapped memory{1};
  *memory.page(0) = 42;
  ASSERT_EQ(discard(memory.at, memory.bytes), 0);
  EXPECT_EQ(*memory.page(0), 0);
}

TEST(mapping, huge_pages_or_a_clear_error) {
  const std::size_t bytes = huge_page_bytes();
  if (bytes == 0) {
    GTEST_SKIP() << "kernel without huge pages";
  }
  void* at = nullptr;
  const int error = map_huge(bytes, &at);
  if (error == 0) {
    static_cast<char*>(at)[bytes - 1] = 1;
    EXPECT_EQ(unmap(at, bytes), 0);
  } else {
    EXPECT_TRUE(error == ENOMEM || error == EINVAL || error == EPERM) << error;
    EXPECT_EQ(at, nullptr);
  }
}

TEST(mapping, wrong_arguments_are_errors) {
  void* at = nullptr;
  EXPECT_EQ(map(0, page_access::read_write, &at), EINVAL);
  EXPECT_EQ(map(SIZE_MAX / 2 / memory_page_bytes() * memory_page_bytes(), page_access::none, &at), ENOMEM);
  EXPECT_EQ(unmap(reinterpret_cast<void*>(1), 1), EINVAL);
  EXPECT_EQ(at, nullptr);
}

TEST(mapping, faults_are_injected_at_each_site) {
  const mapped memory{1};
  void* at = nullptr;
  fail_nth(fault_site::mmap, 1, ENOMEM);
  EXPECT_EQ(map(memory.bytes, page_access::read_write, &at), ENOMEM);
  fail_nth(fault_site::mprotect, 1, EACCES);
  EXPECT_EQ(protect(memory.at, memory.bytes, page_access::none), EACCES);
  fail_nth(fault_site::madvise, 1, EAGAIN);
  EXPECT_EQ(discard(memory.at, memory.bytes), EAGAIN);
  disarm_faults();
  EXPECT_TRUE(readable(memory.at));
}

} // namespace
