// SPDX-License-Identifier: MIT
// One and the same program of calls, made of the kernel by a kernel thread (the twin) and of weft::io by a
// thread and by a foreign kernel thread: result, errno, bytes, and what is left in the peer must be the same.
#pragma once

#include "tests/unit/io/fixture.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <iterator>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/time.h>

namespace weft::testing {

/// Who makes the calls, and what came of them, a line each.
class twin {
 public:
  explicit twin(bool is_kernel) : is_kernel_(is_kernel) {}

  void read(int d, std::size_t n) {
    into(
        "read", d, n, [&](char* b, auto& e) { return io::read(d, b, n, e, limit_); },
        [&](char* b) { return ::read(d, b, n); });
  }
  /// Of a terminal whose other side goes: EIO for who waits, no bytes for who comes later.
  void read_the_end(int d) {
    char b[1];
    std::error_code error;
    const auto n = is_kernel_ ? ::read(d, b, 1) : static_cast<ssize_t>(io::read(d, b, 1, error, never));
    note(n == 0 || (is_kernel_ ? errno : error.value()) == EIO ? "the end" : "no end");
  }
  void recv(int d, std::size_t n, int flags) {
    into(
        "recv " + std::to_string(flags), d, n,
        [&](char* b, auto& e) { return io::recv(d, b, n, flags, e, limit_); },
        [&](char* b) { return ::recv(d, b, n, flags); });
  }
  void pread(int d, std::size_t n, off_t at) {
    into(
        "pread", d, n, [&](char* b, auto& e) { return io::pread(d, b, n, at, e); },
        [&](char* b) { return ::pread(d, b, n, at); });
  }
  /// Buffers of these sizes.
  void readv(int d, const std::vector<std::size_t>& sizes, int count = -2) {
    std::size_t sum = 0;
    for (const std::size_t n : sizes)
      sum += n;
    std::vector<iovec> v(sizes.size());
    const int buffers = count == -2 ? static_cast<int>(sizes.size()) : count;
    const auto lay_out = [&](char* b) {
      for (std::size_t i = 0; i < sizes.size(); b += sizes[i++])
        v[i] = {b, sizes[i]};
      return v.data();
    };
    into(
        "readv", d, sum, [&](char* b, auto& e) { return io::readv(d, lay_out(b), buffers, e, limit_); },
        [&](char* b) { return ::readv(d, lay_out(b), buffers); });
  }
  void write(int d, const std::string& s) {
    number(
        "write", d, [&](auto& e) { return io::write(d, s.data(), s.size(), e, limit_); },
        [&] { return ::write(d, s.data(), s.size()); });
  }
  void send(int d, const std::string& s, int flags) {
    number(
        "send " + std::to_string(flags), d,
        [&](auto& e) { return io::send(d, s.data(), s.size(), flags, e, limit_); },
        [&] { return ::send(d, s.data(), s.size(), flags | MSG_NOSIGNAL); });
  }
  void pwrite(int d, const std::string& s, off_t at) {
    number(
        "pwrite", d, [&](auto& e) { return io::pwrite(d, s.data(), s.size(), at, e); },
        [&] { return ::pwrite(d, s.data(), s.size(), at); });
  }
  void writev(int d, const std::vector<std::string>& parts, int count = -2) {
    std::vector<iovec> v;
    for (const std::string& p : parts)
      v.push_back({const_cast<char*>(p.data()), p.size()});
    const int buffers = count == -2 ? static_cast<int>(parts.size()) : count;
    number(
        "writev", d, [&](auto& e) { return io::writev(d, v.data(), buffers, e, limit_); },
        [&] { return ::writev(d, v.data(), buffers); });
  }
  void connect(int d, const void* address, std::size_t size) {
    const auto* a = static_cast<const sockaddr*>(address);
    number(
        "connect", d,
        [&](auto& e) {
          io::connect(d, a, static_cast<socklen_t>(size), e, limit_);
          return 0;
        },
        [&] { return ::connect(d, a, static_cast<socklen_t>(size)); });
  }
  /// Closes what open() or accept() has made: io::close() must, of weft::io's.
  void drop(int d) {
    if (d >= 0 && is_kernel_)
      ::close(d);
    else if (d >= 0)
      io::close(d);
  }
  /// The new descriptor.
  int accept(int d) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    auto* a = reinterpret_cast<sockaddr*>(&from);
    int made = -1;
    number(
        "accept", d, [&](auto& e) { return (made = io::accept(d, a, &size, e, limit_)) < 0 ? -1 : 0; },
        [&] { return (made = ::accept4(d, a, &size, SOCK_CLOEXEC)) < 0 ? -1 : 0; });
    if (made >= 0)
      note("from family " + std::to_string(from.ss_family) + ", " + std::to_string(size) + " bytes");
    return made;
  }
  int open(const std::string& path, int flags) {
    int made = -1;
    number(
        "open", 0, [&](auto& e) { return (made = io::open(path.c_str(), flags, 0600, e)) < 0 ? -1 : 0; },
        [&] { return (made = ::open(path.c_str(), flags | O_CLOEXEC, 0600)) < 0 ? -1 : 0; });
    return made;
  }
  void poll(int d, short events) {
    number(
        "poll", d, [&](auto& e) { return io::poll(d, events, e, limit_); },
        [&]() -> int {
          pollfd asked{d, events, 0};
          const int n = ::poll(&asked, 1, -1);
          return n < 0 ? n : asked.revents;
        });
  }
  void fsync(int d) {
    number(
        "fsync", d,
        [&](auto& e) {
          io::fsync(d, e);
          return 0;
        },
        [&] { return ::fsync(d); });
    number(
        "fdatasync", d,
        [&](auto& e) {
          io::fdatasync(d, e);
          return 0;
        },
        [&] { return ::fdatasync(d); });
  }
  void close(int d) {
    number(
        "close", d,
        [&](auto& e) {
          io::close(d, e);
          return 0;
        },
        [&] { return ::close(d); });
  }

  /// What is there to be read without waiting, message by message where there are messages.
  void left(int d) {
    std::string text = "left:";
    std::string b(1 << 16, '\0');
    for (int i = 0; i < 100; ++i) {
      pollfd state{d, POLLIN, 0};
      if (::poll(&state, 1, 0) <= 0 || (state.revents & POLLIN) == 0)
        break;
      const ssize_t n = ::read(d, b.data(), b.size());
      text += n < 0 ? std::string(" ") + std::strerror(errno) : " " + shown(b.data(), n);
      if (n <= 0)
        break;
    }
    note(text);
  }
  void note(const std::string& line) { log_ += line + "\n"; }
  /// Calls from now on end after this time; the kernel's by the socket's time-outs.
  void within(std::chrono::milliseconds time) {
    limited_ = true;
    limit_ = io::limit(time_ = time);
  }
  void without_limit() {
    limited_ = false;
    limit_ = io::limit(time_ = never);
  }
  /// Only whether it is all, a part or an error.
  void count_roughly(std::size_t all) { all_ = all; }
  [[nodiscard]] bool is_kernel() const { return is_kernel_; }
  [[nodiscard]] const std::string& log() const { return log_; }

 private:
  static std::string shown(const char* bytes, ssize_t n) {
    if (n <= 40)
      return "'" + std::string(bytes, static_cast<std::size_t>(n)) + "'";
    return std::to_string(n) + " bytes, #" +
           std::to_string(std::hash<std::string>()(std::string(bytes, static_cast<std::size_t>(n))));
  }
  template <class Weft, class Kernel>
  void into(const std::string& name, int d, std::size_t n, Weft weft_call, Kernel kernel_call) {
    std::string buffer(n + 1, '.');
    number(
        name + " " + std::to_string(n), d, [&](auto& e) { return weft_call(buffer.data(), e); },
        [&] { return kernel_call(buffer.data()); });
    note("  buffer " + shown(buffer.data(), static_cast<ssize_t>(n)));
  }
  template <class Weft, class Kernel>
  void number(const std::string& name, int d, Weft weft_call, Kernel kernel_call) {
    limit_ = io::limit(time_);
    std::error_code error;
    long long result = 0;
    if (is_kernel_) {
      set_timeouts(d, limited_ ? time_ : 0ms);
      if ((result = static_cast<long long>(kernel_call())) < 0)
        error.assign(errno, std::system_category());
      set_timeouts(d, 0ms);
      if (limited_ &&
          (error == std::errc::resource_unavailable_try_again || error == std::errc::operation_in_progress))
        error = std::make_error_code(std::errc::timed_out);
    } else {
      result = static_cast<long long>(weft_call(error));
    }
    if (error)
      note(name + ": " + error.message());
    else if (all_ == 0 || result == 0)
      note(name + ": " + std::to_string(result));
    else
      note(name + (result == static_cast<long long>(all_) ? ": all" : ": a part"));
  }
  static void set_timeouts(int d, std::chrono::milliseconds t) {
    const timeval v{t.count() / 1000, t.count() % 1000 * 1000};
    ::setsockopt(d, SOL_SOCKET, SO_RCVTIMEO, &v, sizeof v);
    ::setsockopt(d, SOL_SOCKET, SO_SNDTIMEO, &v, sizeof v);
  }

  const bool is_kernel_;
  bool limited_ = false;
  std::chrono::milliseconds time_ = never;
  io::limit limit_ = io::limit(never);
  std::size_t all_ = 0;
  std::string log_;
};

/// Does it on a kernel thread of its own, a moment later; joined at the end.
class later {
 public:
  template <class F>
  explicit later(F f, std::chrono::milliseconds when = 3ms)
      : thread_([f, when] {
          std::this_thread::sleep_for(when);
          f();
        }) {}
  later(const later&) = delete;
  ~later() { thread_.join(); }

 private:
  std::thread thread_;
};

class twin_fixture : public io_fixture {
 protected:
  template <class Program>
  static std::string by_kernel_thread(bool is_kernel, Program program) {
    twin t(is_kernel);
    std::thread([&] {
      sigset_t pipe;
      sigemptyset(&pipe);
      sigaddset(&pipe, SIGPIPE);
      if (is_kernel) // weft::io sends none
        pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
      program(t);
    }).join();
    return t.log();
  }
  /// The program makes what it needs and closes it.
  template <class Program>
  static void expect_same(const std::string& what, Program program) {
    const std::string right = by_kernel_thread(true, program);
    twin here(false);
    program(here);
    EXPECT_EQ(here.log(), right) << what << ", a thread";
    EXPECT_EQ(by_kernel_thread(false, program), right) << what << ", a foreign kernel thread";
  }
};

/// Both ends of something, by its name.
struct ends_of {
  const char* name;
  std::array<int, 2> (*make)();
};

std::array<int, 2> make_tcp();
std::array<int, 2> make_udp();
template <int Type>
std::array<int, 2> make_unix() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, Type | SOCK_CLOEXEC, 0, ends.data()), 0);
  return ends;
}

inline constexpr ends_of streams[] = {{"a Unix stream", &make_unix<SOCK_STREAM>}, {"TCP", &make_tcp}};
inline constexpr ends_of messages[] = {{"Unix datagrams", &make_unix<SOCK_DGRAM>},
                                       {"Unix packets", &make_unix<SOCK_SEQPACKET>},
                                       {"UDP", &make_udp}};

/// What may be closed unseen, made anew for each program.
struct plain_pair {
  explicit plain_pair(const ends_of& kind) : ends(kind.make()) {}
  plain_pair(const plain_pair&) = delete;
  ~plain_pair() {
    close(0);
    close(1);
  }
  int operator[](std::size_t i) const { return ends[i]; }
  void close(std::size_t i) {
    if (ends[i] >= 0)
      ::close(ends[i]);
    ends[i] = -1;
  }
  std::array<int, 2> ends;
};

} // namespace weft::testing

#define WEFT_TWIN_SUITE(name)                                                                                \
  class name : public ::weft::testing::twin_fixture {};                                                      \
  INSTANTIATE_TEST_SUITE_P(                                                                                  \
      sources, name,                                                                                         \
      ::testing::Combine(::testing::Values(::weft::io::mechanism::epoll, ::weft::io::mechanism::uring),      \
                         ::testing::Values(1U, 2U)),                                                         \
      ::weft::testing::parameter_name)
