// SPDX-License-Identifier: MIT
// priorities with kernel threads on one CPU: nice 19 beside nice 0, SCHED_IDLE beside SCHED_OTHER, and
// SCHED_OTHER beside SCHED_FIFO, which wants privileges (without them the program says so and fails).
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/priorities/workload.hpp"

namespace bench = weft::bench;
namespace work = bench::priorities;

namespace {

bool use_policy(int policy, int level) {
  sched_param p = {};
  p.sched_priority = level;
  return pthread_setschedparam(pthread_self(), policy, &p) == 0;
}

bool become_low(const std::string& form) {
  if (form.starts_with("nice"))
    return setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 19) == 0;
  return form.starts_with("idle") ? use_policy(SCHED_IDLE, 0) : true;
}

bool become_high(const std::string& form) {
  return form.starts_with("fifo") ? use_policy(SCHED_FIFO, 1) : true;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, work::defaults(), {"nice", "nice.create", "idle", "fifo", "none"});
  const std::string& form = rec.opt().form;
  std::atomic<bool> permitted{true};
  std::thread low([&] {
    work::use_cpu(0);
    permitted = become_low(form);
    work::low_work::run();
  });
  sem_t wanted;
  sem_init(&wanted, 0, 0);
  std::atomic<bool> ended{false};
  std::thread high([&] {
    work::use_cpu(0);
    if (!become_high(form))
      permitted = false;
    for (;;) {
      while (sem_wait(&wanted) != 0) {
      }
      if (ended)
        return;
      work::arrival::mark();
    }
  });
  work::use_cpu(1);
  std::thread made;
  const auto create = [&made] {
    made = std::thread([] { work::arrival::mark(); });
    const cpu_set_t first = work::only(0);
    pthread_setaffinity_np(made.native_handle(), sizeof first, &first);
  };
  const int result = form.ends_with(".create") ? work::run(rec, create, [&made] { made.join(); })
                                               : work::run(rec, [&wanted] { sem_post(&wanted); }, [] {});
  work::low_work::over = true;
  ended = true;
  sem_post(&wanted);
  low.join();
  high.join();
  if (!permitted) {
    std::fprintf(stderr, "this policy is not permitted\n");
    return 1;
  }
  return result;
}
