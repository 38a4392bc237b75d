// SPDX-License-Identifier: MIT
#include "apps/http/server.hpp"

#include "apps/http/connection.hpp"
#include "apps/http/listening.hpp"

#include <weft/io.hpp>
#include <weft/sleep.hpp>
#include <weft/thread.hpp>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace weft::http {
namespace {

using namespace std::chrono_literals;

server_options checked(server_options o) {
  if (o.limits.head_bytes < 64 || o.limits.head_bytes > 1 << 30)
    throw std::invalid_argument("the limit on a request's head must be 64 bytes to 1 GiB");
  if (o.connections == 0)
    throw std::invalid_argument("a server without connections serves nobody");
  return o;
}

// Of this process or machine there is too little, which may pass.
bool is_shortage(std::error_code error) noexcept {
  return error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system ||
         error == std::errc::no_buffer_space || error == std::errc::not_enough_memory;
}

// accept(2) reports what happened to a connection before it was taken; the next may be better.
bool is_of_one_connection(std::error_code error) noexcept {
  switch (error.value()) {
  case ECONNABORTED:
  case EPROTO:
  case ENETDOWN:
  case ENOPROTOOPT:
  case EHOSTDOWN:
  case ENONET:
  case EHOSTUNREACH:
  case EOPNOTSUPP:
  case ENETUNREACH:
  case EPERM:
    return true;
  default:
    return false;
  }
}

} // namespace

server::server(server_options o)
    : options_(checked(std::move(o))), files_(options_.root),
      listening_(listen_at(options_.address, options_.port)), port_(port_of(listening_)) {}

server::~server() {
  if (listening_ >= 0)
    weft::io::close(listening_);
}

server_counts server::counts() const noexcept {
  const std::scoped_lock held(lock_);
  std::size_t partial = 0;
  for (const auto& each : open_)
    partial += each.second.load(std::memory_order_relaxed) ? 1 : 0;
  return {accepted_.load(std::memory_order_relaxed), requests_.load(std::memory_order_relaxed), open_.size(),
          partial};
}

void server::run(const std::stop_token& stop) {
  try {
    accept_all(stop);
  } catch (...) {
    drain();
    throw;
  }
  drain();
}

// At the limit it accepts nobody; they wait in the backlog, and beyond that the kernel lets them try again.
void server::accept_all(const std::stop_token& stop) {
  for (;;) {
    {
      std::unique_lock held(lock_);
      if (!fewer_.wait(held, stop, [this] { return open_.size() < options_.connections; }))
        return;
    }
    std::error_code error;
    const int descriptor = weft::io::accept(listening_, nullptr, nullptr, error, stop);
    if (error == std::errc::operation_canceled)
      return;
    if (!error)
      start_connection(descriptor);
    else if (is_shortage(error))
      weft::this_thread::sleep_for(20ms, stop);
    else if (!is_of_one_connection(error))
      throw std::system_error(error, "accept");
  }
}

void server::start_connection(int descriptor) {
  accepted_.fetch_add(1, std::memory_order_relaxed);
  bool is_added = false;
  try {
    std::atomic<bool>& is_partial = add(descriptor);
    is_added = true;
    weft::thread_attributes attributes;
    attributes.stack_size = options_.stack_bytes;
    weft::thread(attributes, [this, descriptor, &is_partial] { serve(descriptor, is_partial); }).detach();
  } catch (const std::exception& e) { // no memory, no stack: this connection cannot be had, others may
    std::fprintf(stderr, "weft-http: a connection is refused: %s\n", e.what());
    if (is_added)
      end_of(descriptor);
    else
      weft::io::close(descriptor);
  }
}

void server::serve(int descriptor, std::atomic<bool>& is_partial) noexcept {
  std::uint64_t answered = 0;
  try {
    answered = serve_connection(descriptor, *this, is_partial);
  } catch (const std::exception& e) { // of memory, mostly
    std::fprintf(stderr, "weft-http: a connection is dropped: %s\n", e.what());
  }
  requests_.fetch_add(answered, std::memory_order_relaxed);
  end_of(descriptor);
}

std::atomic<bool>& server::add(int descriptor) {
  const std::scoped_lock held(lock_);
  return open_.try_emplace(descriptor, false).first->second;
}

// The last touch of the server by a connection: drain() sees the set empty only after the lock is released.
void server::end_of(int descriptor) noexcept {
  const std::scoped_lock held(lock_);
  open_.erase(descriptor);
  std::error_code ignored; // it is gone all the same
  weft::io::close(descriptor, ignored);
  fewer_.notify_all();
}

// Whoever is connected already has not been refused: closing the listening socket would reset them.
void server::take_the_backlog() {
  while (counts().open < options_.connections) {
    std::error_code error;
    const int descriptor = weft::io::accept(listening_, nullptr, nullptr, error, 0ms);
    if (error)
      return;
    start_connection(descriptor);
  }
}

// Both under the lock, so that none of the numbers is closed and used again meanwhile.
void server::end_idle_ones() {
  const std::scoped_lock held(lock_);
  for (const auto& [descriptor, is_partial] : open_) {
    if (!is_partial.load(std::memory_order_seq_cst)) // pairs with set_partial()
      ::shutdown(descriptor, SHUT_RD);
  }
}
void server::cut_off_all() {
  const std::scoped_lock held(lock_);
  for (const auto& each : open_)
    ::shutdown(each.first, SHUT_RDWR);
}

// [sample http-drain]
// A connection that is shut down for reading still gets what had come, then the end. One that has sent a part
// of a request may send the rest.
void server::drain() {
  is_draining_.store(true, std::memory_order_seq_cst);
  take_the_backlog();
  weft::io::close(std::exchange(listening_, -1));
  end_idle_ones();
  std::unique_lock held(lock_);
  const auto all_gone = [this] { return open_.empty(); };
  if (fewer_.wait_for(held, options_.drain, all_gone))
    return;
  held.unlock();
  cut_off_all();
  held.lock();
  fewer_.wait(held, all_gone);
}
// [/sample]

} // namespace weft::http
