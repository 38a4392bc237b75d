// SPDX-License-Identifier: MIT
// MassiveThreads as the adapters use it: stacks of 16 KiB, workers bound, initialised and finalised with an
// object.
#pragma once

#include <myth/myth.h>

namespace weft::bench {

class massivethreads {
 public:
  explicit massivethreads(unsigned workers) {
    myth_globalattr_t attr;
    myth_globalattr_init(&attr);
    myth_globalattr_set_stacksize(&attr, 16 * 1024);
    myth_globalattr_set_n_workers(&attr, workers);
    myth_init_ex(&attr);
  }
  ~massivethreads() { myth_fini(); }
  massivethreads(const massivethreads&) = delete;
  massivethreads& operator=(const massivethreads&) = delete;
};

// Attributes of a thread that is queued while its parent goes on. (The global attribute of that name has no
// effect.)
inline myth_thread_attr_t parent_first() {
  myth_thread_attr_t attr{}; // the next call does not set every field
  myth_thread_attr_init(&attr);
  attr.stacksize = 16 * 1024;
  attr.child_first = 0;
  return attr;
}

} // namespace weft::bench
