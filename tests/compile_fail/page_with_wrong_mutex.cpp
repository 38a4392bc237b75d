// SPDX-License-Identifier: MIT
// A mutex has to say whether it could be taken.
// expect: the page's .mutex. has to lock\(\), try_lock\(\) and unlock\(\)(.|\n)*locks_and_unlocks
#include "weft/compose.hpp"

template <class P>
struct my_mutex {
  void lock() {}
#ifdef CORRECT
  bool try_lock() { return true; }
#else
  void try_lock() {}
#endif
  void unlock() {}
};

struct page : weft::compose::default_policies {
  template <class P>
  using mutex = my_mutex<P>;
};

using misuse = weft::compose::runtime<page>::mutex;
