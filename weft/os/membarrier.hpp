// SPDX-License-Identifier: MIT
// The heavy half of the asymmetric fences of weft/base/fence.hpp, by Linux membarrier(2), private expedited:
// every CPU that runs a kernel thread of this process passes a full fence before the call returns (0.4 to 8
// us). A constructor registers the process at load, so base::asymmetric_fences never changes while units run.
#pragma once

namespace weft::os {

// After fork() the child is a process of its own and registers again, before it has a second kernel thread.
// Contexts: the only kernel thread of a child, also inside an atfork handler. Switches: never. Errors: none;
// where membarrier is missing or WEFT_MEMBARRIER=0, base::asymmetric_fences stays false and both halves are
// plain fences.
void reregister_membarrier() noexcept;

} // namespace weft::os
