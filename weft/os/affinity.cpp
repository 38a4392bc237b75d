// SPDX-License-Identifier: MIT
#include "weft/os/affinity.hpp"

#include <cerrno>
#include <memory>

namespace weft::os {
namespace {

struct free_set {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using owned_set = std::unique_ptr<cpu_set_t, free_set>;

} // namespace

int current_affinity(cpu_list& result) {
  result.clear();
  // The kernel says EINVAL while the buffer is smaller than its own mask.
  for (int width = 1024; width <= 1 << 18; width *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(width);
    owned_set set{CPU_ALLOC(width)};
    if (set == nullptr) {
      return ENOMEM;
    }
    CPU_ZERO_S(bytes, set.get());
    if (::sched_getaffinity(0, bytes, set.get()) == 0) {
      for (int cpu = 0; cpu < width; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, set.get())) {
          result.push_back(cpu);
        }
      }
      return 0;
    }
    if (errno != EINVAL) {
      return errno;
    }
  }
  return EINVAL;
}

int set_affinity(const cpu_list& wanted) {
  if (wanted.empty()) {
    return EINVAL;
  }
  int width = 1024;
  for (const int cpu : wanted) {
    if (cpu < 0) {
      return EINVAL;
    }
    width = cpu >= width ? cpu + 1 : width;
  }
  const std::size_t bytes = CPU_ALLOC_SIZE(width);
  owned_set set{CPU_ALLOC(width)};
  if (set == nullptr) {
    return ENOMEM;
  }
  CPU_ZERO_S(bytes, set.get());
  for (const int cpu : wanted) {
    CPU_SET_S(cpu, bytes, set.get());
  }
  return ::sched_setaffinity(0, bytes, set.get()) == 0 ? 0 : errno;
}

int affinity_count() {
  cpu_list cpus;
  return current_affinity(cpus) == 0 && !cpus.empty() ? static_cast<int>(cpus.size()) : 1;
}

} // namespace weft::os
