// SPDX-License-Identifier: MIT
// Samples of docs/guide/techniques.md.
#include <weft/runtime.hpp>
#include <weft/techniques.hpp>

#include <atomic>

#include "tests/samples/check.hpp"

using samples::check;

int main() {
  const weft::runtime::scope runtime;
  std::atomic<int> done{0};
  const auto work = [&done] { ++done; };
  {
    // [sample technique]
    weft::thread_attributes a;
    a.technique = weft::technique_id::roc_lazy;
    weft::thread by_attribute(a, [&] { work(); });  // looked at when it is created and joined
    weft::thread_of<weft::technique_id::roc_lazy> by_type([&] { work(); });  // inlined for it
    by_attribute.join();
    by_type.join();
    // [/sample]
  }
  check(done == 2, "both have run");
}
