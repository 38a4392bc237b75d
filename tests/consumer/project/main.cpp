// SPDX-License-Identifier: MIT
// A program that has nothing of Weft but its installed package.
#if __has_include(<weft/weft.hpp>)
#include <weft/weft.hpp>
#else
#include <thread>
#include <weft/base/fence.hpp>
#include <weft/base/knob.hpp>
namespace weft {
using std::thread;
}
#endif

#include <cstdio>

int main() {
  int answer = 0;
  weft::thread worker{[&answer] { answer = 42; }};
  worker.join();
#if !__has_include(<weft/weft.hpp>)
  weft::base::heavy_fence();
  weft::base::light_fence();
  weft::base::print_config_if_asked();
#endif
  std::printf("consumer: %d\n", answer);
  return answer == 42 ? 0 : 1;
}
