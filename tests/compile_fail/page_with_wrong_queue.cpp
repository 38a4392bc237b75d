// SPDX-License-Identifier: MIT
// A ready queue has to give the oldest unit, too.
// expect: the page's .ready_queue. has to push a unit, to pop the next, the oldest(.|\n)*pops_the_oldest_unit
#include "weft/compose.hpp"

template <class Unit>
struct queue : weft::compose::private_fifo<Unit> {
#ifndef CORRECT
  Unit* pop_oldest() = delete;
#endif
};

struct page : weft::compose::default_policies {
  template <class Unit>
  using ready_queue = queue<Unit>;
};

using misuse = weft::compose::runtime<page>::thread;
