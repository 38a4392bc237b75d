// SPDX-License-Identifier: MIT
// The fault tests' operator new: it asks the injector (fault_site::memory) while a test lets it. GoogleTest
// and the tests themselves allocate too, so the door is open around the calls under test alone.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace weft::fault_test {

enum class reach : unsigned char {
  this_kernel_thread, // who opens the door: what is counted is the same in every run
  everywhere,         // also workers, whose loop may not throw
};

// Allocations within its life ask the injector. One at a time.
class allocations_may_fail {
 public:
  explicit allocations_may_fail(reach whose) noexcept;
  ~allocations_may_fail();
  allocations_may_fail(const allocations_may_fail&) = delete;
  allocations_may_fail& operator=(const allocations_may_fail&) = delete;
};

// Blocks that operator new has given out and nobody has deleted yet, of the whole process.
[[nodiscard]] std::int64_t live_allocations() noexcept;

} // namespace weft::fault_test
