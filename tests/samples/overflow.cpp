// SPDX-License-Identifier: MIT
// docs/guide/threads.md shows what this program prints before it dies.
#include <weft/weft.hpp>

namespace {

int descend(int depth) {
  volatile char frame[512];
  frame[0] = static_cast<char>(depth);
  return depth == 1'000'000 ? 0 : descend(depth + 1) + frame[0];
}

void parse() { descend(0); }

} // namespace

int main() {
  weft::thread_attributes small;
  small.stack_size = 16 << 10;
  small.name = "parser";
  weft::thread(small, parse).join();
}
