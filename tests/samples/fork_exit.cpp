// SPDX-License-Identifier: MIT
// Samples of docs/guide/fork-and-exit.md.
#include <weft/weft.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/samples/check.hpp"

using samples::check;

namespace {

void fork_in_a_thread() {
  int status = -1;
  // [sample fork]
  weft::thread t([&] {
    const pid_t child = ::fork();
    if (child == 0) {
      int answer = 0;
      weft::thread([&] { answer = 42; }).join();  // on the child's own workers
      std::exit(answer == 42 ? 0 : 1);
    }
    ::waitpid(child, &status, 0);
  });
  t.join();
  // [/sample]
  check(status == 0, "the child used Weft and exited with 0");
}

// [sample library]
class library {
  weft::runtime::scope runtime_;  // counts one user more

 public:
  int compute() {
    auto half = weft::fork([] { return 20; });
    return half.join() + 22;
  }
};
// [/sample]

} // namespace

int main() {
  {
    library first;
    library second;
    check(first.compute() == 42 && second.compute() == 42, "two libraries at once");
  }
  check(!weft::runtime::running(), "the last one stopped it");
  fork_in_a_thread();

  // [sample alive-at-exit]
  weft::thread([] {
    for (;;) weft::this_thread::yield();
  }).detach();
  return 0;  // it stands still while static objects are destroyed
  // [/sample]
}
