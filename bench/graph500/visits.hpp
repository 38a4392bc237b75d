// SPDX-License-Identifier: MIT
// What searches by visits share, in one process (search.hpp) and over ranks (apps/graph500): the frontier,
// from which creators make threads; the lock of a buffer; the name of a form.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "bench/graph500/graph.hpp"

namespace weft::bench::graph500 {

// How many threads a creator has alive at a time; as in kmeans.
inline constexpr std::size_t batch = 8192;
// How many vertices of the frontier a creator takes at a time: some have very many neighbours.
inline constexpr std::size_t share = 16;

inline constexpr std::array<std::size_t, 4> buffer_lengths = {1, 16, 256, 4096};

// <technique>.<B>, B visits in a buffer. Throws std::logic_error if `name` is not of that kind.
struct form {
  explicit form(const std::string& name)
      : technique(name.substr(0, name.rfind('.'))),
        buffer_length(std::stoul(name.substr(technique.size() + 1))) {}
  std::string technique;
  std::size_t buffer_length;
};

// The vertices whose neighbours a level visits.
class frontier {
 public:
  // Between two levels.
  void assign(std::vector<vertex> vertices) {
    vertices_ = std::move(vertices);
    taken_.store(0, std::memory_order_relaxed); // relaxed: creators begin later
  }
  [[nodiscard]] bool empty() const { return vertices_.empty(); }

  // A creator's part of the visits of a level: create(j, u, v) makes the j-th thread of a batch, which visits
  // v from u, and join(j) joins it. Any number of creators at a time.
  template <class Create, class Join>
  void create_visits(const graph& g, Create create, Join join) {
    std::size_t alive = 0;
    const auto join_all = [&] {
      for (std::size_t j = 0; j < alive; ++j)
        join(j);
      alive = 0;
    };
    for (;;) {
      const std::size_t first = taken_.fetch_add(share, std::memory_order_relaxed);
      if (first >= vertices_.size())
        break;
      for (std::size_t k = first; k < std::min(first + share, vertices_.size()); ++k) {
        for (const vertex v : g.neighbours(vertices_[k])) {
          create(alive, vertices_[k], v);
          if (++alive == batch)
            join_all();
        }
      }
    }
    join_all();
  }

 private:
  std::vector<vertex> vertices_;
  std::atomic<std::size_t> taken_{0};
};

// SWITCH: yield() may resume on another worker. `Lock` has try_lock(). `promoted` becomes true if it yielded.
template <class Lock, class Yield>
void take(Lock& lock, Yield yield, bool& promoted) {
  while (!lock.try_lock()) [[unlikely]] {
    promoted = true;
    yield();
  }
}

} // namespace weft::bench::graph500
