// SPDX-License-Identifier: MIT
// What a scheduler wants to know of threads are plain values.
// expect: the .attributes. of the page's scheduler have to be plain values
#include <string>

#include "weft/compose.hpp"

template <class P>
struct by_name : weft::compose::stealing_scheduler<P> {
  struct attributes {
#ifdef CORRECT
    const char* name = nullptr;
#else
    std::string name;
#endif
  };
};

struct page : weft::compose::default_policies {
  template <class P>
  using scheduler = by_name<P>;
};

using misuse = weft::compose::runtime<page>::thread;
