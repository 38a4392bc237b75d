// SPDX-License-Identifier: MIT
// The machine as schedulers see it: which CPUs this process may use, in an order where neighbours are near,
// and how far apart two of them are. hwloc stays behind this header, and is asked only when an order, a
// distance or a binding is wanted: default_worker_count() needs none of it.
#pragma once

#include "weft/os/affinity.hpp"

#include <cstdint>
#include <vector>

namespace weft::topology {

// min(CPUs of the affinity mask, control-group quota rounded up), at least 1. The mask is that of the first
// caller of this or of machine::here(), which must not be bound yet; the runtime asks before it starts
// workers. Contexts: thread, foreign kernel thread. Switches: never. Errors: none; throws std::bad_alloc.
int default_worker_count();

// The rule alone: `quota` in CPUs, 0 for none.
int worker_count_for(int mask_count, double quota) noexcept;

// What two CPUs have in common, nearest first. Where a NUMA node spans packages, or one package holds
// several, the first that fits counts.
enum class distance : std::uint8_t { same_cpu, same_core, same_cache, same_numa, same_package, machine };
inline constexpr unsigned distance_count = 6;
const char* name_of(distance value) noexcept;

// Immutable once built, so any kernel thread may read it. CPUs are named by rank: 0 .. size()-1 in topology
// order.
class machine {
 public:
  // The machine we run on, within the affinity mask of the first caller; built at the first call, about 10
  // ms. WEFT_SYNTHETIC_TOPOLOGY replaces it. If hwloc fails, every CPU is a core of its own and all are
  // equally far. Contexts: thread, foreign kernel thread. Switches: never. Errors: none; throws
  // std::bad_alloc.
  static const machine& here();

  // A made-up machine from an hwloc synthetic description, e.g. "pack:2 numa:1 l3:1 core:2 pu:2"; all its
  // CPUs count as usable, none can be bound to. An empty one (size() == 0) if the text is not understood.
  static machine synthetic(const char* description);

  // What here() falls back to.
  static machine flat(const os::cpu_list& cpus);

  unsigned size() const noexcept { return static_cast<unsigned>(places_.size()); }
  // False if hwloc had nothing to say.
  bool detailed() const noexcept { return detailed_; }
  // The OS's number of a CPU.
  int cpu(unsigned rank) const noexcept { return places_[rank].cpu; }
  unsigned core_count() const noexcept;

  // Ranks for `workers` workers: a core each while there are cores, then their second hardware threads, and
  // so on; in topology order. More workers than CPUs start again from the front.
  std::vector<unsigned> spread(unsigned workers) const;

  distance between(unsigned rank, unsigned other) const noexcept;

  // The CPUs seen from `rank`: group d holds the ranks at distance d, nearest group first; group 0 is `rank`
  // itself. A hierarchical thief tries group 1, then 2, ... Groups may be empty.
  std::vector<std::vector<unsigned>> groups(unsigned rank) const;

  // The same among `ranks`, as positions in that list: `ranks` says where each worker sits (see spread()),
  // the result which workers are near worker `self`, itself excluded.
  std::vector<std::vector<unsigned>> victims(const std::vector<unsigned>& ranks, unsigned self) const;

  // Binds the calling kernel thread to one CPU. Errors: EINVAL (rank, or the CPU left our cpuset), ENOTSUP
  // (synthetic), EPERM. Contexts: worker or foreign kernel thread. Switches: never.
  int bind(unsigned rank) const;
  // Gives the calling kernel thread back all CPUs of this machine. Errors: as bind().
  int unbind() const;

 private:
  struct place {
    int cpu;
    int core, cache, numa, package; // hwloc's logical numbers, -1 if there is no such object
  };
  struct builder;

  std::vector<place> places_;
  bool detailed_ = false;
  bool real_ = false;
};

} // namespace weft::topology
