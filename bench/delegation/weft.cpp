// SPDX-License-Identifier: MIT
// delegation with Weft's mutexes and delegators. delegator_*: a thread waits for each increment, as with a
// mutex. post_*: it waits for its last one only. `resumes` counts, in an untimed round, threads that were
// made ready after they had waited, an operation.
#include "bench/peer/weft.hpp"

#include "bench/delegation/workload.hpp"
#include "weft/delegator.hpp"
#include "weft/mutex.hpp"

#include <vector>

namespace bench = weft::bench;
namespace delegation = weft::bench::delegation;

namespace {

class resumes {
 public:
  static void start() { weft::sched::observe_ready.store(&count); }
  static void stop(bench::recorder& rec, std::size_t ops) {
    weft::sched::observe_ready.store(nullptr);
    rec.extra("resumes", static_cast<double>(counted_.load()) / static_cast<double>(ops));
  }

 private:
  static void count(weft::sched::descriptor&) noexcept { ++counted_; }
  static inline std::atomic<std::size_t> counted_ = 0;
};

struct library {
  bench::recorder* rec;
  int rounds = 0;

  /// The first round is the one that counts.
  template <class Body>
  void threads(std::size_t n, Body body) {
    if (++rounds == 1) {
      resumes::start();
    }
    std::vector<weft::thread> all;
    for (std::size_t i = 0; i < n; ++i) {
      all.emplace_back([&body] { body(); });
    }
    for (weft::thread& t : all) {
      t.join();
    }
    if (rounds == 1) {
      resumes::stop(*rec, delegation::increments);
    }
  }
  static void yield() { weft::this_thread::yield(); }
};

template <class Queue, bool Posts>
struct by_delegator : library {
  explicit by_delegator(bench::recorder& r) : library{&r} { delegator.start_consumer(); }

  template <class Section>
  void add(Section section) {
    if constexpr (Posts) {
      delegator.post(section);
    } else {
      delegator.execute_or_delegate(section);
    }
  }
  template <class Section>
  void hold(Section section) {
    delegator.lock();
    section();
    yield();
    delegator.unlock();
  }
  void settle() {
    delegator.execute_or_delegate([] {}); // behind all that the caller has posted
  }

  weft::delegator<weft::function_consumer, Queue> delegator;
};

using list = weft::request_list;
using ring = weft::request_ring<>;

template <class Peer>
int measure(bench::recorder& rec) {
  return delegation::run(rec, Peer{rec});
}
template <class Mutex>
int measure_mutex(bench::recorder& rec) {
  return delegation::run(rec, delegation::by_mutex<library, Mutex>{{&rec}, {}});
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, delegation::defaults(),
                      delegation::forms({"mutex", "mcs_mutex", "delegator_list", "delegator_ring",
                                         "post_list", "post_ring"}));
  const weft::runtime::scope runtime(bench::weft_options(rec.opt().workers, true));
  if (delegation::is_protected_by(rec, "mutex")) {
    return measure_mutex<weft::mutex>(rec);
  }
  if (delegation::is_protected_by(rec, "mcs_mutex")) {
    return measure_mutex<weft::mcs_mutex>(rec);
  }
  if (delegation::is_protected_by(rec, "delegator_list")) {
    return measure<by_delegator<list, false>>(rec);
  }
  if (delegation::is_protected_by(rec, "delegator_ring")) {
    return measure<by_delegator<ring, false>>(rec);
  }
  return delegation::is_protected_by(rec, "post_list") ? measure<by_delegator<list, true>>(rec)
                                                       : measure<by_delegator<ring, true>>(rec);
}
