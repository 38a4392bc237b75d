// SPDX-License-Identifier: MIT
// wakeup of a Boost.Fiber fiber on another kernel thread, which waits on a condition variable.
#include <boost/fiber/all.hpp>

#include "bench/wakeup/condition.hpp"

int main(int argc, char** argv) {
  return weft::bench::wakeup::run_with_condition<boost::fibers::mutex, boost::fibers::condition_variable>(
      argc, argv);
}
