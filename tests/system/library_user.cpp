// SPDX-License-Identifier: MIT
// A shared library that uses the runtime on its own account; opened by exit_test.cpp, linked to libweft.so.
#include <atomic>

#include "weft/weft.hpp"

extern "C" {
__attribute__((visibility("default"))) int user_start() {
  weft::runtime::start();
  return 0;
}
__attribute__((visibility("default"))) int user_stop() {
  weft::runtime::stop();
  return 0;
}
__attribute__((visibility("default"))) int user_use() {
  std::atomic<int> ran{0};
  weft::thread t[8];
  for (auto& one : t)
    one = weft::thread([&] { ran.fetch_add(1); });
  for (auto& one : t)
    one.join();
  return ran.load() == 8 ? 0 : 1;
}
}
