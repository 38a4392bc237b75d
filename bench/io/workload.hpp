// SPDX-License-Identifier: MIT
// io: pairs of threads send a byte forth and back over a socket pair each, n times; n pairs at once. One
// operation is one round trip. Between the round trips nothing is computed, so what is measured is the way
// into the kernel and back: waits, wakes and switches.
#pragma once

#include "bench/common/bench.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

namespace weft::bench::io {

// n: pairs. A round is `trips` round trips of each pair.
inline constexpr std::size_t trips = 200;
inline options defaults() {
  return {.n = 16, .rounds = 5, .repeats = 5, .workers = 1, .form = {}};
}

class socket_pairs {
 public:
  explicit socket_pairs(recorder& rec) : ends_(rec.opt().n) {
    for (auto& pair : ends_)
      rec.check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) == 0, "a socket pair");
  }
  socket_pairs(const socket_pairs&) = delete;
  ~socket_pairs() {
    for (auto& pair : ends_) {
      ::close(pair[0]);
      ::close(pair[1]);
    }
  }
  [[nodiscard]] int end(std::size_t pair, std::size_t side) const { return ends_[pair][side]; }

 private:
  std::vector<std::array<int, 2>> ends_;
};

// What the thread at each end runs; read(descriptor, byte) and write(descriptor, byte) transfer one byte.
template <class Read, class Write>
bool ping_pong(int descriptor, bool begins, Read read, Write write) {
  char byte = 'x';
  for (std::size_t i = 0; i < trips; ++i) {
    if (begins && !write(descriptor, byte))
      return false;
    if (!read(descriptor, byte))
      return false;
    if (!begins && !write(descriptor, byte))
      return false;
  }
  return true;
}

// round() runs all pairs once.
template <class Round>
int run(recorder& rec, Round round) {
  round();
  rec.time_rounds(rec.opt().n * trips, round);
  return rec.finish();
}

} // namespace weft::bench::io
