// SPDX-License-Identifier: MIT
// Qthreads as the adapters use it: stacks of 16 KiB without guard pages, one worker a shepherd, the calling
// thread becomes a qthread on shepherd 0.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

// Its headers use C's restrict.
#define restrict __restrict__
#include <qthread/qthread.h>
#include <qthread/sinc.h>
#undef restrict

namespace weft::bench {

class qthreads {
 public:
  explicit qthreads(unsigned workers) {
    setenv("QT_STACK_SIZE", "16384", 1);
    setenv("QT_GUARD_PAGES", "0", 1);
    setenv("QT_NUM_SHEPHERDS", std::to_string(workers).c_str(), 1);
    setenv("QT_NUM_WORKERS_PER_SHEPHERD", "1", 1);
    setenv("QT_HWPAR", std::to_string(workers).c_str(), 1);
    if (qthread_initialize() != 0)
      std::abort();
  }
  ~qthreads() { qthread_finalize(); }
  qthreads(const qthreads&) = delete;
  qthreads& operator=(const qthreads&) = delete;
};

} // namespace weft::bench
