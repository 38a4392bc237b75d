// SPDX-License-Identifier: MIT
// The C API's process-wide state: from the first ABT_init() to the last ABT_finalize().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "front/abt/abt.h"

namespace weft::abt {

struct xstream;

// What the environment says, read at each real initialisation.
struct settings {
  std::size_t default_stack_size = 64 << 10; // bytes, of ULTs
  std::uint32_t stack_trait = 0; // the same, as the core's descriptors spell it; 0: the core's default
  std::size_t loop_stack_size = 4 << 20; // of ULTs that are a user's scheduler
  std::uint64_t event_frequency = 50;    // rounds of a scheduler's loop between looks at events
  std::uint64_t sleep_ns = 100;          // told to who asks; streams sleep until there is work
  unsigned expected_streams = 1;
  bool set_affinity = true;
  std::vector<int> cpus;                  // that the process might use when ABT_init() was called
  std::vector<std::vector<int>> affinity; // of the stream of rank r: entry r mod size; empty: none
  bool print_config = false;
  bool print_raw_stack = true;
  int overflow_check = 2; // as ABT_info_query_config tells it: what the stacks have
};

struct process {
  std::recursive_mutex lock; // recursive: a tool may ask what holds it. Starting, stopping, and `streams`
  unsigned users = 0;        // ABT_init() without ABT_finalize()
  std::atomic<bool> running{false};
  settings now;
  xstream* primary = nullptr;
  std::vector<xstream*> streams;
};

// The streams, for those who cannot take the lock. Replaced as a whole; old ones live until finalisation.
using stream_view = std::vector<xstream*>;
const stream_view* streams_now() noexcept;
// Under state().lock, after a change of `streams`. Errors: std::bad_alloc.
void publish_streams();
void forget_views() noexcept;

// Never destroyed.
process& state() noexcept;
inline const settings& current() noexcept {
  return state().now;
}
// current().stack_trait, for those who make units: one load.
extern std::uint32_t stack_trait_now;
// Contexts: any, signal handlers included.
inline bool initialised() noexcept {
  return state().running.load(std::memory_order_acquire);
}

// Errors: none; what cannot be understood is said and left at its default.
settings read_environment();

} // namespace weft::abt
