// SPDX-License-Identifier: MIT
// Faults that a sanitizer must find, made by threads of Weft on purpose; which one: the argument. A program
// that a sanitizer does not stop prints "went unnoticed". The `_not` ones have no fault and must pass.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "weft/weft.hpp"

namespace {

char* volatile escaped; // the optimiser knows nothing of it
int shared_number = 0;
weft::mutex lock;
std::atomic<int> arrived{0};

// Both threads are there, on two workers, for neither yields; relaxed, so that nothing orders what they do
// next.
void meet() {
  arrived.fetch_add(1, std::memory_order_relaxed);
  while (arrived.load(std::memory_order_relaxed) < 2) {
  }
}

// Many times: two accesses at the very same moment may escape the sanitizer.
[[gnu::noinline]] void seeded_write_to_shared() {
  for (int i = 0; i < 10'000; ++i) {
    ++shared_number;
    asm volatile("" ::: "memory");
  }
}
[[gnu::noinline]] void seeded_stack_overflow(std::size_t index) {
  char text[16] = {};
  escaped = text;
  escaped[index] = 'x';
}
[[gnu::noinline]] void seeded_heap_overflow(std::size_t index) {
  escaped = static_cast<char*>(std::malloc(16));
  escaped[index] = 'x';
  std::free(escaped);
}
[[gnu::noinline]] void leave_a_frame() {
  char text[16] = {};
  escaped = text;
}
[[gnu::noinline]] void seeded_use_after_return() {
  leave_a_frame();
  weft::this_thread::yield(); // other frames may lie there now, and other threads have run
  escaped[3] = 'x';
}

void race(bool locked) {
  weft::runtime::start({.workers = 2});
  weft::thread two[2];
  for (auto& one : two) {
    one = weft::thread([locked] {
      meet();
      if (locked)
        lock.lock();
      seeded_write_to_shared();
      if (locked)
        lock.unlock();
    });
  }
  for (auto& one : two)
    one.join();
}

const std::map<std::string, void (*)()> faults = {
    {"race", [] { race(false); }},
    {"race_not", [] { race(true); }},
    {"stack", [] { weft::thread([] { seeded_stack_overflow(16); }).join(); }},
    {"stack_not", [] { weft::thread([] { seeded_stack_overflow(15); }).join(); }},
    {"heap", [] { weft::thread([] { seeded_heap_overflow(16); }).join(); }},
    {"return", [] { weft::thread([] { seeded_use_after_return(); }).join(); }},
    {"undefined", [] {
       weft::thread([] {
         const volatile int most = 2'147'483'647;
         const int more = most + 1;
         std::printf("%d\n", more);
       }).join();
     }}};

} // namespace

int main(int count, char** arguments) {
  const auto found = faults.find(count > 1 ? arguments[1] : "");
  if (found == faults.end())
    return 2;
  found->second();
  std::puts("went unnoticed");
  return 0;
}
