// SPDX-License-Identifier: MIT
// Whose exception it was that nobody has caught: the C++ run time's own message does not know our threads.
#include <atomic>
#include <cstdlib>
#include <cxxabi.h>
#include <exception>

#include "weft/base/assert.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/runtime/internal.hpp"
#include "weft/sched/worker.hpp"

namespace weft::runtime {
namespace {

std::terminate_handler previous = nullptr; // written before it can be called

[[noreturn]] void name_the_thread() {
  static std::atomic_flag said = ATOMIC_FLAG_INIT;
  if (abi::__cxa_current_exception_type() != nullptr && sched::on_worker() && !said.test_and_set()) {
    unit::descriptor* const u = sched::here().current;
    if (u != nullptr && (u->kind() == unit::kind_thread || u->kind() == unit::kind_tasklet)) {
      char who[512];
      memory::describe_thread(u, who, sizeof who);
      base::warn("an exception that nobody catches, in thread %s", who);
    }
  }
  if (previous != nullptr)
    previous();
  std::abort();
}

} // namespace

void install_terminate_handler() noexcept {
  previous = std::set_terminate(&name_the_thread);
}

} // namespace weft::runtime
