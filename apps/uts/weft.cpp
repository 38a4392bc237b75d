// SPDX-License-Identifier: MIT
// Weft: one forked thread a node, joined by its parent in the reverse order. Children go out in chunks that
// nest, as in the other adapters. Also what only Weft does in the demo: the blocked threads and the trace.

#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <new>
#include <vector>

#include "apps/uts/adapter.hpp"
#include "apps/uts/machine.hpp"

namespace weft::uts {
namespace {

counts visit(const tree& t, const node& n);

struct child_visit {
  const tree* in;
  const node* parent;
  int index;

  counts operator()() const { return visit(*in, tree::child(*parent, index)); }
};

// Up to four forked children in place: such a handle can neither be moved nor made empty. Four, because most
// nodes that have children have about five, and a deep tree pays for each place on each of its 17,844 levels.
class chunk {
 public:
  using child = decltype(weft::fork(child_visit{}));
  static constexpr int capacity = 4;

  chunk() = default;
  chunk(const chunk&) = delete;
  chunk& operator=(const chunk&) = delete;
  ~chunk() {
    while (size_ > 0) {
      at(--size_)->~child();
    }
  }

  void fork(const child_visit& work) {
    new (static_cast<void*>(storage_ + sizeof(child) * static_cast<std::size_t>(size_)))
        child(weft::fork(child_visit(work)));
    ++size_;
  }

  counts join_all() {
    counts sum;
    for (int i = size_; i-- > 0;) {
      sum += at(i)->join();
    }
    return sum;
  }

 private:
  child* at(int i) {
    return std::launder(reinterpret_cast<child*>(storage_ + sizeof(child) * static_cast<std::size_t>(i)));
  }

  alignas(child) std::byte storage_[sizeof(child) * capacity];
  int size_ = 0;
};

counts visit_children(const tree& t, const node& parent, int first, int children) {
  chunk forked;
  const int last = std::min(first + chunk::capacity, children);
  for (int i = first; i < last; ++i) {
    forked.fork({&t, &parent, i});
  }
  counts sum;
  if (last < children) {
    sum = visit_children(t, parent, last, children);
  }
  sum += forked.join_all();
  return sum;
}

counts visit(const tree& t, const node& n) {
  counts sum{1, 0, n.depth};
  const int children = t.child_count(n);
  if (children == 0) {
    sum.leaves = 1;
  } else {
    sum += visit_children(t, n, 0, children);
  }
  return sum;
}

class started_runtime {
 public:
  explicit started_runtime(int workers) {
    weft::runtime::options o;
    o.workers = static_cast<unsigned>(workers);
    weft::runtime::start(o);
  }
  started_runtime(const started_runtime&) = delete;
  started_runtime& operator=(const started_runtime&) = delete;
  ~started_runtime() { weft::runtime::stop(); }
};

counts count(const tree& t, int workers) {
  const started_runtime running(workers);
  return visit(t, t.root());
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

blocked_result block_threads(std::size_t threads, std::size_t stack_bytes, int workers) {
  const started_runtime running(workers);
  blocked_result r;
  r.threads = threads;
  std::atomic<std::size_t> arrived{0};
  std::atomic<std::size_t> woken{0};
  weft::latch all_arrived(static_cast<std::ptrdiff_t>(threads));
  weft::latch go(1);
  weft::thread_attributes attributes;
  attributes.stack_size = stack_bytes;

  r.resident_before = status_bytes("VmRSS");
  r.tables_before = status_bytes("VmPTE");
  auto begin = std::chrono::steady_clock::now();
  std::vector<weft::thread> all;
  all.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) {
    all.emplace_back(attributes, [&] {
      arrived.fetch_add(1, std::memory_order_relaxed);
      all_arrived.count_down();
      go.wait();
      woken.fetch_add(1, std::memory_order_relaxed);
    });
  }
  all_arrived.wait();
  r.seconds_to_block = seconds_since(begin);
  r.arrived = arrived.load(std::memory_order_relaxed);
  r.resident_blocked = status_bytes("VmRSS");
  r.tables_blocked = status_bytes("VmPTE");

  begin = std::chrono::steady_clock::now();
  go.count_down();
  for (weft::thread& t : all) {
    t.join();
  }
  r.seconds_to_wake = seconds_since(begin);
  r.woken = woken.load(std::memory_order_relaxed);
  all.clear();
  all.shrink_to_fit();
  r.resident_after = status_bytes("VmRSS");
  r.tables_after = status_bytes("VmPTE");
  return r;
}

counts trace_count(const tree& t, int workers, const std::string& path) {
  const started_runtime running(workers);
  weft::trace::start(path);
  const counts found = visit(t, t.root());
  weft::trace::stop();
  return found;
}

const adapter_registration registration({"weft", "Weft", "a forked thread a node, joined by its parent", 40,
                                         true, true, count});
const bool extras_registered = [] {
  extras().block_threads = block_threads;
  extras().trace_count = trace_count;
  return true;
}();

} // namespace
} // namespace weft::uts
