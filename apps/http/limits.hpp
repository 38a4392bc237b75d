// SPDX-License-Identifier: MIT
// What one client may take: of memory, of time, of connections. Whoever takes more gets an answer that says
// so (408, 413, 414, 431), and is disconnected.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace weft::http {

struct limits {
  std::size_t head_bytes = 16 * 1024;        // request line and fields; at least 64
  std::size_t fields = 100;                  // a request
  std::uint64_t body_bytes = 1024 * 1024;    // of a request; it is read and dropped
  std::size_t answer_bytes = 64 * 1024;      // held for a client that pipelines; then it has to read
  std::chrono::milliseconds idle{60'000};    // between two requests
  std::chrono::milliseconds request{10'000}; // from a request's first byte to its last
  std::chrono::milliseconds send{30'000};    // without the client taking anything
};

} // namespace weft::http
