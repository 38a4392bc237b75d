// SPDX-License-Identifier: MIT
// The kernel threads' context starts nothing on a plain stack.
// expect: has to swap contexts, and to start threads on the stacks(.|\n)*starts_on_stacks_of_the_source
#include "weft/compose.hpp"
#include "weft/compose/kernel_threads.hpp"

struct page : weft::compose::default_policies {
  using context = weft::compose::kernel_thread_context;
#ifdef CORRECT
  using stack_source = weft::compose::kernel_thread_stacks;
#endif
};

using misuse = weft::compose::runtime<page>::thread;
