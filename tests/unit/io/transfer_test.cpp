// SPDX-License-Identifier: MIT
// Reading and writing: pipes, sockets, files.
#include "tests/unit/io/fixture.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <numeric>

namespace weft::testing {
namespace {

WEFT_IO_SUITE(transfer);

TEST_P(transfer, ping_pong_over_pipes_and_sockets) {
  for (auto* make : {&make_sockets, &make_pipe}) {
    pair there((*make)());
    pair back((*make)());
    thread other([&] {
      for (int i = 0; i < 1000; ++i) {
        int number = 0;
        ASSERT_EQ(io::read(there[0], &number, sizeof number, never), sizeof number);
        ASSERT_EQ(number, i);
        ++number;
        ASSERT_EQ(io::write(back[1], &number, sizeof number, never), sizeof number);
      }
    });
    for (int i = 0; i < 1000; ++i) {
      int number = i;
      ASSERT_EQ(io::write(there[1], &number, sizeof number, never), sizeof number);
      ASSERT_EQ(io::read(back[0], &number, sizeof number, never), sizeof number);
      ASSERT_EQ(number, i + 1);
    }
    other.join();
  }
}

TEST_P(transfer, more_than_the_buffers_hold) {
  for (auto* make : {&make_sockets, &make_pipe}) {
    pair ends((*make)());
    std::string sent(5'000'000, '\0');
    std::iota(sent.begin(), sent.end(), char{0});
    thread writer([&] {
      io::write_all(ends[1], sent.data(), sent.size(), never);
      pair::close(ends[1]);
    });
    EXPECT_EQ(read_exactly(ends[0], sent.size() + 1), sent);
    writer.join();
  }
}

TEST_P(transfer, half_close) {
  pair ends(make_sockets());
  thread other([&] {
    EXPECT_EQ(read_exactly(ends[1], 100), "question");
    io::write_all(ends[1], "answer", 6, never);
    ASSERT_EQ(::shutdown(ends[1], SHUT_WR), 0);
  });
  io::write_all(ends[0], "question", 8, never);
  ASSERT_EQ(::shutdown(ends[0], SHUT_WR), 0);
  EXPECT_EQ(read_exactly(ends[0], 100), "answer");
  other.join();
  EXPECT_EQ(error_of([&] { io::write(ends[0], "x", 1); }), std::errc::broken_pipe) << "and no signal";
}

TEST_P(transfer, vectors) {
  pair ends(make_sockets());
  char one[] = "one", two[] = "two";
  const iovec out[] = {{one, 3}, {two, 3}};
  EXPECT_EQ(io::writev(ends[0], out, 2, never), 6U);
  char a[2], b[4];
  const iovec in[] = {{a, 2}, {b, 4}};
  EXPECT_EQ(io::readv(ends[1], in, 2, never), 6U);
  EXPECT_EQ(std::string(a, 2) + std::string(b, 4), "onetwo");
}

TEST_P(transfer, send_and_recv_with_flags) {
  pair ends(make_sockets());
  thread sender([&] { io::send(ends[0], "abc", 3, MSG_EOR, never); });
  char text[3];
  EXPECT_EQ(io::recv(ends[1], text, sizeof text, MSG_PEEK, never), 3U);
  EXPECT_EQ(io::recv(ends[1], text, sizeof text, 0, never), 3U);
  sender.join();
  pair pipe(make_pipe());
  EXPECT_EQ(error_of([&] { io::recv(pipe[0], text, 1, 0); }), std::errc::not_a_socket);
}

TEST_P(transfer, files) {
  char path[] = "/tmp/weft-io-XXXXXX";
  const int made = ::mkstemp(path);
  ASSERT_GE(made, 0);
  ::close(made);
  const int file = io::open(path, O_RDWR);
  EXPECT_EQ(io::write(file, "hello world", 11), 11U);
  io::fsync(file);
  io::fdatasync(file);
  char text[5];
  EXPECT_EQ(io::pread(file, text, 5, 6), 5U);
  EXPECT_EQ(std::string(text, 5), "world");
  EXPECT_EQ(io::pwrite(file, "W", 1, 6), 1U);
  EXPECT_EQ(io::pread(file, text, 1, 6), 1U);
  EXPECT_EQ(text[0], 'W');
  EXPECT_EQ(io::read(file, text, 5), 0U) << "the end";
  EXPECT_EQ(io::poll(file, POLLIN), POLLIN);
  EXPECT_EQ(error_of([&] { io::pread(file, text, 1, -1); }), std::errc::invalid_argument);
  io::close(file);
  ::unlink(path);
  EXPECT_EQ(error_of([&] { static_cast<void>(io::open(path, O_RDONLY)); }),
            std::errc::no_such_file_or_directory);
}

TEST_P(transfer, errors_without_exceptions) {
  std::error_code error;
  char text[1];
  EXPECT_EQ(io::read(-1, text, 1, error), 0U);
  EXPECT_EQ(error, std::errc::bad_file_descriptor);
  EXPECT_EQ(io::accept(-1, nullptr, nullptr, error), -1);
  EXPECT_EQ(error, std::errc::bad_file_descriptor);
  pair ends(make_sockets());
  EXPECT_EQ(io::write(ends[0], "x", 1, error), 1U);
  EXPECT_FALSE(error);
  EXPECT_EQ(io::read(ends[1], text, 1, error, 1ms), 1U);
  EXPECT_FALSE(error);
  EXPECT_EQ(io::read(ends[1], text, 1, error, 1ms), 0U);
  EXPECT_EQ(error, std::errc::timed_out);
  io::close(999999, error);
  EXPECT_EQ(error, std::errc::bad_file_descriptor);
}

// The user's flags are the user's.
TEST_P(transfer, sockets_stay_blocking) {
  pair ends(make_sockets());
  char text[1];
  EXPECT_EQ(error_of([&] { io::read(ends[0], text, 1, 1ms); }), std::errc::timed_out);
  EXPECT_EQ(::fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
}

TEST_P(transfer, tasklets_may_not_wait) {
  pair ends(make_sockets());
  std::error_code first, second;
  tasklet([&] {
    char text[1];
    io::read(ends[0], text, 1, first);
    io::write(ends[1], "x", 1);
    io::read(ends[0], text, 1, second);
  }).join();
  EXPECT_EQ(first, std::errc::operation_not_permitted);
  EXPECT_FALSE(second);
}

TEST_P(transfer, foreign_kernel_threads) {
  pair ends(make_sockets());
  std::atomic<bool> ended{false};
  std::thread foreign([&] {
    EXPECT_EQ(read_exactly(ends[0], 4), "ping");
    io::write_all(ends[0], "pong", 4, never);
    char text[1];
    EXPECT_EQ(error_of([&] { io::read(ends[0], text, 1, 1ms); }), std::errc::timed_out);
    std::stop_source stop;
    std::thread stopper([&] { stop.request_stop(); });
    EXPECT_EQ(error_of([&] { io::read(ends[0], text, 1, stop.get_token()); }), std::errc::operation_canceled);
    stopper.join();
    ended = true;
  });
  io::write_all(ends[1], "ping", 4, never);
  EXPECT_EQ(read_exactly(ends[1], 4), "pong");
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  foreign.join();
}

} // namespace
} // namespace weft::testing
