// SPDX-License-Identifier: MIT
// Samples of docs/guide/waits-in-the-kernel.md.
#include <weft/weft.hpp>

#include <unistd.h>

#include "tests/samples/check.hpp"

namespace {

void require(bool holds) {
  samples::check(holds, "the call has succeeded");
}

void wait_in_the_kernel() {
  // [sample waits]
  int ends[2];
  require(::pipe(ends) == 0);
  weft::thread writer([&] { require(::write(ends[1], "x", 1) == 1); });
  char got = 0;
  require(::read(ends[0], &got, 1) == 1); // main waits here, and its worker runs the writer
  writer.join();
  // [/sample]
  samples::check(got == 'x', "main has read it");
  ::close(ends[0]);
  ::close(ends[1]);
}

} // namespace

int main() {
  wait_in_the_kernel();
}
