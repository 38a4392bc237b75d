// SPDX-License-Identifier: MIT
// The only file that includes hwloc.
#include "weft/topology/machine.hpp"

#include "weft/base/assert.hpp"
#include "weft/base/first_use.hpp"
#include "weft/base/knob.hpp"
#include "weft/os/cgroup.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <exception>
#include <hwloc.h>
#include <memory>
#include <numeric>
#include <utility>

namespace weft::topology {
namespace {

bool is_machine(const char* description) {
  return machine::synthetic(description).size() != 0;
}

constinit base::text_knob synthetic_knob{
    "WEFT_SYNTHETIC_TOPOLOGY", nullptr, "a description that hwloc understands", &is_machine,
    "pretend to run on this machine (hwloc synthetic description); for tests"};
const base::knob_list machine_knobs{synthetic_knob};

struct destroy_topology {
  void operator()(hwloc_topology* topology) const noexcept { hwloc_topology_destroy(topology); }
};
using owned_topology = std::unique_ptr<hwloc_topology, destroy_topology>;

// The mask before Weft binds anything.
const os::cpu_list& first_mask() {
  static constinit base::first_use<os::cpu_list> mask;
  return mask.get([] {
    os::cpu_list cpus;
    if (os::current_affinity(cpus) != 0 || cpus.empty()) {
      cpus.assign(1, std::max(os::current_cpu(), 0));
    }
    return cpus;
  });
}

owned_topology load_by_hwloc(const char* synthetic) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) {
    return nullptr;
  }
  owned_topology topology{raw};
  if (synthetic != nullptr && hwloc_topology_set_synthetic(raw, synthetic) != 0) {
    return nullptr;
  }
  return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

// Plugins of hwloc's that are written in C++ may throw std::bad_alloc through it. It then keeps a lock for
// good, so it is not called again, and the machine is taken to be flat.
constinit std::atomic<bool> hwloc_is_lost{false};

owned_topology load(const char* synthetic) {
  if (hwloc_is_lost.load(std::memory_order_relaxed)) { // relaxed: a flag, by which nothing is published
    return nullptr;
  }
  try {
    return load_by_hwloc(synthetic);
  } catch (const std::exception&) {
    hwloc_is_lost.store(true, std::memory_order_relaxed);
    return nullptr;
  }
}

int ancestor(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t from) {
  const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, type, from);
  return found == nullptr ? -1 : static_cast<int>(found->logical_index);
}

// The outermost data cache that some, but perhaps not all, CPUs share: L3, else L2.
int shared_cache(hwloc_topology_t topology, hwloc_obj_t from) {
  const int third = ancestor(topology, HWLOC_OBJ_L3CACHE, from);
  return third >= 0 ? third : ancestor(topology, HWLOC_OBJ_L2CACHE, from);
}

// NUMA nodes hang beside the tree; the nearest one is a memory child of the closest ancestor that has any.
int numa_node(hwloc_obj_t from) {
  for (; from != nullptr; from = from->parent) {
    for (hwloc_obj_t memory = from->memory_first_child; memory != nullptr; memory = memory->next_sibling) {
      if (memory->type == HWLOC_OBJ_NUMANODE) {
        return static_cast<int>(memory->logical_index);
      }
    }
  }
  return -1;
}

} // namespace

struct machine::builder {
  // CPUs of the topology that are in `allowed` (null: all), in hwloc's logical order.
  static machine from(hwloc_topology_t topology, const os::cpu_list* allowed) {
    machine result;
    hwloc_obj_t unit = nullptr;
    while ((unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr) {
      const int cpu = static_cast<int>(unit->os_index);
      if (allowed == nullptr || std::binary_search(allowed->begin(), allowed->end(), cpu)) {
        result.places_.push_back({cpu, ancestor(topology, HWLOC_OBJ_CORE, unit), shared_cache(topology, unit),
                                  numa_node(unit), ancestor(topology, HWLOC_OBJ_PACKAGE, unit)});
      }
    }
    result.detailed_ = true;
    result.real_ = allowed != nullptr;
    return result;
  }

  static machine here() {
    const os::cpu_list& mask = first_mask();
    if (const char* description = synthetic_knob.get()) {
      return machine::synthetic(description);
    }
    if (const owned_topology topology = load(nullptr)) {
      machine result = from(topology.get(), &mask);
      // hwloc may know fewer CPUs than the mask has, e.g. when HWLOC_XMLFILE describes another machine.
      if (result.size() == mask.size()) {
        return result;
      }
    }
    machine result = flat(mask);
    result.real_ = true;
    return result;
  }
};

int worker_count_for(int mask_count, double quota) noexcept {
  const int most = std::max(mask_count, 1);
  if (!(quota > 0) || quota >= most) {
    return most;
  }
  return std::max(static_cast<int>(std::ceil(quota)), 1);
}

int default_worker_count() {
  return worker_count_for(static_cast<int>(first_mask().size()), os::cpu_quota());
}

const char* name_of(distance value) noexcept {
  static constexpr const char* names[distance_count] = {"same cpu",  "same core",    "same cache",
                                                        "same numa", "same package", "machine"};
  return names[static_cast<unsigned>(value)];
}

const machine& machine::here() {
  static constinit base::first_use<machine> instance;
  return instance.get([] { return builder::here(); });
}

machine machine::synthetic(const char* description) {
  const owned_topology topology = load(description);
  return topology == nullptr ? machine{} : builder::from(topology.get(), nullptr);
}

machine machine::flat(const os::cpu_list& cpus) {
  machine result;
  for (const int cpu : cpus) {
    result.places_.push_back({cpu, cpu, -1, -1, -1});
  }
  return result;
}

unsigned machine::core_count() const noexcept {
  unsigned count = 0;
  for (unsigned rank = 0; rank < size(); ++rank) {
    // Topology order keeps the CPUs of a core together.
    count += rank == 0 || between(rank - 1, rank) > distance::same_core ? 1 : 0;
  }
  return count;
}

std::vector<unsigned> machine::spread(unsigned workers) const {
  std::vector<unsigned> result;
  if (size() == 0) {
    return result;
  }
  // Sort ranks by their position within their core: all first hardware threads, then all second ones.
  std::vector<unsigned> position(size(), 0);
  for (unsigned rank = 1; rank < size(); ++rank) {
    position[rank] = between(rank - 1, rank) <= distance::same_core ? position[rank - 1] + 1 : 0;
  }
  std::vector<unsigned> order(size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](unsigned rank) { return std::pair{position[rank], rank}; });
  for (unsigned worker = 0; worker < workers; worker += size()) {
    const unsigned take = std::min(workers - worker, size());
    const auto from = static_cast<std::ptrdiff_t>(result.size());
    result.insert(result.end(), order.begin(), order.begin() + take);
    std::sort(result.begin() + from, result.end());
  }
  return result;
}

distance machine::between(unsigned rank, unsigned other) const noexcept {
  if (rank == other) {
    return distance::same_cpu;
  }
  const place& a = places_[rank];
  const place& b = places_[other];
  const auto same = [](int left, int right) { return left >= 0 && left == right; };
  if (same(a.core, b.core)) {
    return distance::same_core;
  }
  if (same(a.cache, b.cache)) {
    return distance::same_cache;
  }
  if (same(a.numa, b.numa)) {
    return distance::same_numa;
  }
  return same(a.package, b.package) ? distance::same_package : distance::machine;
}

std::vector<std::vector<unsigned>> machine::groups(unsigned rank) const {
  std::vector<std::vector<unsigned>> result(distance_count);
  for (unsigned other = 0; other < size(); ++other) {
    result[static_cast<unsigned>(between(rank, other))].push_back(other);
  }
  return result;
}

std::vector<std::vector<unsigned>> machine::victims(const std::vector<unsigned>& ranks, unsigned self) const {
  std::vector<std::vector<unsigned>> result(distance_count);
  for (unsigned other = 0; other < ranks.size(); ++other) {
    if (other != self) {
      result[static_cast<unsigned>(between(ranks[self], ranks[other]))].push_back(other);
    }
  }
  return result;
}

int machine::bind(unsigned rank) const {
  if (!real_) {
    return ENOTSUP;
  }
  return rank < size() ? os::set_affinity({places_[rank].cpu}) : EINVAL;
}

int machine::unbind() const {
  if (!real_) {
    return ENOTSUP;
  }
  os::cpu_list cpus;
  for (const place& each : places_) {
    cpus.push_back(each.cpu);
  }
  return os::set_affinity(cpus);
}

} // namespace weft::topology
