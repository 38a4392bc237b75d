// SPDX-License-Identifier: MIT
// How the ranks of an MPI job share one tree. A rank without work asks another one, the victim, and waits
// for its answer: nodes, each with all below it, or none. In the victim a thread receives what is asked;
// visits then put aside nodes that are worth it, as they begin, and the one that has put aside enough sends
// them. So no rank waits for one that works, but who asks; and all of these waits are threads of Weft that
// wait in blocking MPI calls.
//
// The end. Work is in ranks that are busy and in answers on their way, nowhere else. A rank that has nothing
// to do enters a barrier, and asks on while that is not complete. Then all ranks add up how many answers with
// nodes were sent and received, and whether a rank has had work since it entered. If none had, all were
// without work at the moment at which the last one entered; if as many answers were received as sent, none
// was on its way then. Else the same again.
#pragma once

#include <mpi.h>
#include <weft/weft.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "apps/uts/tree.hpp"

namespace weft::uts {

/// What a rank has asked for and got.
struct sharing_facts {
  std::uint64_t asked = 0, got = 0, got_nodes = 0; ///< questions, answers with nodes, nodes in them
  double waited = 0;                               ///< seconds in questions that brought nodes
};

/// One count of one tree. *Ownership*: all ranks make one at the same time. Its visits call gives().
class shared_work {
 public:
  explicit shared_work(const tree& in);
  shared_work(const shared_work&) = delete;
  shared_work& operator=(const shared_work&) = delete;

  /// Whether `n` has been put aside for another rank. *Contexts*: thread. *Switches*: may.
  bool gives(const node& n) { return is_wanted_.load(std::memory_order_relaxed) && put_aside(n); }

  /// All that this rank has to do, `mine` first. Returns when no rank has work. `visit(nodes)` counts what
  /// they hold but what gives() takes. *Contexts*: thread. *Switches*: may.
  template <class Visit>
  void run(std::vector<node> mine, Visit visit) {
    is_idle_ = mine.empty(); // before anybody is served
    weft::thread serves([this] { serve(); });
    for (bool ended = false; !ended;) {
      while (!mine.empty()) {
        visit(mine);
        mine = what_is_left();
      }
      ended = has_ended();
      if (!ended) {
        mine = ask();
      }
    }
    stop_serving();
    serves.join();
  }

  [[nodiscard]] const sharing_facts& facts() const noexcept { return facts_; }

 private:
  enum class step { none, barrier, sum };

  bool put_aside(const node& n);
  std::vector<node> what_is_left();
  std::vector<node> ask();
  bool has_ended();
  void serve();
  void stop_serving();
  void hand_over(int asker, const std::vector<node>& nodes);
  void take_up_work();

  const tree& tree_;
  int rank_ = 0, ranks_ = 1, victim_ = 0;
  std::atomic<bool> is_wanted_{false}; // somebody waits for nodes: a hint for visits

  weft::mutex lock_; // of what follows
  bool is_idle_ = true;
  std::deque<int> askers_; // empty while the rank is idle, which answers at once
  std::vector<node> aside_;
  std::uint64_t aside_size_ = 0;
  std::uint64_t sent_ = 0; // answers with nodes

  // Of the thread that calls run().
  sharing_facts facts_;
  step step_ = step::none;
  bool had_work_ = false; // since the barrier was entered
  MPI_Request pending_ = MPI_REQUEST_NULL;
  std::int64_t own_sums_[2] = {}, sums_[2] = {};
};

} // namespace weft::uts
