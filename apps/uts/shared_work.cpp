// SPDX-License-Identifier: MIT
#include "apps/uts/shared_work.hpp"

#include <chrono>
#include <cstddef>
#include <mutex>
#include <utility>

namespace weft::uts {
namespace {

// Smaller parts of a geometric tree are sooner visited than sent; an answer holds as many as are worth some
// milliseconds.
constexpr std::uint64_t least_size = 256, enough = 65536;
constexpr std::size_t most_nodes = 512;

constexpr int question_tag = 1, answer_tag = 2;
enum question : int { wants_work, end_of_service };

constexpr int words_of_node = 6; // a node is sent as these
static_assert(sizeof(node) == words_of_node * sizeof(std::uint32_t));

void tell(int to, question q) {
  const int sent = q;
  MPI_Send(&sent, 1, MPI_INT, to, question_tag, MPI_COMM_WORLD);
}

} // namespace

shared_work::shared_work(const tree& in) : tree_(in) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  victim_ = rank_;
  aside_.reserve(most_nodes);
}

// --- the victim ---

bool shared_work::put_aside(const node& n) {
  const std::uint64_t size = tree_.likely_size(n);
  if (size < least_size) {
    return false;
  }
  std::vector<node> full;
  int asker = 0;
  {
    const std::scoped_lock held(lock_); // SWITCH: may resume on another worker
    if (askers_.empty()) {
      return false;
    }
    aside_.push_back(n);
    aside_size_ += size;
    if (aside_size_ < enough && aside_.size() < most_nodes) {
      return true;
    }
    full.reserve(most_nodes);
    full.swap(aside_);
    aside_size_ = 0;
    asker = askers_.front();
    askers_.pop_front();
    is_wanted_.store(!askers_.empty(), std::memory_order_relaxed); // relaxed: a hint
    ++sent_;
  }
  hand_over(asker, full); // SWITCH: may resume on another worker
  return true;
}

// After all visits: what was put aside and not sent is shared with the first who asks; without any, nobody
// gets anything, and the rank is idle.
std::vector<node> shared_work::what_is_left() {
  std::vector<node> mine, others;
  std::deque<int> refused;
  int asker = 0;
  {
    const std::scoped_lock held(lock_);
    for (std::size_t i = 0; i < aside_.size(); ++i) {
      (i % 2 == 0 ? mine : others).push_back(aside_[i]);
    }
    aside_.clear();
    aside_size_ = 0;
    if (!others.empty()) {
      asker = askers_.front();
      askers_.pop_front();
      ++sent_;
    }
    is_idle_ = mine.empty();
    if (is_idle_) {
      refused.swap(askers_);
    }
    is_wanted_.store(!askers_.empty(), std::memory_order_relaxed); // relaxed: a hint
  }
  if (!others.empty()) {
    hand_over(asker, others);
  }
  for (const int each : refused) {
    hand_over(each, {});
  }
  return mine;
}

void shared_work::hand_over(int asker, const std::vector<node>& nodes) {
  MPI_Send(nodes.data(), static_cast<int>(nodes.size()) * words_of_node, MPI_UINT32_T, asker, answer_tag,
           MPI_COMM_WORLD);
}

// A thread of its own: it waits for questions while the others work.
void shared_work::serve() {
  for (;;) {
    int asked = wants_work;
    MPI_Status from;
    MPI_Recv(&asked, 1, MPI_INT, MPI_ANY_SOURCE, question_tag, MPI_COMM_WORLD, &from);
    if (asked == end_of_service) {
      return;
    }
    bool is_refused = false;
    {
      const std::scoped_lock held(lock_);
      is_refused = is_idle_;
      if (!is_refused) {
        askers_.push_back(from.MPI_SOURCE);
        is_wanted_.store(true, std::memory_order_relaxed); // relaxed: a hint
      }
    }
    if (is_refused) {
      hand_over(from.MPI_SOURCE, {});
    }
  }
}

// Nobody asks once all are here: each has had its answers.
void shared_work::stop_serving() {
  MPI_Barrier(MPI_COMM_WORLD);
  tell(rank_, end_of_service);
}

// --- the rank without work ---

void shared_work::take_up_work() {
  had_work_ = true;
  const std::scoped_lock held(lock_);
  is_idle_ = false;
}

// Of one rank after the other.
std::vector<node> shared_work::ask() {
  if (ranks_ == 1) {
    return {};
  }
  do {
    victim_ = (victim_ + 1) % ranks_;
  } while (victim_ == rank_);
  const double begin = MPI_Wtime();
  std::vector<node> nodes(most_nodes);
  MPI_Status status;
  int words = 0;
  ++facts_.asked;
  tell(victim_, wants_work);
  MPI_Recv(nodes.data(), static_cast<int>(most_nodes) * words_of_node, MPI_UINT32_T, victim_, answer_tag,
           MPI_COMM_WORLD, &status); // SWITCH: may resume on another worker
  MPI_Get_count(&status, MPI_UINT32_T, &words);
  nodes.resize(static_cast<std::size_t>(words) / words_of_node);
  if (!nodes.empty()) {
    ++facts_.got;
    facts_.got_nodes += nodes.size();
    facts_.waited += MPI_Wtime() - begin;
    take_up_work();
  } else if (victim_ == (rank_ + ranks_ - 1) % ranks_) { // nobody has anything to give
    weft::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return nodes;
}

// One step at a time of what the head of the header says, by a rank without work. It waits for nobody.
bool shared_work::has_ended() {
  int is_complete = 1;
  if (step_ != step::none) {
    MPI_Test(&pending_, &is_complete, MPI_STATUS_IGNORE); // SWITCH: may resume on another worker
  }
  if (is_complete == 0) {
    return false;
  }
  if (step_ == step::barrier) {
    own_sums_[0] = had_work_ ? 1 : 0;
    own_sums_[1] = static_cast<std::int64_t>(sent_) - static_cast<std::int64_t>(facts_.got);
    MPI_Iallreduce(own_sums_, sums_, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &pending_);
    step_ = step::sum;
    return false;
  }
  if (step_ == step::sum && sums_[0] == 0 && sums_[1] == 0) {
    return true;
  }
  had_work_ = false;
  MPI_Ibarrier(MPI_COMM_WORLD, &pending_);
  step_ = step::barrier;
  return false;
}

} // namespace weft::uts
