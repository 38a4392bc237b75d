// SPDX-License-Identifier: MIT
// An HTTP/1.1 server in blocking style: one thread accepts, one thread a connection reads, answers and waits.
// GET and HEAD of /plaintext and of the files below a directory. Guide: docs/guide/http.md.
#pragma once

#include "apps/http/file_cache.hpp"
#include "apps/http/limits.hpp"

#include <weft/condition_variable.hpp>
#include <weft/mutex.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>

namespace weft::http {

inline constexpr std::string_view plaintext = "Hello, World!";

struct server_options {
  std::string address = "127.0.0.1";      // of IPv4 or IPv6
  std::uint16_t port = 8080;              // 0: one that is free
  std::string root;                       // the directory that is served; empty: none
  std::string name = "weft";              // the field Server
  std::size_t connections = 20'000;       // at once; further ones wait in the backlog
  std::size_t stack_bytes = 0;            // of a connection's thread; 0: WEFT_STACK_SIZE
  std::chrono::milliseconds drain{5'000}; // from the stop request to the end of the last connection
  http::limits limits;
};

struct server_counts {
  std::uint64_t connections; // accepted
  std::uint64_t requests;    // answered, refusals included
  std::size_t open;          // connections now
  std::size_t partial;       // of those: that have sent a part of a request
};

class server {
 public:
  /// Binds and listens; from then on the process ignores SIGPIPE, for sendfile(2) has no flag for that.
  /// *Errors*: std::system_error (the address, the port, the directory); std::invalid_argument for an address
  /// that is none, or limits that are too small.
  explicit server(server_options o);
  server(const server&) = delete;
  ~server();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  /// Serves until a stop is requested. Then refuses who connects, closes connections between two requests,
  /// and lets requests of which a byte has come go on to their answer, which says that it is the last. What
  /// is not done within the drain time is cut off. Returns when the last connection is closed. *Contexts*:
  /// thread. *Switches*: may. *Errors*: std::system_error when accept(2) fails for good.
  void run(const std::stop_token& stop);

  /// RACY while it runs.
  [[nodiscard]] server_counts counts() const noexcept;

  // --- for connections ---
  [[nodiscard]] const server_options& options() const noexcept { return options_; }
  [[nodiscard]] file_cache& files() noexcept { return files_; }
  /// Whether this is to be a connection's last answer.
  [[nodiscard]] bool is_draining() const noexcept { return is_draining_.load(std::memory_order_relaxed); }
  /// Says of a connection that a request has come in part, or no longer. False: it is to end here.
  [[nodiscard]] bool set_partial(std::atomic<bool>& connection, bool is_partial) const noexcept {
    // seq_cst, both: drain() stores its flag and then reads ours. One of us sees the other's.
    connection.store(is_partial, std::memory_order_seq_cst);
    return is_partial || !is_draining_.load(std::memory_order_seq_cst);
  }

 private:
  void accept_all(const std::stop_token& stop);
  void start_connection(int descriptor);
  void serve(int descriptor, std::atomic<bool>& is_partial) noexcept;
  std::atomic<bool>& add(int descriptor);
  void end_of(int descriptor) noexcept;
  void take_the_backlog();
  void end_idle_ones();
  void cut_off_all();
  void drain();

  const server_options options_;
  file_cache files_;
  int listening_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> is_draining_{false};
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> requests_{0};
  mutable weft::mutex lock_; // guards open_
  weft::condition_variable fewer_;
  std::unordered_map<int, std::atomic<bool>> open_; // by descriptor: whether a request has come in part
};

} // namespace weft::http
