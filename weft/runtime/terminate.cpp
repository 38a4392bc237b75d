// SPDX-License-Identifier: MIT
// Whose exception it was that nobody has caught: the C++ run time's own message does not know our threads.
#include <atomic>
#include <cstdlib>
#include <cxxabi.h>
#include <exception>

#include "weft/base/assert.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/runtime/internal.hpp"
#include "weft/workers/worker.hpp"

namespace weft::runtime {
namespace {

std::terminate_handler previous = nullptr; // written before it can be called

// Of a `throw` that is inlined into a tasklet, which may not throw, gcc makes a call of std::terminate() and
// no exception. Elsewhere std::terminate() without one has said its reason.
const char* what_happened(const unit::descriptor& u) noexcept {
  const bool flies = abi::__cxa_current_exception_type() != nullptr;
  if (u.kind() == unit::kind_tasklet)
    return flies ? "an exception that nobody catches, in tasklet"
                 : "an exception that nobody catches, or std::terminate(), in tasklet";
  return flies && u.kind() == unit::kind_thread ? "an exception that nobody catches, in thread" : nullptr;
}

[[noreturn]] void name_the_thread() {
  static std::atomic_flag said = ATOMIC_FLAG_INIT;
  unit::descriptor* const u = sched::on_worker() ? sched::here().current : nullptr;
  const char* const what = u != nullptr ? what_happened(*u) : nullptr;
  if (what != nullptr && !said.test_and_set()) {
    char who[512];
    memory::describe_thread(u, who, sizeof who);
    base::warn("%s %s", what, who);
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
