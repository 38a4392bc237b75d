// SPDX-License-Identifier: MIT
// Samples of docs/guide/contexts.md. No runtime is started.
#include <weft/context.hpp>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/samples/check.hpp"

using samples::check;

namespace {

[[gnu::noinline]] int deep(int n) {
  return n == 0 ? 0 : 1 + deep(n - 1);
}

void calls() {
  // [sample call-on]
  std::vector<std::byte> stack(1 << 20);
  int depth = weft::call_on(stack, [&] { return deep(1000); });   // f runs there, the caller waits
  try {
    weft::call_on(stack, [] { throw std::runtime_error("no"); });
  } catch (const std::runtime_error&) {                           // as from any other call
    depth = -depth;
  }
  // [/sample]
  check(depth == -1000, "both calls were made");
}

void generator() {
  std::vector<int> seen;
  // [sample resume-suspend]
  std::vector<std::byte> stack(64 * 1024);
  int next = 0;
  weft::context fibonacci(stack, [&](weft::context& self) {
    for (int a = 0, b = 1; a < 100; b += std::exchange(a, b)) {
      next = a;
      self.suspend();                 // back to who resumed it
    }
  });
  for (fibonacci.resume(); !fibonacci.has_ended(); fibonacci.resume()) {
    seen.push_back(next);
  }
  // [/sample]
  check(seen == std::vector<int>{0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89}, "the numbers below 100");
}

void transfer() {
  std::string order;
  // [sample switch-to]
  std::vector<std::byte> stacks[2] = {std::vector<std::byte>(64 * 1024), std::vector<std::byte>(64 * 1024)};
  std::optional<weft::context> ping, pong;
  ping.emplace(stacks[0], [&](weft::context& self) {
    for (int i = 0; i < 2; ++i) {
      order += "ping ";
      self.switch_to(*pong);          // pong goes on in its place
    }
  });
  pong.emplace(stacks[1], [&](weft::context& self) {
    for (int i = 0; i < 2; ++i) {
      order += "pong ";
      self.switch_to(*ping);
    }
  });
  ping->resume();                     // returns when one of them suspends or ends: here, ping
  // [/sample]
  check(order == "ping pong ping pong " && ping->has_ended() && !pong->has_ended(), "they took turns");
}

} // namespace

int main() {
  calls();
  generator();
  transfer();
}
