// SPDX-License-Identifier: MIT
// A pipe whose ends are read and written byte by byte, by calls that block.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace weft::test {

class a_pipe {
 public:
  a_pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~a_pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  a_pipe(const a_pipe&) = delete;
  a_pipe& operator=(const a_pipe&) = delete;
  char read_one() const {
    char c = 0;
    EXPECT_EQ(::read(ends_[0], &c, 1), 1) << std::strerror(errno);
    return c;
  }
  [[nodiscard]] int reading_end() const { return ends_[0]; }
  void write_one(char c = 'x') const { EXPECT_EQ(::write(ends_[1], &c, 1), 1); }

 private:
  std::array<int, 2> ends_{};
};

} // namespace weft::test
