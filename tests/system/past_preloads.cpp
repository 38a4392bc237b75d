// SPDX-License-Identifier: MIT
// Everything of Weft's that calls the C library, under a preload that lets no library of Weft's call what it
// has (stand_in.c). The program itself calls the preload.
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;

void require(bool right, const char* what) {
  if (right)
    return;
  std::fprintf(stderr, "past_preloads: %s\n", what);
  std::_Exit(1);
}

void compute_for(std::chrono::milliseconds length) {
  const auto end = std::chrono::steady_clock::now() + length;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Ticks, donors, spares, blocks.
void preempt() {
  std::atomic<int> beats{0};
  std::vector<weft::thread> all;
  for (const auto kind :
       {weft::preemption::own_tls, weft::preemption::own_kernel_thread, weft::preemption::bound_tls}) {
    if (!weft::can_preempt(kind))
      continue;
    weft::thread_attributes a;
    a.preemption = kind;
    for (int k = 0; k < 2; ++k) {
      all.emplace_back(a, [&beats] {
        compute_for(10ms);
        ++beats;
      });
    }
  }
  for (weft::thread& t : all)
    t.join();
  require(beats == static_cast<int>(all.size()), "a thread is missing");
}

void move_bytes() {
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0, "no sockets");
  weft::thread sends([&ends] {
    weft::this_thread::sleep_for(5ms);
    require(weft::io::write(ends[1], "x", 1) == 1, "write");
  });
  char c = 0;
  require(weft::io::read(ends[0], &c, 1) == 1 && c == 'x', "read");
  sends.join();
  require(weft::blocking([&ends, &c] { return ::write(ends[1], &c, 1); }) == 1, "write elsewhere");
  require(::read(ends[0], &c, 1) == 1, "read here");
  weft::io::close(ends[0]);
  weft::io::close(ends[1]);
}

} // namespace

int main() {
  weft::runtime::start({.workers = 2});
  std::thread([] { compute_for(1ms); }).join();
  weft::parallel_for(0, 1000, [](int) {});
  preempt();
  move_bytes();
  weft::runtime::stop();
  auto* const calls = reinterpret_cast<unsigned (*)()>(::dlsym(RTLD_DEFAULT, "calls_of_stand_ins"));
  require(calls != nullptr && calls() > 0, "the preload was not called by the program either");
  std::printf("%u calls of others\n", calls());
}
