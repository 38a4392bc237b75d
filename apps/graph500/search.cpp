// SPDX-License-Identifier: MIT
#include "apps/graph500/search.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/mpi.hpp>

namespace graph500 {
namespace {

using weft::mpi::check;

// The note is to oneself: how many messages with visits there are in the level.
constexpr int visits_tag = 1, note_tag = 2;
constexpr int words_of_visit = 2; // a visit is sent as these
static_assert(sizeof(edge) == words_of_visit * sizeof(std::uint32_t));

MPI_Request begin_sending(const std::vector<edge>& visits, std::size_t rank) {
  MPI_Request sent = MPI_REQUEST_NULL;
  check(MPI_Isend(visits.data(), static_cast<int>(visits.size()) * words_of_visit, MPI_UINT32_T,
                  static_cast<int>(rank), visits_tag, MPI_COMM_WORLD, &sent));
  return sent;
}

} // namespace

search::search(const graph& part, std::size_t buffer_length, bool remembers)
    : part_(part), division_(part.part()), buffer_length_(buffer_length), buffers_(division_.ranks),
      entries_(division_.count(part.vertices())), sent_(remembers ? part.vertices() : 0),
      found_(entries_.size()) {}

search::~search() = default;

void search::start(vertex root) {
  for (std::vector<entry>* const all : {&entries_, &sent_}) {
    for (entry& e : *all) {
      e.store(unreached, std::memory_order_relaxed); // relaxed: nobody else is there
    }
  }
  depth_ = 0;
  is_complete_ = false;
  frontier_.assign({});
  if (division_.owner(root) == division_.rank) {
    enter(root, root);
    go_on_from_found();
  }
}

bool search::begin_level() {
  if (is_complete_) {
    return false;
  }
  ++depth_;
  receiver_ = weft::thread([this] { receive(); });
  return true;
}

// Any number of threads at a time.
void search::enter(vertex u, vertex v) {
  if (improve(entries_[division_.place(v)], u) == unreached) {
    found_[found_count_.fetch_add(1, std::memory_order_relaxed)] = v; // relaxed: read when all are joined
  }
}

void search::put_into_buffer(vertex u, vertex v) {
  const vertex rank = division_.owner(v);
  buffer& to = buffers_[rank];
  bool promoted = false;
  take(to.filling, [] { weft::this_thread::yield(); }, promoted); // SWITCH: may resume on another worker
  to.visits.push_back({u, v});
  if (to.visits.size() >= buffer_length_) [[unlikely]] {
    std::vector<edge> full;
    full.reserve(buffer_length_);
    full.swap(to.visits);
    to.filling.unlock();
    deliver(rank, full, promoted); // SWITCH: may resume on another worker
  } else {
    to.filling.unlock();
  }
  if (promoted) [[unlikely]] {
    promoted_.fetch_add(1, std::memory_order_relaxed);
  }
}

// Others visit meanwhile, where MPI is not through at once.
void search::deliver(std::size_t rank, const std::vector<edge>& visits, bool& promoted) {
  MPI_Request sent = begin_sending(visits, rank);
  buffers_[rank].sent.fetch_add(1, std::memory_order_relaxed);
  int is_through = 0;
  check(MPI_Test(&sent, &is_through, MPI_STATUS_IGNORE)); // SWITCH: may resume on another worker
  if (is_through == 0) {
    promoted = true;
    weft::mpi::wait(sent); // SWITCH: may resume on another worker
  }
}

// A thread of its own in each level.
void search::receive() {
  constexpr std::uint64_t unknown = ~std::uint64_t{0};
  std::vector<edge> visits(buffer_length_);
  for (std::uint64_t got = 0, all = unknown; got != all;) {
    MPI_Request next = MPI_REQUEST_NULL;
    check(MPI_Irecv(visits.data(), static_cast<int>(visits.size()) * words_of_visit, MPI_UINT32_T,
                    MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &next));
    const MPI_Status from = weft::mpi::wait(next); // SWITCH: may resume on another worker
    if (from.MPI_TAG == note_tag) {
      std::memcpy(&all, visits.data(), sizeof all);
      continue;
    }
    int words = 0;
    check(MPI_Get_count(&from, MPI_UINT32_T, &words));
    for (std::size_t k = 0; k < static_cast<std::size_t>(words) / words_of_visit; ++k) {
      enter(visits[k].from, visits[k].to);
    }
    ++got;
  }
}

std::uint64_t search::messages_for_this_rank() {
  std::vector<std::uint64_t> sent;
  for (buffer& each : buffers_) {
    sent.push_back(each.sent.exchange(0, std::memory_order_relaxed));
    facts_.messages += sent.back();
  }
  std::uint64_t here = 0;
  MPI_Request sum = MPI_REQUEST_NULL;
  check(MPI_Ireduce_scatter_block(sent.data(), &here, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &sum));
  weft::mpi::wait(sum); // SWITCH: may resume on another worker
  return here;
}

void search::end_level() {
  std::vector<MPI_Request> open;
  for (std::size_t rank = 0; rank < buffers_.size(); ++rank) {
    if (!buffers_[rank].visits.empty()) {
      open.push_back(begin_sending(buffers_[rank].visits, rank));
      buffers_[rank].sent.fetch_add(1, std::memory_order_relaxed);
    }
  }
  weft::mpi::wait_all(open); // SWITCH: may resume on another worker
  for (buffer& each : buffers_) {
    each.visits.clear();
  }
  const std::uint64_t messages = messages_for_this_rank();
  check(MPI_Send(&messages, sizeof messages / sizeof(std::uint32_t), MPI_UINT32_T,
                 static_cast<int>(division_.rank), note_tag, MPI_COMM_WORLD));
  receiver_.join();

  const std::uint64_t found = found_count_.load(std::memory_order_relaxed);
  std::uint64_t found_by_all = 0;
  MPI_Request sum = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(&found, &found_by_all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &sum));
  go_on_from_found();
  weft::mpi::wait(sum); // SWITCH: may resume on another worker
  is_complete_ = found_by_all == 0;
}

// Between two levels.
void search::go_on_from_found() {
  const auto count = static_cast<std::ptrdiff_t>(found_count_.exchange(0, std::memory_order_relaxed));
  std::vector<vertex> next(found_.begin(), found_.begin() + count);
  for (const vertex v : next) {
    facts_.visits += part_.neighbours(v).size();
  }
  frontier_.assign(std::move(next));
}

parents search::own_parents() const {
  parents own;
  own.reserve(entries_.size());
  for (const entry& e : entries_) {
    const std::uint64_t word = e.load(std::memory_order_relaxed);
    own.push_back(word == unreached ? nobody : static_cast<vertex>(word));
  }
  return own;
}

search_facts search::take_facts() {
  facts_.promoted = promoted_.exchange(0, std::memory_order_relaxed);
  return std::exchange(facts_, {});
}

} // namespace graph500
