// SPDX-License-Identifier: MIT
// A pool of your own defines push, pop and size.
// expect: abstract|pure
#include "weft/weft.hpp"

#include <deque>

struct my_pool : weft::pool {
  my_pool() : weft::pool(weft::access::mpmc) {}
  void do_push(weft::unit_handle&) override {}
  weft::unit_handle* do_pop(weft::worker&) override { return nullptr; }
#ifdef CORRECT
  std::size_t size() const noexcept override { return 0; }
#endif
};

void misuse() {
  my_pool p;
}
