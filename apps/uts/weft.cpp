// SPDX-License-Identifier: MIT
// Weft: one forked thread a node (forked_visits.hpp). Also what only Weft does in the demo: the blocked
// threads and the trace.

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

#include "apps/uts/adapter.hpp"
#include "apps/uts/forked_visits.hpp"
#include "apps/uts/machine.hpp"

namespace weft::uts {
namespace {

class started_runtime {
 public:
  explicit started_runtime(int workers) {
    weft::runtime::options o;
    o.workers = static_cast<unsigned>(workers);
    weft::runtime::start(o);
  }
  started_runtime(const started_runtime&) = delete;
  started_runtime& operator=(const started_runtime&) = delete;
  ~started_runtime() { weft::runtime::stop(); }
};

counts count(const tree& t, int workers) {
  const started_runtime running(workers);
  return forked_visits(t, nothing_is_given_away()).visit(t.root());
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

blocked_result block_threads(std::size_t threads, std::size_t stack_bytes, int workers) {
  const started_runtime running(workers);
  blocked_result r;
  r.threads = threads;
  std::atomic<std::size_t> arrived{0};
  std::atomic<std::size_t> woken{0};
  weft::latch all_arrived(static_cast<std::ptrdiff_t>(threads));
  weft::latch go(1);
  weft::thread_attributes attributes;
  attributes.stack_size = stack_bytes;

  r.resident_before = status_bytes("VmRSS");
  r.tables_before = status_bytes("VmPTE");
  auto begin = std::chrono::steady_clock::now();
  std::vector<weft::thread> all;
  all.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) {
    all.emplace_back(attributes, [&] {
      arrived.fetch_add(1, std::memory_order_relaxed);
      all_arrived.count_down();
      go.wait();
      woken.fetch_add(1, std::memory_order_relaxed);
    });
  }
  all_arrived.wait();
  r.seconds_to_block = seconds_since(begin);
  r.arrived = arrived.load(std::memory_order_relaxed);
  r.resident_blocked = status_bytes("VmRSS");
  r.tables_blocked = status_bytes("VmPTE");

  begin = std::chrono::steady_clock::now();
  go.count_down();
  for (weft::thread& t : all) {
    t.join();
  }
  r.seconds_to_wake = seconds_since(begin);
  r.woken = woken.load(std::memory_order_relaxed);
  all.clear();
  all.shrink_to_fit();
  r.resident_after = status_bytes("VmRSS");
  r.tables_after = status_bytes("VmPTE");
  return r;
}

counts trace_count(const tree& t, int workers, const std::string& path) {
  const started_runtime running(workers);
  weft::trace::start(path);
  const counts found = forked_visits(t, nothing_is_given_away()).visit(t.root());
  weft::trace::stop();
  return found;
}

const adapter_registration registration({"weft", "Weft", "a forked thread a node, joined by its parent", 40,
                                         true, true, count});
const bool extras_registered = [] {
  extras().block_threads = block_threads;
  extras().trace_count = trace_count;
  return true;
}();

} // namespace
} // namespace weft::uts
