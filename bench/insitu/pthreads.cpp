// SPDX-License-Identifier: MIT
// insitu with kernel threads: a team for the phases of the simulation, which waits at a barrier as OpenMP's
// does, and new threads for each analysis. plain: all alike; nice: the analysis at nice 19; idle: under
// SCHED_IDLE. fifo: the simulation under SCHED_FIFO, which wants privileges.
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <barrier>
#include <cstdio>
#include <functional>
#include <thread>

#include "bench/insitu/workload.hpp"

namespace bench = weft::bench;
namespace work = bench::insitu;

namespace {

bool use_policy(int policy, int level) {
  sched_param p = {};
  p.sched_priority = level;
  return pthread_setschedparam(pthread_self(), policy, &p) == 0;
}

class peer {
 public:
  peer(unsigned workers, std::string how)
      : how_(std::move(how)), analysis_count_(std::max(workers, 2U) - 1), begin_(workers), end_(workers) {
    if (how_ == "fifo")
      permitted_ = use_policy(SCHED_FIFO, 1); // those that are started inherit it
    for (unsigned part = 1; part < workers; ++part)
      team_.emplace_back([this, part] { serve(part); });
  }
  ~peer() {
    over_ = true;
    begin_.arrive_and_wait();
    for (std::thread& t : team_)
      t.join();
  }
  [[nodiscard]] bool permitted() const { return permitted_; }

  template <class F>
  void for_each_part(F f) {
    work_ = f;
    begin_.arrive_and_wait();
    work_(0);
    end_.arrive_and_wait();
  }
  template <class F>
  void start(F f) {
    for (unsigned part = 0; part < analysis_count_; ++part)
      analyses_.emplace_back([this, f, part] {
        become_low();
        f(part);
      });
  }
  void finish() {
    for (std::thread& t : analyses_)
      t.join();
    analyses_.clear();
  }

 private:
  void serve(unsigned part) {
    for (;;) {
      begin_.arrive_and_wait();
      if (over_)
        return;
      work_(part);
      end_.arrive_and_wait();
    }
  }
  void become_low() {
    bool done = true;
    if (how_ == "nice")
      done = setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 19) == 0;
    if (how_ == "idle")
      done = use_policy(SCHED_IDLE, 0);
    if (how_ == "fifo")
      done = use_policy(SCHED_OTHER, 0);
    if (!done)
      permitted_ = false;
  }

  const std::string how_;
  const unsigned analysis_count_;
  std::barrier<> begin_, end_;
  bool over_ = false;
  std::atomic<bool> permitted_{true};
  std::function<void(unsigned)> work_;
  std::vector<std::thread> team_, analyses_;
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, work::defaults(), work::forms({"plain", "nice", "idle", "fifo"}));
  peer p(rec.opt().workers, work::how(rec));
  const int result = work::run(rec, p);
  if (!p.permitted()) {
    std::fprintf(stderr, "this policy is not permitted\n");
    return 1;
  }
  return result;
}
