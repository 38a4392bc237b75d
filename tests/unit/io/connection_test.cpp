// SPDX-License-Identifier: MIT
// Listening, connecting, very many connections.
#include "tests/unit/io/fixture.hpp"

#include "weft/os/fault.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/un.h>

namespace weft::testing {
namespace {

WEFT_IO_SUITE(connection);

TEST_P(connection, accept_and_connect) {
  listener l;
  thread server([&] {
    sockaddr_in from{};
    socklen_t size = sizeof from;
    int accepted = io::accept(l.socket, reinterpret_cast<sockaddr*>(&from), &size, never);
    EXPECT_EQ(from.sin_family, AF_INET);
    EXPECT_EQ(read_exactly(accepted, 5), "hello");
    pair::close(accepted);
  });
  int client = l.connect();
  io::write_all(client, "hello", 5, never);
  server.join();
  char text[1];
  EXPECT_EQ(io::read(client, text, 1, never), 0U);
  pair::close(client);
  EXPECT_EQ(error_of([&] { static_cast<void>(io::accept(l.socket, nullptr, nullptr, 1ms)); }),
            std::errc::timed_out);
}

// A short read tells that a TCP socket is empty, unless the end has been reported already.
TEST_P(connection, short_reads) {
  listener l;
  for (int i = 0; i < 100; ++i) {
    int client = l.connect();
    int accepted = io::accept(l.socket, nullptr, nullptr, never);
    io::write_all(client, "one", 3, never);
    char text[100];
    if (i % 2 == 0) {
      EXPECT_EQ(io::poll(accepted, POLLIN, never), POLLIN);
    }
    EXPECT_EQ(io::read(accepted, text, sizeof text, never), 3U);
    EXPECT_EQ(error_of([&] { io::read(accepted, text, sizeof text, 1us); }), std::errc::timed_out);
    thread writer([&] { io::write_all(client, "two", 3, never); });
    EXPECT_EQ(io::read(accepted, text, sizeof text, never), 3U);
    writer.join();
    io::write_all(client, "end", 3, never);
    if (i % 3 == 0) {
      EXPECT_EQ(::shutdown(client, SHUT_WR), 0);
      EXPECT_EQ(read_exactly(accepted, 100), "end");
    } else {
      EXPECT_EQ(io::read(accepted, text, sizeof text, never), 3U);
      pair::close(client);
      EXPECT_EQ(io::read(accepted, text, sizeof text, never), 0U);
    }
    pair::close(client);
    pair::close(accepted);
  }
}

TEST_P(connection, refused) {
  sockaddr_in nobody{};
  {
    listener l;
    nobody = l.address;
  }
  int made = io::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(error_of([&] { io::connect(made, reinterpret_cast<sockaddr*>(&nobody), sizeof nobody, never); }),
            std::errc::connection_refused);
  pair::close(made);
}

// A TCP socket that has no room for one more, until it is asked to take them: the kernel sends SYN again a
// second later, and so long connecting goes on.
struct full_listener : listener {
  full_listener() {
    EXPECT_EQ(::listen(socket, 0), 0);
    for (pollfd writable{start(), POLLOUT, 0}; ::poll(&writable, 1, 20) == 1; writable.fd = start()) {
    }
    EXPECT_EQ(::fcntl(socket, F_SETFL, O_NONBLOCK), 0);
  }
  ~full_listener() {
    for (const int end : ends)
      ::close(end);
  }
  int start() {
    ends.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::connect(ends.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    return ends.back();
  }
  void take() {
    for (int end; (end = ::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;)
      ends.push_back(end);
  }
  std::vector<int> ends;
};

// Whoever waits goes on after a signal, after the end of the kernel thread that began to connect, and where
// O_NONBLOCK is set.
TEST_P(connection, slow_ones) {
  full_listener l;
  os::fail_every(os::fault_site::interrupted, 2, EINTR);
  constexpr int count = 6;
  std::atomic<int> done{0};
  thread all[count];
  for (int i = 0; i < count; ++i) {
    all[i] = thread([&, i] {
      int made = io::socket(AF_INET, SOCK_STREAM | (i % 2 == 0 ? SOCK_NONBLOCK : 0), 0);
      std::error_code error;
      io::connect(made, reinterpret_cast<const sockaddr*>(&l.address), sizeof l.address, error, never);
      EXPECT_FALSE(error) << i << ": " << error.message();
      sockaddr_in peer{};
      socklen_t size = sizeof peer;
      EXPECT_EQ(::getpeername(made, reinterpret_cast<sockaddr*>(&peer), &size), 0) << i;
      pair::close(made);
      ++done;
    });
  }
  this_thread::sleep_for(20ms);
  EXPECT_EQ(done, 0) << "they were to be slow";
  runtime::set_worker_count(1);
  this_thread::sleep_for(20ms);
  EXPECT_EQ(done, 0) << "still";
  runtime::set_worker_count(workers());
  EXPECT_TRUE(eventually([&] { return l.take(), done == count; }));
  for (thread& t : all)
    t.join();
  os::disarm_faults();
  EXPECT_GT(os::fault_hits(os::fault_site::interrupted), 0U);
}

// As of a blocking socket with SO_SNDTIMEO, the next call waits for what the limit left behind.
TEST_P(connection, a_limit_ends_the_wait_and_the_next_call_goes_on) {
  if (workers() != 1)
    GTEST_SKIP() << "a second long";
  full_listener l;
  int made = io::socket(AF_INET, SOCK_STREAM, 0);
  const auto* address = reinterpret_cast<const sockaddr*>(&l.address);
  const auto connect = [&](const io::limit& how_long) {
    return error_of([&] { io::connect(made, address, sizeof l.address, how_long); });
  };
  EXPECT_EQ(connect(5ms), std::errc::timed_out);
  EXPECT_EQ(connect(5ms), std::errc::timed_out);
  std::atomic<bool> done{false};
  thread taker([&] { EXPECT_TRUE(eventually([&] { return l.take(), done.load(); })); });
  EXPECT_FALSE(connect(never));
  done = true;
  taker.join();
  EXPECT_EQ(connect(never), std::errc::already_connected);
  pair::close(made);
}

TEST_P(connection, several_threads_accept) {
  listener l;
  constexpr int count = 40;
  std::vector<thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      int accepted = io::accept(l.socket, nullptr, nullptr, never);
      io::write_all(accepted, "x", 1, never);
      pair::close(accepted);
    });
  }
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      int client = l.connect();
      EXPECT_EQ(read_exactly(client, 1), "x");
      pair::close(client);
    });
  }
  for (thread& t : threads)
    t.join();
}

// Its listener's queue is full: nobody tells when there is room.
TEST_P(connection, unix_socket_without_room) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string path = "weft-io-" + std::to_string(::getpid()); // abstract
  path.copy(name.sun_path + 1, sizeof name.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size());
  const auto* address = reinterpret_cast<const sockaddr*>(&name);
  int server = io::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(server, address, size), 0);
  ASSERT_EQ(::listen(server, 0), 0);
  int first = io::socket(AF_UNIX, SOCK_STREAM, 0);
  int second = io::socket(AF_UNIX, SOCK_STREAM, 0);
  io::connect(first, address, size, never);
  EXPECT_EQ(error_of([&] { io::connect(second, address, size, 3ms); }), std::errc::timed_out);
  thread late([&] { io::connect(second, address, size, never); });
  int accepted = io::accept(server, nullptr, nullptr, never);
  late.join();
  for (int* d : {&server, &first, &second, &accepted})
    pair::close(*d);
}

TEST_P(connection, a_thousand_at_once) {
  constexpr int count = 1000;
  std::vector<std::unique_ptr<pair>> pairs;
  std::vector<thread> threads;
  for (int i = 0; i < count; ++i)
    pairs.push_back(std::make_unique<pair>(make_sockets()));
  for (int i = 0; i < count; ++i) {
    for (std::size_t side : {0U, 1U}) {
      threads.emplace_back([&ends = *pairs[static_cast<std::size_t>(i)], side] {
        for (int round = 0; round < 5; ++round) {
          char text[1] = {'x'};
          if (side == 0) {
            ASSERT_EQ(io::write(ends[0], text, 1, never), 1U);
          }
          ASSERT_EQ(io::read(ends[side], text, 1, never), 1U);
          if (side == 1) {
            ASSERT_EQ(io::write(ends[1], text, 1, never), 1U);
          }
        }
      });
    }
  }
  for (thread& t : threads)
    t.join();
}

} // namespace
} // namespace weft::testing
