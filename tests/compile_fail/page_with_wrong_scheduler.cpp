// SPDX-License-Identifier: MIT
// A scheduler picks units, by pointer.
// expect: the page's .scheduler. has to add a ready unit, to pick the next one(.|\n)*picks_the_next_unit
#include "weft/compose.hpp"

template <class P>
struct scheduler_of_mine : weft::compose::stealing_scheduler<P> {
#ifndef CORRECT
  template <class Worker>
  bool next(Worker&) {
    return false;
  }
#endif
};

struct page : weft::compose::default_policies {
  template <class P>
  using scheduler = scheduler_of_mine<P>;
};

using misuse = weft::compose::runtime<page>::thread;
