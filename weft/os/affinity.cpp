// SPDX-License-Identifier: MIT
#include "weft/os/affinity.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>

namespace weft::os {
namespace {

struct free_set {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using owned_set = std::unique_ptr<cpu_set_t, free_set>;

// Calls `with(bytes, set)` with a set for CPU numbers below `width`; ENOMEM if there is none.
template <class With>
int with_set(int width, With with) {
  const std::size_t bytes = CPU_ALLOC_SIZE(width);
  const owned_set set{CPU_ALLOC(width)};
  if (set == nullptr) {
    return ENOMEM;
  }
  CPU_ZERO_S(bytes, set.get());
  return with(bytes, set.get());
}

// `get(bytes, set)` returns an errno value. The kernel's mask may be wider than the first try.
template <class Get>
int read_set(cpu_list& result, Get get) {
  result.clear();
  int error = EINVAL;
  for (int width = 1024; width <= 1 << 18 && error == EINVAL; width *= 2) {
    error = with_set(width, [&](std::size_t bytes, cpu_set_t* set) {
      const int failed = get(bytes, set);
      for (int cpu = 0; failed == 0 && cpu < width; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, set)) {
          result.push_back(cpu);
        }
      }
      return failed;
    });
  }
  return error;
}

template <class Set>
int write_set(const cpu_list& wanted, Set put) {
  if (wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [](int cpu) { return cpu < 0; })) {
    return EINVAL;
  }
  const int width = std::max(1024, *std::max_element(wanted.begin(), wanted.end()) + 1);
  return with_set(width, [&](std::size_t bytes, cpu_set_t* set) {
    for (const int cpu : wanted) {
      CPU_SET_S(cpu, bytes, set);
    }
    return put(bytes, set);
  });
}

} // namespace

int current_affinity(cpu_list& result) {
  return read_set(result, [](std::size_t bytes, cpu_set_t* set) {
    return ::sched_getaffinity(0, bytes, set) == 0 ? 0 : errno;
  });
}

int affinity_of(pthread_t thread, cpu_list& result) {
  return read_set(result, [thread](std::size_t bytes, cpu_set_t* set) {
    return ::pthread_getaffinity_np(thread, bytes, set);
  });
}

int set_affinity(const cpu_list& wanted) {
  return write_set(wanted, [](std::size_t bytes, cpu_set_t* set) {
    return ::sched_setaffinity(0, bytes, set) == 0 ? 0 : errno;
  });
}

int set_affinity(pthread_t thread, const cpu_list& wanted) {
  return write_set(wanted, [thread](std::size_t bytes, cpu_set_t* set) {
    return ::pthread_setaffinity_np(thread, bytes, set);
  });
}

int affinity_count() {
  cpu_list cpus;
  return current_affinity(cpus) == 0 && !cpus.empty() ? static_cast<int>(cpus.size()) : 1;
}

} // namespace weft::os
