// SPDX-License-Identifier: MIT
// Who waits, how long, and what ends it.
#include "tests/unit/io/fixture.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stop_token>

namespace weft::testing {
namespace {

WEFT_IO_SUITE(waiting);

TEST_P(waiting, time_limits) {
  pair ends(make_sockets());
  char text[1];
  for (const auto length : {0ms, 1ms, 20ms}) {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(error_of([&] { io::read(ends[0], text, 1, length); }), std::errc::timed_out);
    EXPECT_GE(std::chrono::steady_clock::now() - before, length);
  }
  EXPECT_EQ(error_of([&] { io::read(ends[0], text, 1, std::chrono::system_clock::now() + 2ms); }),
            std::errc::timed_out);
  EXPECT_EQ(error_of([&] { io::poll(ends[0], POLLIN, 1ms); }), std::errc::timed_out);
  io::write(ends[1], "x", 1);
  EXPECT_EQ(io::read(ends[0], text, 1, 0ms), 1U) << "nothing was lost";
}

TEST_P(waiting, stop_tokens) {
  pair ends(make_sockets());
  std::stop_source stop;
  std::vector<thread> readers;
  std::atomic<int> started{0};
  for (int i = 0; i < 10; ++i) {
    readers.emplace_back([&] {
      char text[1];
      ++started;
      EXPECT_EQ(error_of([&] { io::read(ends[0], text, 1, {never, stop.get_token()}); }),
                std::errc::operation_canceled);
    });
  }
  EXPECT_TRUE(eventually([&] { return started == 10; }));
  stop.request_stop();
  for (thread& t : readers)
    t.join();
  char text[1];
  EXPECT_EQ(error_of([&] { io::read(ends[0], text, 1, stop.get_token()); }), std::errc::operation_canceled);
}

// A byte that arrives as the time runs out is read or is left, but never lost.
TEST_P(waiting, no_byte_is_lost_to_a_limit) {
  pair ends(make_sockets());
  constexpr int count = 300;
  thread writer([&] {
    for (int i = 0; i < count; ++i) {
      io::write(ends[1], "x", 1, never);
      this_thread::sleep_for(std::chrono::microseconds(50 * (i % 7)));
    }
  });
  int got = 0;
  while (got < count) {
    std::error_code error;
    char text[1];
    if (io::read(ends[0], text, 1, error, std::chrono::microseconds(100)) == 1) {
      ++got;
    } else {
      ASSERT_EQ(error, std::errc::timed_out);
    }
  }
  writer.join();
  EXPECT_EQ(got, count);
}

TEST_P(waiting, many_readers_of_one_socket) {
  one_event_for_many(
      [](int socket, char* text) { return static_cast<int>(io::read(socket, text, 1, never)); });
}

TEST_P(waiting, readers_and_a_writer_at_once) {
  pair ends(make_sockets());
  thread reader([&] { EXPECT_EQ(read_exactly(ends[0], 3), "end"); });
  std::string much(2'000'000, 'a');
  thread writer([&] { io::write_all(ends[0], much.data(), much.size(), never); });
  EXPECT_EQ(read_exactly(ends[1], much.size()).size(), much.size());
  writer.join();
  io::write_all(ends[1], "end", 3, never);
  reader.join();
}

TEST_P(waiting, closing_ends_every_wait) {
  pair ends(make_sockets());
  std::vector<thread> readers;
  std::atomic<int> started{0};
  for (int i = 0; i < 10; ++i) {
    readers.emplace_back([&] {
      char text[1];
      ++started;
      EXPECT_EQ(error_of([&] { io::read(ends[0], text, 1, never); }), std::errc::bad_file_descriptor);
    });
  }
  EXPECT_TRUE(eventually([&] { return started == 10; }));
  this_thread::sleep_for(2ms);
  pair::close(ends[0]);
  for (thread& t : readers)
    t.join();
}

// The number of a descriptor is soon another's; what was known of the old one must not hold for that.
TEST_P(waiting, numbers_are_used_again) {
  for (const bool behind_our_back : {false, true}) {
    for (int i = 0; i < 100; ++i) {
      pair ends(i % 2 == 0 ? make_sockets() : make_pipe());
      thread writer([&] {
        this_thread::yield();
        io::write(ends[1], "x", 1, never);
      });
      EXPECT_EQ(read_exactly(ends[0], 1), "x");
      writer.join();
      if (behind_our_back) {
        for (int& end : ends.ends)
          ::close(std::exchange(end, -1));
      }
    }
  }
}

TEST_P(waiting, half_closed_sockets_wait_for_room) {
  for (const bool by_poll : {true, false}) {
    pair ends(make_sockets());
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK); // so that a write waits for room by a poll, over io_uring too
    ASSERT_EQ(::shutdown(ends[0], SHUT_RD), 0);
    const std::string block(4096, 'x');
    std::size_t filled = 0;
    for (ssize_t n = 0; (n = ::write(ends[0], block.data(), block.size())) > 0;)
      filled += static_cast<std::size_t>(n);
    EXPECT_EQ(error_of([&] { io::poll(ends[0], POLLOUT, 5ms); }), std::errc::timed_out);
    EXPECT_EQ(error_of([&] { io::write(ends[0], "x", 1, 5ms); }), std::errc::timed_out);
    thread reader([&] {
      this_thread::sleep_for(1ms);
      EXPECT_EQ(read_exactly(ends[1], filled).size(), filled);
    });
    if (by_poll) {
      EXPECT_NE(io::poll(ends[0], POLLOUT, never) & POLLOUT, 0);
    } else {
      EXPECT_EQ(io::write(ends[0], "x", 1, never), 1U);
    }
    reader.join();
  }
}

TEST_P(waiting, poll_tells_what_is_there) {
  pair ends(make_sockets());
  EXPECT_EQ(io::poll(ends[0], POLLIN | POLLOUT, never), POLLOUT);
  thread writer([&] {
    this_thread::sleep_for(1ms);
    io::write(ends[1], "x", 1);
  });
  EXPECT_EQ(io::poll(ends[0], POLLIN, never), POLLIN);
  writer.join();
  pair::close(ends[1]);
  EXPECT_NE(io::poll(ends[0], POLLIN, never) & POLLHUP, 0);
}

} // namespace
} // namespace weft::testing
