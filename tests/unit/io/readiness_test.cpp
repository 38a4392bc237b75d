// SPDX-License-Identifier: MIT
// The wait alone, around calls of the test's own.
#include "tests/unit/io/fixture.hpp"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <stop_token>
#include <sys/eventfd.h>

namespace weft::testing {
namespace {

WEFT_IO_SUITE(readiness);

// recvmsg(2), which weft::io does not have.
ssize_t receive(int socket, char* text, std::size_t bytes) {
  iovec buffer{text, bytes};
  msghdr message{};
  message.msg_iov = &buffer;
  message.msg_iovlen = 1;
  io::readiness ready(socket, POLLIN);
  ssize_t got = 0;
  while ((got = ::recvmsg(socket, &message, MSG_DONTWAIT)) < 0 && errno == EAGAIN)
    ready.wait(never); // SWITCH: may resume on another worker
  return got;
}

TEST_P(readiness, a_call_of_ones_own) {
  pair ends(make_sockets());
  thread reader([&] {
    char text[10];
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(receive(ends[0], text, sizeof text), 1);
      EXPECT_EQ(text[0], 'a' + i % 26);
      io::write(ends[0], "!", 1);
    }
    EXPECT_EQ(receive(ends[0], text, sizeof text), 0) << "the end";
  });
  for (int i = 0; i < 100; ++i) {
    const char c = static_cast<char>('a' + i % 26);
    io::write(ends[1], &c, 1);
    EXPECT_EQ(read_exactly(ends[1], 1), "!");
  }
  ::shutdown(ends[1], SHUT_WR);
  reader.join();
}

TEST_P(readiness, what_comes_between_the_try_and_the_wait_ends_it) {
  pair ends(make_sockets());
  char text[1];
  for (int i = 0; i < 50; ++i) {
    io::readiness ready(ends[0], POLLIN);
    ASSERT_EQ(::recv(ends[0], text, 1, MSG_DONTWAIT), -1);
    thread([&] { io::write(ends[1], "x", 1); }).join();
    ready.wait(never);
    while (::recv(ends[0], text, 1, MSG_DONTWAIT) != 1)
      ready.wait(never); // an earlier event ended it
  }
}

TEST_P(readiness, limits_and_closes) {
  pair ends(make_sockets());
  std::error_code error;
  io::readiness ready(ends[0], POLLIN);
  ready.wait(error, 0ms);
  EXPECT_EQ(error, std::errc::timed_out);
  for (int i = 0; i < 5 && error != std::errc::timed_out; ++i) // edges of before
    ready.wait(error, 5ms);
  EXPECT_EQ(error, std::errc::timed_out);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of([&] {
              for (;;)
                ready.wait(stop.get_token());
            }),
            std::errc::operation_canceled);
  thread closer([&] {
    this_thread::sleep_for(2ms);
    pair::close(ends[0]);
  });
  EXPECT_EQ(error_of([&] {
              for (;;)
                ready.wait(never);
            }),
            std::errc::bad_file_descriptor);
  closer.join();
  EXPECT_EQ(error_of([] { io::readiness(-1, POLLIN).wait(never); }), std::errc::bad_file_descriptor);
}

TEST_P(readiness, what_has_no_events) {
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_EQ(error_of([&] { io::readiness(file, POLLIN).wait(never); }), std::errc::operation_not_permitted);
  io::close(file);
  pair ends(make_sockets());
  std::error_code error;
  tasklet([&] { io::readiness(ends[0], POLLIN).wait(error, never); }).join();
  EXPECT_EQ(error, std::errc::operation_not_permitted);
}

TEST_P(readiness, many_readers_of_one_socket) {
  one_event_for_many([](int socket, char* text) { return receive(socket, text, 1); });
}

TEST_P(readiness, others_may_end_a_wait) {
  pair ends(make_sockets());
  std::atomic<bool> is_told{false};
  std::atomic<int> waits{0};
  std::vector<thread> waiters;
  for (int i = 0; i < 10; ++i) {
    waiters.emplace_back([&] {
      io::readiness ready(ends[0], POLLIN);
      ++waits;
      while (!is_told)
        ready.wait(never);
    });
  }
  thread reader(
      [&] { EXPECT_EQ(read_exactly(ends[0], 1), "x") << "a call of weft::io tries again and waits on"; });
  EXPECT_TRUE(eventually([&] { return waits == 10; }));
  is_told = true;
  io::wake_waiters(ends[0]);
  for (thread& t : waiters)
    t.join();
  io::write(ends[1], "x", 1);
  reader.join();
  io::wake_waiters(-1);
  io::wake_waiters(1'000'000); // nobody has ever waited for it
}

TEST_P(readiness, outside) {
  pair ends(make_sockets());
  std::thread kernel_thread([&] {
    char text[1];
    EXPECT_EQ(receive(ends[0], text, 1), 1);
    EXPECT_EQ(error_of([&] { io::readiness(ends[0], POLLIN).wait(2ms); }), std::errc::timed_out);
  });
  io::write(ends[1], "x", 1);
  kernel_thread.join();
}

// What is adopted and then disowned may be closed by others.
TEST_P(readiness, disowned) {
  for (const bool as_a_range : {false, true}) {
    for (int i = 0; i < 20; ++i) {
      const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
      ASSERT_GE(event, 0);
      io::adopt(event);
      thread([&] {
        const std::uint64_t one = 1;
        io::write(event, &one, sizeof one);
      }).join();
      std::uint64_t count = 0;
      EXPECT_EQ(io::read(event, &count, sizeof count, never), sizeof count);
      if (as_a_range) {
        io::disown_all(static_cast<unsigned>(event), ~0U);
      } else {
        io::disown(event);
      }
      ::close(event);
      const int again = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
      EXPECT_EQ(again, event);
      thread writer([&] {
        this_thread::yield();
        const std::uint64_t one = 1;
        EXPECT_EQ(::write(again, &one, sizeof one), 8);
      });
      EXPECT_EQ(io::read(again, &count, sizeof count, never), sizeof count);
      writer.join();
      io::close(again);
    }
  }
  io::disown(-1);
}

} // namespace
} // namespace weft::testing
