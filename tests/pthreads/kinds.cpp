// SPDX-License-Identifier: MIT
// Says what its threads are, those of a library, and those that have a name.
#include "tests/pthreads/kinds.hpp"

#include <array>
#include <barrier>
#include <cstdio>
#include <set>
#include <sys/syscall.h>
#include <vector>

namespace {

long kernel_thread() {
  long result = 0;
  asm volatile("syscall" : "=a"(result) : "a"(SYS_gettid) : "rcx", "r11", "memory");
  return result;
}

// Whether each has a kernel thread for itself: all are alive at once, and wait.
const char* named(const char* name) {
  constexpr unsigned count = 8;
  std::barrier all_here(count);
  std::array<long, count> on{};
  std::vector<std::thread> threads;
  for (unsigned k = 0; k < count; ++k)
    threads.emplace_back([&, k] {
      pthread_setname_np(pthread_self(), name);
      all_here.arrive_and_wait();
      on[k] = kernel_thread();
      all_here.arrive_and_wait();
    });
  for (std::thread& t : threads)
    t.join();
  return std::set<long>(on.begin(), on.end()).size() == count ? "own" : "shared";
}

} // namespace

int main() {
  std::printf("program pthreads %s\nprogram c11 %s\nprogram c++ %s\n", begun_by_pthreads(), begun_by_c11(),
              begun_by_cpp());
  tell_kinds_of_library();
  std::printf("audio %s\nother %s\n", named("audio-1"), named("video-1"));
}
