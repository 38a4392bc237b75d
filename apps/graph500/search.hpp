// SPDX-License-Identifier: MIT
// A breadth-first search by visits over the ranks of an MPI job. A rank has a part of the vertices, and the
// tree's parents of these. A visit is a thread: of vertex v from u, in the rank that has u. If the same rank
// has v, the visit enters it into the tree; else it goes into the buffer of the rank that has. The visit that
// fills a buffer sends it and waits until MPI is through with it. In each rank a thread receives what others
// send.
//
// The end of a level. When all its visits have ended, a rank sends what is left in its buffers. A reduction
// adds up for each rank how many messages there are for it: its receiver ends when it has had so many. So
// nothing is on its way when the ranks add up how many vertices they have found: none is the end.
#pragma once

#include <mpi.h>
#include <weft/weft.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/graph500/tree.hpp"
#include "bench/graph500/visits.hpp"

namespace graph500 {

using weft::bench::graph500::division;
using weft::bench::graph500::edge;
using weft::bench::graph500::frontier;
using weft::bench::graph500::graph;
using weft::bench::graph500::nobody;
using weft::bench::graph500::parents;
using weft::bench::graph500::take;
using weft::bench::graph500::vertex;

/// What a rank has done; the sum of all ranks' is the job's.
struct search_facts {
  std::uint64_t visits = 0;   ///< threads
  std::uint64_t promoted = 0; ///< of these: found a buffer's lock taken, or waited in MPI
  std::uint64_t messages = 0; ///< with visits, to other ranks
};

/// One rank's side; all ranks call the same functions in the same order.
class search {
 public:
  /// `part`: the rank's; it stays. A buffer has room for so many visits. `remembers`: what it has sent.
  search(const graph& part, std::size_t buffer_length, bool remembers);
  ~search();
  search(const search&) = delete;
  search& operator=(const search&) = delete;

  /// *Switches*: never.
  void start(vertex root);
  /// Before the visits of a level. False: no rank has found anything, and the tree is complete. *Contexts*:
  /// thread. *Switches*: may.
  bool begin_level();
  /// As frontier::create_visits(); the thread calls visit(u, v).
  template <class Create, class Join>
  void create_visits(Create create, Join join) {
    frontier_.create_visits(part_, create, join);
  }
  /// From a vertex of this rank's to any. *Contexts*: thread. *Switches*: may.
  void visit(vertex u, vertex v) {
    if (division_.owner(v) == division_.rank) {
      enter(u, v);
    } else if (sent_.empty() || improve(sent_[v], u) != unchanged) {
      put_into_buffer(u, v);
    }
  }
  /// After all visits of the level. *Contexts*: thread. *Switches*: may.
  void end_level();

  /// The parents of this rank's vertices, in their order.
  [[nodiscard]] parents own_parents() const;
  /// Since the last call; between two searches.
  search_facts take_facts();

 private:
  // Ownership: `visits` is of whoever has `filling`.
  struct buffer {
    alignas(64) weft::mutex filling;
    std::vector<edge> visits;
    std::atomic<std::uint64_t> sent{0}; // messages of this level
  };
  // A level and a parent in one word: the smaller is the better one.
  using entry = std::atomic<std::uint64_t>;
  static constexpr std::uint64_t unreached = ~std::uint64_t{0}, unchanged = unreached - 1;

  // Any number of threads at a time. What was there, or `unchanged`, if that is no worse. Relaxed: who reads
  // what they leave has joined them.
  std::uint64_t improve(entry& at, vertex u) const {
    const std::uint64_t mine = std::uint64_t{depth_} << 32 | u;
    std::uint64_t there = at.load(std::memory_order_relaxed);
    while (mine < there) {
      if (at.compare_exchange_weak(there, mine, std::memory_order_relaxed)) {
        return there;
      }
    }
    return unchanged;
  }
  void enter(vertex u, vertex v);
  void put_into_buffer(vertex u, vertex v);
  void deliver(std::size_t rank, const std::vector<edge>& visits, bool& promoted);
  void receive();
  std::uint64_t messages_for_this_rank();
  void go_on_from_found();

  const graph& part_;
  const division division_;
  const std::size_t buffer_length_;
  std::vector<buffer> buffers_; // of each rank
  std::vector<entry> entries_;  // of each vertex of this rank's
  std::vector<entry> sent_;     // of each vertex of the graph, if it remembers
  unsigned depth_ = 0;          // of the vertices that are being visited
  frontier frontier_;
  std::vector<vertex> found_; // the next frontier
  std::atomic<std::size_t> found_count_{0};
  bool is_complete_ = false;
  weft::thread receiver_;
  std::atomic<std::uint64_t> promoted_{0};
  search_facts facts_;
};

} // namespace graph500
