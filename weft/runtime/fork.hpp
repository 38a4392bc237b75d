// SPDX-License-Identifier: MIT
// fork(): in the child only the forking thread survives, on a worker of its own, and fresh workers join it.
#pragma once

namespace weft::runtime {

// Registers the handlers, once.
void install_fork_handlers() noexcept;

} // namespace weft::runtime
