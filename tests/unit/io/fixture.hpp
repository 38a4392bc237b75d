// SPDX-License-Identifier: MIT
// Every test of this room runs with both event sources on 1, 2 and 4 workers and ends by counting what is
// left, open descriptors included.
#pragma once

#include "weft/io.hpp"
#include "weft/io/blocking.hpp"
#include "weft/io/source.hpp"
#include "weft/runtime.hpp"
#include "weft/sleep.hpp"
#include "weft/thread.hpp"

#include "tests/unit/census_check.hpp"
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace weft::testing {

using namespace std::chrono_literals;

/// Long enough to be never reached unless something hangs.
inline constexpr auto never = 30s;

inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

class io_fixture : public ::testing::TestWithParam<std::tuple<io::mechanism, unsigned>> {
 protected:
  void SetUp() override {
    io::limit_spare_threads(0);
    descriptors_ = open_descriptors();
    runtime::options o;
    o.workers = std::get<1>(GetParam());
    o.io = std::get<0>(GetParam());
    ASSERT_TRUE(runtime::start(o));
    census_.begin();
  }
  void TearDown() override {
    census_.end();
    EXPECT_TRUE(runtime::stop());
    // Doorbells go into stock, from which the next test takes them.
    EXPECT_LE(open_descriptors(), descriptors_ + 2);
    io::limit_spare_threads(0, 1ms);
  }
  [[nodiscard]] static unsigned workers() { return std::get<1>(GetParam()); }

 private:
  test::census_check census_;
  std::size_t descriptors_ = 0;
};

/// Two descriptors of the test's, closed by io::close() at the end unless taken.
struct pair {
  explicit pair(std::array<int, 2> made) : ends(made) {}
  pair(const pair&) = delete;
  ~pair() {
    for (int& end : ends)
      close(end);
  }
  static void close(int& end) {
    if (end >= 0)
      io::close(end);
    end = -1;
  }
  int& operator[](std::size_t i) { return ends[i]; }
  std::array<int, 2> ends;
};

inline std::array<int, 2> make_sockets() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return ends;
}
inline std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  return ends;
}

/// A listening TCP socket on a port of the kernel's choice.
struct listener {
  listener() : socket(io::socket(AF_INET, SOCK_STREAM, 0)) {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket, 1024), 0);
    EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
  }
  ~listener() { io::close(socket); }
  [[nodiscard]] int connect(const io::limit& how_long = never) const {
    const int made = io::socket(AF_INET, SOCK_STREAM, 0);
    io::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address, how_long);
    return made;
  }
  int socket;
  sockaddr_in address{};
};

/// Reads exactly so many bytes; what it got before the end.
inline std::string read_exactly(int descriptor, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t got = 0;
  while (got < bytes) {
    const std::size_t part = io::read(descriptor, text.data() + got, bytes - got, never);
    if (part == 0)
      break;
    got += part;
  }
  text.resize(got);
  return text;
}

/// What comes at once for fifty threads that wait for one socket is read by all of them, by `read(socket,
/// to)` of a byte.
template <class Read>
void one_event_for_many(Read read) {
  pair ends(make_sockets());
  std::atomic<int> sum{0};
  std::vector<thread> readers;
  for (int i = 0; i < 50; ++i) {
    readers.emplace_back([&] {
      char text[1];
      ASSERT_EQ(read(ends[0], text), 1);
      sum += text[0];
    });
  }
  this_thread::sleep_for(2ms); // most wait by now
  io::write_all(ends[1], std::string(50, '\1').data(), 50, never);
  for (thread& t : readers)
    t.join();
  EXPECT_EQ(sum, 50);
}

/// The error with which a call fails; none if it does not.
template <class F>
std::error_code error_of(F call) {
  try {
    call();
  } catch (const std::system_error& e) {
    return e.code();
  }
  return {};
}

/// Lets others run until it is so; false if that takes too long.
template <class Condition>
bool eventually(Condition is_so) {
  const auto give_up = std::chrono::steady_clock::now() + never;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > give_up)
      return false;
    this_thread::sleep_for(1ms);
  }
  return true;
}

inline std::string parameter_name(const ::testing::TestParamInfo<std::tuple<io::mechanism, unsigned>>& info) {
  return std::string(std::get<0>(info.param) == io::mechanism::uring ? "uring_" : "epoll_") +
         std::to_string(std::get<1>(info.param)) + "_workers";
}

} // namespace weft::testing

#define WEFT_IO_SUITE(name)                                                                                  \
  class name : public ::weft::testing::io_fixture {};                                                        \
  INSTANTIATE_TEST_SUITE_P(                                                                                  \
      sources, name,                                                                                         \
      ::testing::Combine(::testing::Values(::weft::io::mechanism::epoll, ::weft::io::mechanism::uring),      \
                         ::testing::Values(1U, 2U, 4U)),                                                     \
      ::weft::testing::parameter_name)
