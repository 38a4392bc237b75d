// SPDX-License-Identifier: MIT
// As interrupted_test.cpp, for calls that must be made to get on: reads, writes, connections, files, over
// each event source and by kernel threads of others; and the recorder's files.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <vector>

#include "tests/fault/fail_each.hpp"
#include "tests/fault/interrupting.hpp"
#include "weft/io/source.hpp"
#include "weft/trace.hpp"
#include "weft/trace/raw_file.hpp"
#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;
using namespace weft::fault_test;
namespace io = weft::io;

// None is left but bells, which go into stock.
class descriptors_left {
 public:
  descriptors_left() = default;
  descriptors_left(const descriptors_left&) = delete;
  ~descriptors_left() {
    const std::string bell = "anon_inode:[eventfd]";
    for (const auto& [number, what] : all()) {
      const auto was = before_.find(number);
      EXPECT_TRUE(what == bell || (was != before_.end() && was->second == what)) << number << " " << what;
    }
  }

 private:
  static std::map<int, std::string> all() {
    std::map<int, std::string> found;
    for (int number = 0; number < 1024; ++number) {
      char what[256];
      const ssize_t length =
          ::readlink(("/proc/self/fd/" + std::to_string(number)).c_str(), what, sizeof what);
      if (length > 0)
        found[number] = std::string(what, static_cast<std::size_t>(length));
    }
    return found;
  }
  std::map<int, std::string> before_ = all();
};

// Every nth call, so many workers, the event source.
class interrupted_io : public ::testing::TestWithParam<std::tuple<std::uint64_t, unsigned, io::mechanism>> {
 protected:
  void SetUp() override {
    const auto [nth, workers, source] = GetParam();
    weft::runtime::start({.workers = workers, .io = source});
    descriptors_.emplace();
    before_ = weft::runtime::count();
  }
  void TearDown() override {
    expect_no_more_than(before_);
    EXPECT_TRUE(weft::runtime::stop());
    descriptors_.reset();
  }
  [[nodiscard]] static std::uint64_t nth() { return std::get<0>(GetParam()); }

  struct pair {
    explicit pair(int family) {
      if (family == AF_UNSPEC) {
        EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
      } else {
        EXPECT_EQ(::socketpair(family, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
      }
    }
    ~pair() {
      io::close(ends[0]);
      io::close(ends[1]);
    }
    int& operator[](int i) { return ends[i]; }
    int ends[2] = {-1, -1};
  };

  // More than fits any buffer, from the one to the other, checked byte for byte.
  static void exchange(int from, int to, std::size_t bytes = 1 << 20) {
    const auto byte_at = [](std::size_t i) { return static_cast<char>(i * 131 >> 3); };
    weft::thread writer([&] {
      std::string all(bytes, '\0');
      for (std::size_t i = 0; i < bytes; ++i)
        all[i] = byte_at(i);
      io::write_all(to, all.data(), bytes);
    });
    char part[3000];
    std::size_t got = 0;
    std::size_t wrong = 0;
    while (got < bytes) {
      const std::size_t now = io::read(from, part, std::min(sizeof part, bytes - got));
      if (now == 0)
        break;
      for (std::size_t i = 0; i < now; ++i)
        wrong += part[i] != byte_at(got + i);
      got += now;
    }
    writer.join();
    EXPECT_EQ(got, bytes);
    EXPECT_EQ(wrong, 0U);
  }

 private:
  weft::runtime::census before_{};
  std::optional<descriptors_left> descriptors_;
};

std::string name_of_case(const ::testing::TestParamInfo<interrupted_io::ParamType>& info) {
  const auto [nth, workers, source] = info.param;
  return "call_" + std::to_string(nth) + "_workers_" + std::to_string(workers) +
         (source == io::mechanism::uring ? "_uring" : "_epoll");
}
INSTANTIATE_TEST_SUITE_P(each, interrupted_io,
                         ::testing::Combine(::testing::Values(2U, 3U, 5U), ::testing::Values(1U, 3U),
                                            ::testing::Values(io::mechanism::epoll, io::mechanism::uring)),
                         name_of_case);

TEST_P(interrupted_io, bytes_arrive) {
  const interrupting signals(nth());
  pair sockets(AF_UNIX);
  pair pipe(AF_UNSPEC);
  weft::thread other([&] { exchange(pipe[0], pipe[1]); });
  exchange(sockets[0], sockets[1]);
  exchange(sockets[1], sockets[0]);
  other.join();
}

TEST_P(interrupted_io, waits_end_in_time_and_not_before) {
  const interrupting signals(nth());
  pair sockets(AF_UNIX);
  for (int round = 0; round < 10; ++round) {
    std::error_code error;
    char text[1];
    expect_timeout(2ms, [&] { return io::read(sockets[0], text, 1, error, 2ms) != 0; });
    EXPECT_EQ(error, std::errc::timed_out);
    expect_timeout(2ms, [&] { return io::poll(sockets[0], POLLIN, error, 2ms) != 0; });
    EXPECT_EQ(error, std::errc::timed_out);
    std::stop_source stop;
    weft::thread stopper([&] {
      weft::this_thread::sleep_for(1ms);
      stop.request_stop();
    });
    io::read(sockets[0], text, 1, error, stop.get_token());
    EXPECT_EQ(error, std::errc::operation_canceled);
    stopper.join();
  }
}

template <class Address>
struct listener {
  explicit listener(const Address& where) : address(where), socket(io::socket(family(), SOCK_STREAM, 0)) {
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket, as_any(), family() == AF_UNIX ? sizeof(sa_family_t) : size), 0);
    EXPECT_EQ(::listen(socket, 64), 0);
    EXPECT_EQ(::getsockname(socket, as_any(), &size), 0);
    bytes = size;
  }
  ~listener() { io::close(socket); }
  int family() { return as_any()->sa_family; }
  sockaddr* as_any() { return reinterpret_cast<sockaddr*>(&address); }
  int connect() {
    const int made = io::socket(family(), SOCK_STREAM, 0);
    io::connect(made, as_any(), bytes);
    return made;
  }
  Address address;
  socklen_t bytes = 0;
  int socket;
};

// By threads of ours, or by a kernel thread on its own.
template <class Address>
void meet(listener<Address>& at, int count) {
  for (int i = 0; i < count; ++i) {
    const int end = at.connect();
    char text[4] = {};
    EXPECT_EQ(io::send(end, "ping", 4, 0), 4U);
    EXPECT_EQ(io::recv(end, text, 4, MSG_WAITALL), 4U);
    EXPECT_EQ(std::string(text, 4), "pong");
    io::close(end);
  }
}
template <class Address>
void serve(listener<Address>& at, int count) {
  for (int i = 0; i < count; ++i) {
    const int end = io::accept(at.socket, nullptr, nullptr);
    char text[4] = {};
    EXPECT_EQ(io::recv(end, text, 4, MSG_WAITALL), 4U);
    EXPECT_EQ(std::string(text, 4), "ping");
    EXPECT_EQ(io::send(end, "pong", 4, 0), 4U);
    io::close(end);
  }
}
template <class Address>
void meet_from_all_sides(const Address& where) {
  constexpr int each = 10;
  listener<Address> at(where);
  weft::counting_semaphore<> over{0};
  std::thread outside([&] {
    meet(at, each);
    over.release();
  });
  weft::thread servers[3];
  for (weft::thread& t : servers)
    t = weft::thread([&at] { serve(at, each); });
  weft::thread callers[2];
  for (weft::thread& t : callers)
    t = weft::thread([&at] { meet(at, each); });
  for (weft::thread& t : callers)
    t.join();
  for (weft::thread& t : servers)
    t.join();
  over.acquire();
  outside.join();
}

TEST_P(interrupted_io, connections) {
  const interrupting signals(nth());
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  meet_from_all_sides(any);
  sockaddr_un abstract{};
  abstract.sun_family = AF_UNIX;
  meet_from_all_sides(abstract);
}

// A kernel thread that is no worker reads, writes and waits by poll(2).
TEST_P(interrupted_io, outside) {
  const interrupting signals(nth());
  pair sockets(AF_UNIX);
  weft::counting_semaphore<> over{0};
  std::thread outside([&] {
    for (int round = 0; round < 20; ++round) {
      char text[4] = {};
      std::size_t got = 0;
      while (got < sizeof text)
        got += io::read(sockets[0], text + got, sizeof text - got);
      EXPECT_EQ(std::string(text, 4), "ping");
      io::write_all(sockets[0], "pong", 4);
      std::error_code error;
      expect_timeout(1ms, [&] { return io::read(sockets[0], text, 1, error, 1ms) != 0; });
      const std::stop_source never;
      expect_timeout(
          1ms, [&] { return io::read(sockets[0], text, 1, error, io::limit(1ms, never.get_token())) != 0; });
      EXPECT_EQ(error, std::errc::timed_out);
      io::write_all(sockets[0], "next", 4);
    }
    over.release();
  });
  for (int round = 0; round < 20; ++round) {
    char text[8] = {};
    io::write_all(sockets[1], "ping", 4);
    for (std::size_t got = 0; got < sizeof text;)
      got += io::read(sockets[1], text + got, sizeof text - got);
    EXPECT_EQ(std::string(text, 8), "pongnext");
  }
  over.acquire();
  outside.join();
}

struct temporary_file {
  temporary_file() { ::close(::mkstemp(path)); }
  ~temporary_file() { ::unlink(path); }
  char path[40] = "/tmp/weft-interrupted-XXXXXX";
};

TEST_P(interrupted_io, files) {
  const temporary_file file;
  const interrupting signals(nth());
  for (int round = 0; round < 5; ++round) {
    const int f = io::open(file.path, O_RDWR | O_TRUNC, 0);
    EXPECT_EQ(io::pwrite(f, "abcdef", 6, 0), 6U);
    io::fsync(f);
    io::fdatasync(f);
    char text[6] = {};
    EXPECT_EQ(io::pread(f, text, 3, 3), 3U);
    EXPECT_EQ(std::string(text, 3), "def");
    io::close(f);
  }
}

TEST_P(interrupted_io, a_recording_is_written_and_read) {
  const temporary_file file;
  const std::string path = std::string(file.path) + ".weft";
  weft::trace::start(path);
  weft::thread([] { weft::this_thread::sleep_for(1us); }).join();
  const interrupting signals(nth());
  weft::trace::stop();
  EXPECT_FALSE(weft::trace::read_raw(path.c_str()).tracks.empty());
  ::unlink(path.c_str());
}

// Started, used and stopped, with threads that come and go while others wait for events.
TEST(interrupted_runtime, starts_and_stops_with_either_source) {
  for (const auto source : {io::mechanism::epoll, io::mechanism::uring}) {
    for (const std::uint64_t nth : {2U, 3U}) {
      const interrupting signals(nth);
      for (int round = 0; round < 3; ++round) {
        const weft::runtime::scope use({.workers = 3, .io = source});
        int ends[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        weft::thread reader([&] {
          char text[1] = {};
          EXPECT_EQ(io::read(ends[0], text, 1), 1U);
        });
        weft::this_thread::sleep_for(1ms);
        weft::runtime::set_worker_count(1);
        weft::this_thread::sleep_for(1ms);
        weft::runtime::set_worker_count(4);
        EXPECT_EQ(io::write(ends[1], "x", 1), 1U);
        reader.join();
        io::close(ends[0]);
        io::close(ends[1]);
      }
    }
  }
}

} // namespace
