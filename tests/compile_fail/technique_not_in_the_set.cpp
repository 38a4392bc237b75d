// SPDX-License-Identifier: MIT
// A page knows the techniques of its set.
// expect: this technique is not in the page's technique_set
#include "weft/compose.hpp"

struct page : weft::compose::default_policies {
#ifdef CORRECT
  using techniques = weft::compose::technique_set<weft::compose::inline_join, weft::compose::full_lazy>;
#else
  using techniques = weft::compose::technique_set<weft::compose::inline_join>;
#endif
};

void misuse() {
  weft::compose::runtime<page>::thread::fork<weft::compose::full_lazy>([] {}).join();
}
