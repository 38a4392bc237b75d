// SPDX-License-Identifier: MIT
// What a runtime must offer to count a tree, and the list of those built in. An adapter is one file that
// registers itself at load; the build chooses which files there are, so nothing else knows which runtimes
// exist.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "apps/uts/tree.hpp"

namespace weft::uts {

/// Stack in bytes for the kernel threads of runtimes that nest a node on its parent's stack: T3L is 17,844
/// deep, and a waiting task may run others on top of itself. Address space only; what is touched is what is
/// measured.
inline constexpr std::size_t deep_stack_bytes = std::size_t{4} << 30;

/// Counts the whole tree with one task (thread, unit) a node on `workers` workers, the caller being one of
/// them where the runtime works so. Called once per process, on a stack of `deep_stack_bytes`.
using count_function = counts (*)(const tree&, int workers);

struct adapter {
  std::string name;        ///< on the command line
  std::string title;       ///< in tables
  std::string how;         ///< one sentence: how a node becomes a task here
  int order = 0;           ///< place in tables
  bool parallel = true;    ///< false: only one worker makes sense
  bool own_stacks = false; ///< true: call from the main thread, nodes have stacks of their own
  count_function count = nullptr;

  /// The title without what it says in brackets.
  [[nodiscard]] std::string short_title() const { return title.substr(0, title.find(" (")); }
};

/// All registered adapters in their order.
const std::vector<adapter>& adapters();

/// The adapter of that name, or null.
const adapter* find_adapter(const std::string& name);

struct adapter_registration {
  explicit adapter_registration(adapter a);
};

/// Result of the test that blocks many threads at once. Bytes are of the whole process, unit: bytes.
struct blocked_result {
  std::size_t threads = 0;
  std::size_t arrived = 0; ///< threads that were blocked at the same time
  std::size_t woken = 0;   ///< threads that ran to their end after the wake
  std::size_t resident_before = 0, resident_blocked = 0, resident_after = 0;
  std::size_t tables_before = 0, tables_blocked = 0, tables_after = 0; ///< page tables
  double seconds_to_block = 0, seconds_to_wake = 0;
};

/// What only Weft does in the demo; the functions are empty where Weft was not built in.
struct weft_extras {
  /// Blocks `threads` threads with `stack_bytes` of stack each, measures, wakes and joins them.
  std::function<blocked_result(std::size_t threads, std::size_t stack_bytes, int workers)> block_threads;
  /// Counts the tree while the trace is on; writes the timeline to `path`.
  std::function<counts(const tree&, int workers, const std::string& path)> trace_count;
};

weft_extras& extras();

} // namespace weft::uts
