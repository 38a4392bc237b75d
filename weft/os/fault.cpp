// SPDX-License-Identifier: MIT
#include "weft/os/fault.hpp"

namespace weft::os {
namespace {

// Every field is its own atomic and relaxed: a test arms a site before it starts what it wants to see fail,
// and reads the counts after that has ended.
struct site_state {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> first{~std::uint64_t{0}}; // the first and last call to fail, counted from 1
  std::atomic<std::uint64_t> last{0};
  std::atomic<std::uint64_t> stride{1}; // of those between
  std::atomic<int> error{0};
};

constinit site_state sites[fault_site_count];

site_state& at(fault_site site) noexcept {
  return sites[static_cast<unsigned>(site)];
}

void arm(fault_site site, std::uint64_t first, std::uint64_t last, int error,
         std::uint64_t stride = 1) noexcept {
  site_state& state = at(site);
  state.calls.store(0, std::memory_order_relaxed);
  state.hits.store(0, std::memory_order_relaxed);
  state.first.store(first, std::memory_order_relaxed);
  state.last.store(last, std::memory_order_relaxed);
  state.stride.store(stride, std::memory_order_relaxed);
  state.error.store(error, std::memory_order_relaxed);
  fault_armed.store(true, std::memory_order_relaxed);
}

} // namespace

constinit std::atomic<bool> fault_armed{false};

int fault_now(fault_site site) noexcept {
  site_state& state = at(site);
  const std::uint64_t call = state.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::uint64_t first = state.first.load(std::memory_order_relaxed);
  if (call < first || call > state.last.load(std::memory_order_relaxed) ||
      (call - first) % state.stride.load(std::memory_order_relaxed) != 0) {
    return 0;
  }
  state.hits.fetch_add(1, std::memory_order_relaxed);
  return state.error.load(std::memory_order_relaxed);
}

void fail_nth(fault_site site, std::uint64_t n, int error) noexcept {
  arm(site, n, n, error);
}

void fail_after(fault_site site, std::uint64_t n, int error) noexcept {
  arm(site, n + 1, ~std::uint64_t{0}, error);
}

void fail_every(fault_site site, std::uint64_t n, int error) noexcept {
  arm(site, n, ~std::uint64_t{0}, error, n);
}

void count_calls(fault_site site) noexcept {
  arm(site, ~std::uint64_t{0}, 0, 0);
}

void disarm_faults() noexcept {
  fault_armed.store(false, std::memory_order_relaxed);
  for (site_state& state : sites) {
    state.first.store(~std::uint64_t{0}, std::memory_order_relaxed);
    state.last.store(0, std::memory_order_relaxed);
  }
}

std::uint64_t fault_calls(fault_site site) noexcept {
  return at(site).calls.load(std::memory_order_relaxed);
}

std::uint64_t fault_hits(fault_site site) noexcept {
  return at(site).hits.load(std::memory_order_relaxed);
}

} // namespace weft::os
