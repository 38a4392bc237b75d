// SPDX-License-Identifier: MIT
// A system call whose code stands across the end of a page, as some of the C library's may: a tick that cuts
// it short is hidden all the same.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <tuple>

#include "tests/unit/preempt/cut_poll.hpp"
#include "tests/unit/preempt/fixture.hpp"

namespace weft::test {
namespace {

#if defined(__x86_64__)

// mov $SYS_poll, %eax; syscall; ret
constexpr std::array<unsigned char, 8> poll_code{0xb8, SYS_poll, 0, 0, 0, 0x0f, 0x05, 0xc3};

// poll(2), whose code has `before` of its bytes on one page, and the rest on the next.
class poll_across {
 public:
  explicit poll_across(std::size_t before) {
    void* const pages = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(pages, MAP_FAILED);
    pages_ = static_cast<unsigned char*>(pages);
    code_ = pages_ + page - before;
    std::memcpy(code_, poll_code.data(), poll_code.size());
    EXPECT_EQ(::mprotect(pages_, 2 * page, PROT_READ | PROT_EXEC), 0);
  }
  ~poll_across() { ::munmap(pages_, 2 * page); }
  poll_across(const poll_across&) = delete;
  poll_across& operator=(const poll_across&) = delete;

  // The kernel's way to say errors.
  [[nodiscard]] long operator()(pollfd* descriptors, unsigned long count, int limit) const {
    return reinterpret_cast<long (*)(pollfd*, unsigned long, int)>(code_)(descriptors, count, limit);
  }

 private:
  static constexpr std::size_t page = 4096;
  unsigned char* pages_;
  unsigned char* code_;
};

class page_edge : public ::testing::TestWithParam<std::tuple<preemption, std::size_t>> {
 protected:
  void TearDown() override { runtime_.stop(); }
  ticked_runtime runtime_;
};

INSTANTIATE_TEST_SUITE_P(each, page_edge,
                         ::testing::Combine(::testing::Values(preemption::signal_yield, preemption::own_tls,
                                                              preemption::own_kernel_thread,
                                                              preemption::bound_tls),
                                            ::testing::Range(std::size_t{0}, poll_code.size() + 1)),
                         [](const auto& info) {
                           return std::to_string(std::get<1>(info.param)) + "_bytes_before_it_" +
                                  name_of(std::get<0>(info.param));
                         });

TEST_P(page_edge, a_call_across_it_goes_on_after_a_tick) {
  const auto [kind, before] = GetParam();
  if (!can_preempt(kind))
    GTEST_SKIP() << "not on this machine";
  const poll_across poll(before);
  runtime_.start(sched::arrangement::pool_per_worker, 1, std::chrono::microseconds(500));
  expect_a_poll_to_go_on(runtime_, kind, poll);
}

#endif

} // namespace
} // namespace weft::test
