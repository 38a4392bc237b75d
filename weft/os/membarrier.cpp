// SPDX-License-Identifier: MIT
#include "weft/os/membarrier.hpp"

#include "weft/base/assert.hpp"
#include "weft/base/fence.hpp"
#include "weft/base/knob.hpp"

#include <cerrno>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft {
namespace {

constinit base::boolean_knob membarrier_knob{
    "WEFT_MEMBARRIER", true,
    "let the rare side of a fence pair pay through membarrier(2); 0: plain fences on both"};
const base::knob_list membarrier_knobs{membarrier_knob};

int membarrier(int command) noexcept {
  return static_cast<int>(::syscall(SYS_membarrier, command, 0, 0));
}

// Priority 101, the first a program may use: other constructors may already create threads.
[[gnu::constructor(101)]] void register_at_load() noexcept {
  os::reregister_membarrier();
}

} // namespace

// False until registered: a light_fence() before that is a full fence, which is right whatever the other side
// does.
WEFT_API constinit bool base::asymmetric_fences = false;

WEFT_API void base::heavy_fence() noexcept {
  // Pairs with every light_fence(). Each of the two sides stores, fences, then loads what the other stored;
  // not both can miss. The plain fences serve where light_fence() is one, and order the caller itself: the
  // system call promises a fence on the other CPUs only.
  base::full_fence();
  if (!asymmetric_fences) {
    return;
  }
  const int saved = errno;
  // EPERM: a child of fork() that nobody has registered yet
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0 &&
      (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0 ||
       membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0)) [[unlikely]] {
    // Light fences compile to nothing while the flag stands; to go on would be silently wrong.
    panic("membarrier failed with errno %d; run with WEFT_MEMBARRIER=0", errno);
  }
  errno = saved;
  base::full_fence();
}

void os::reregister_membarrier() noexcept {
  const int saved = errno;
  if (membarrier_knob.get() && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0) {
    base::asymmetric_fences = true;
  }
  errno = saved;
}

} // namespace weft
