// SPDX-License-Identifier: MIT
// A server with a directory of files, and clients that speak to it through raw sockets. Every test runs with
// both event sources on 1, 2 and 4 workers and ends by counting what is left.
#pragma once

#include "apps/http/server.hpp"
#include "tests/unit/io/fixture.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace weft::http::testing {

using namespace std::chrono_literals;
using weft::testing::eventually;
using weft::testing::never;
namespace fs = std::filesystem;

/// A directory that is removed at the end.
class directory {
 public:
  directory() {
    std::string name = (fs::temp_directory_path() / "weft-http-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::system_error(errno, std::system_category(), name);
    path_ = name;
  }
  directory(const directory&) = delete;
  ~directory() { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// What a client got: one answer.
struct reply {
  int status = 0;
  std::string head; // with the status line
  std::string body;
  [[nodiscard]] std::string field(const std::string& name) const {
    const std::size_t at = head.find("\r\n" + name + ": ");
    if (at == head.npos)
      return "";
    const std::size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

class client {
 public:
  explicit client(std::uint16_t port) : socket_(io::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port);
    io::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to, never);
  }
  client(client&& other) noexcept : socket_(std::exchange(other.socket_, -1)), got_(std::move(other.got_)) {}
  client(const client&) = delete;
  ~client() { close(); }

  void send(std::string_view text) const { io::write_all(socket_, text.data(), text.size(), never); }
  /// The next answer; nothing: the connection has ended before.
  std::optional<reply> receive(bool has_body = true) {
    std::size_t end = 0;
    while ((end = got_.find("\r\n\r\n")) == got_.npos) {
      if (!read_more())
        return std::nullopt;
    }
    reply r;
    r.head = got_.substr(0, end + 2);
    got_.erase(0, end + 4);
    r.status = std::stoi(r.head.substr(9, 3));
    const std::string length = r.field("Content-Length");
    const std::size_t bytes = has_body && !length.empty() ? std::stoul(length) : 0;
    while (got_.size() < bytes) {
      if (!read_more())
        return std::nullopt;
    }
    r.body = got_.substr(0, bytes);
    got_.erase(0, bytes);
    return r;
  }
  /// Whether the server ends the connection, with nothing more before.
  bool is_ended() { return got_.empty() && !read_more(); }
  reply ask(std::string_view text, bool has_body = true) {
    send(text);
    return receive(has_body).value_or(reply{});
  }
  reply get(const std::string& target, const std::string& fields = "") {
    return ask("GET " + target + " HTTP/1.1\r\nHost: test\r\n" + fields + "\r\n");
  }
  /// Ends with a RST, whatever is under way.
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }
  void close() {
    if (socket_ >= 0)
      io::close(std::exchange(socket_, -1));
  }
  [[nodiscard]] int socket() const { return socket_; }

 private:
  bool read_more() {
    char text[8192];
    std::error_code error;
    const std::size_t bytes = io::read(socket_, text, sizeof text, error, never);
    EXPECT_NE(error, std::errc::timed_out);
    got_.append(text, bytes);
    return bytes != 0;
  }
  int socket_;
  std::string got_;
};

class server_fixture : public weft::testing::io_fixture {
 protected:
  void TearDown() override {
    stop();
    server_.reset();
    io_fixture::TearDown();
  }
  void start(server_options o = {}) {
    o.port = 0;
    server_.emplace(std::move(o));
    running_ = weft::thread([this] { server_->run(stop_.get_token()); });
  }
  void stop() {
    stop_.request_stop();
    if (running_.joinable())
      running_.join();
  }
  [[nodiscard]] client connect() const { return client(server_->port()); }
  [[nodiscard]] server& served() { return *server_; }
  std::stop_source stop_;

 private:
  std::optional<server> server_;
  weft::thread running_;
};

} // namespace weft::http::testing

#define WEFT_HTTP_SUITE(name)                                                                                \
  class name : public ::weft::http::testing::server_fixture {};                                              \
  INSTANTIATE_TEST_SUITE_P(                                                                                  \
      sources, name,                                                                                         \
      ::testing::Combine(::testing::Values(::weft::io::mechanism::epoll, ::weft::io::mechanism::uring),      \
                         ::testing::Values(1U, 2U, 4U)),                                                     \
      ::weft::testing::parameter_name)
