// SPDX-License-Identifier: MIT
// An error that a call took with its part is told by the next call on that socket, once, and by no other's.
#include "weft/io/left_errors.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <system_error>

#include <sys/socket.h>
#include <unistd.h>

#include "weft/io/operations.hpp"

namespace weft::io {
namespace {

class a_socket_pair {
 public:
  a_socket_pair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
  ~a_socket_pair() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  a_socket_pair(const a_socket_pair&) = delete;
  a_socket_pair& operator=(const a_socket_pair&) = delete;
  int operator[](std::size_t i) const { return ends_[i]; }

 private:
  std::array<int, 2> ends_{};
};

TEST(left_errors, are_told_once) {
  const a_socket_pair p;
  leave_error(p[0], ECONNRESET);
  EXPECT_EQ(take_left_error(p[1]), 0);
  EXPECT_EQ(take_left_error(p[0]), ECONNRESET);
  EXPECT_EQ(take_left_error(p[0]), 0);
}

TEST(left_errors, are_the_sockets_and_not_the_numbers) {
  int number = -1;
  {
    const a_socket_pair p;
    number = p[0];
    leave_error(number, ECONNRESET);
  }
  const a_socket_pair another;
  ASSERT_EQ(another[0], number);
  EXPECT_EQ(take_left_error(number), 0);
}

TEST(left_errors, are_the_result_of_the_next_call) {
  const a_socket_pair p;
  ::shutdown(p[1], SHUT_WR);
  leave_error(p[0], ECONNRESET);
  char byte = 0;
  std::error_code error;
  EXPECT_EQ(io::recv(p[0], &byte, 1, 0, error), 0U);
  EXPECT_EQ(error.value(), ECONNRESET);
  EXPECT_EQ(io::recv(p[0], &byte, 1, 0, error), 0U);
  EXPECT_EQ(error, std::error_code());
}

TEST(left_errors, of_what_is_no_socket_are_not_kept) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  leave_error(ends[0], EIO);
  EXPECT_EQ(take_left_error(ends[0]), 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(left_errors, the_oldest_go_first) {
  const a_socket_pair first;
  leave_error(first[0], ECONNRESET);
  const a_socket_pair others;
  for (int i = 0; i < 64; ++i)
    leave_error(others[0], ETIMEDOUT);
  EXPECT_EQ(take_left_error(first[0]), 0);
  int found = 0;
  while (take_left_error(others[0]) == ETIMEDOUT)
    ++found;
  EXPECT_EQ(found, 64);
}

} // namespace
} // namespace weft::io
