// SPDX-License-Identifier: MIT
// The blocks of thread-local storage that a worker has in hand (carrier/tls_block.hpp).
#pragma once

namespace weft::sched {

struct tls_block;

// Of a worker. Ownership: the worker.
struct blocks_in_hand {
  tls_block* to_lend = nullptr;
  tls_block* to_bind = nullptr;
  unsigned lend_count = 0;
  unsigned bind_count = 0;
};

} // namespace weft::sched
