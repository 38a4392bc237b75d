// SPDX-License-Identifier: MIT
// What threads are: Weft's, or the kernel's. For the program kinds.cpp and its library; the functions are
// each file's own, so that the threads begin there.
#pragma once

#include <pthread.h>
#include <thread>
#include <threads.h>

namespace {

// A handle of libc's is an address, so its highest bit is clear.
[[maybe_unused]] const char* of_this_thread() {
  return (pthread_self() >> 63) != 0 ? "weft" : "native";
}

[[maybe_unused]] const char* begun_by_pthreads() {
  const auto look = [](void*) { return const_cast<void*>(static_cast<const void*>(of_this_thread())); };
  pthread_t t;
  void* found = nullptr;
  if (pthread_create(&t, nullptr, look, nullptr) != 0 || pthread_join(t, &found) != 0)
    return "none";
  return static_cast<const char*>(found);
}

[[maybe_unused]] const char* begun_by_c11() {
  static const char* found = nullptr;
  const auto look = [](void*) { return found = of_this_thread(), 0; };
  thrd_t t;
  if (thrd_create(&t, look, nullptr) != thrd_success || thrd_join(t, nullptr) != thrd_success)
    return "none";
  return found;
}

[[maybe_unused]] const char* begun_by_cpp() {
  const char* found = nullptr;
  std::thread([&found] { found = of_this_thread(); }).join();
  return found;
}

} // namespace

extern "C" void tell_kinds_of_library();
