// SPDX-License-Identifier: MIT
// A false alarm is worse than silence. So nothing is guessed from what threads wait for: who could wake one
// at all is counted, and must be nobody. Kernel threads, signal handlers, timers and event sources are all
// there is.
#include "weft/sched/standstill.hpp"

#include <dirent.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "weft/base/assert.hpp"
#include "weft/base/knob.hpp"
#include "weft/base/random.hpp"
#include "weft/carrier/carrier.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/os/task_file.hpp"
#include "weft/park/stillness.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/view/inspection.hpp"
#include "weft/view/waiting_threads.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/ticker.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {
namespace {

enum : unsigned { say, abort_process, off };
constexpr const char* words[] = {"say", "abort", "off"};
constinit base::choice_knob what_to_do{"WEFT_STANDSTILL", say, words,
                                       "when all threads wait and nothing can wake one: say it once, abort "
                                       "the process after that, or nothing"};
const base::knob_list standstill_knobs{what_to_do};

constinit std::atomic<bool> was_said{false};

struct workers_seen {
  static constexpr unsigned most = 1024; // of more it is not worth to say anything
  park::look_at_rest rest;
  bool all_wait = true; // parked, and nobody asks for one, and no time or event will wake one
  unsigned count = 0;
  int kernel_threads[most] = {};
};

// What a worker wrote before it stood still is seen behind rest.see(), its limit and its home among that;
// the caller stands on its own kernel thread. Contexts: under the lock of the list of workers.
void see(worker& w, void* argument) noexcept {
  auto& seen = *static_cast<workers_seen*>(argument);
  if (w.ended.load(std::memory_order_acquire))
    return;
  const bool is_caller = &w == &here();
  const bool is_still = seen.rest.see(w.parking.spot, w.parking.stillness, is_caller);
  const bool is_asked = (w.attention.load_relaxed() & ~standing_attention) != 0;
  if (!seen.rest.all_are_parked() || is_asked || w.timing.sleeps_until.load_relaxed() != no_deadline ||
      w.on_idle != nullptr || seen.count + 2 > workers_seen::most || !w.owner_group.nothing_can_come()) {
    seen.all_wait = false;
    return;
  }
  if (!is_caller && !is_still)
    return;
  const int on = w.carried.kernel_thread_id.load_relaxed(), home = w.carried.home->kernel_id();
  seen.kernel_threads[seen.count++] = on;
  if (home != on) // its worker has gone elsewhere, and left nobody there: that would be an outsider
    seen.kernel_threads[seen.count++] = home;
}

bool is_worker(const workers_seen& seen, int id) noexcept {
  for (unsigned i = 0; i < seen.count; ++i) {
    if (seen.kernel_threads[i] == id)
      return true;
  }
  return false;
}

// Those of Weft's own that wake nobody; the timekeeper only where timers are armed, and then some worker
// does not sleep for good; a spare that runs a thread without a worker is an outsider of the thread's
// group. Whoever else bears the name of one got it from its creator, and these create none.
bool wakes_nobody(int id) noexcept {
  char name[32];
  static_cast<void>(os::read_task_file(id, "comm", name));
  for (const char* own :
       {"weft-monitor\n", "weft-control\n", "weft-time\n", "weft-creator\n", "weft-spare\n"}) {
    if (std::strcmp(name, own) == 0)
      return true;
  }
  return false;
}

// Whether each kernel thread of the process is a worker's, parked.
bool only_workers(const workers_seen& seen) noexcept {
  DIR* const tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr)
    return false;
  unsigned workers = 0;
  bool others = false;
  while (const dirent* entry = ::readdir(tasks)) {
    const int id = std::atoi(entry->d_name);
    if (id <= 0)
      continue;
    if (is_worker(seen, id)) {
      ++workers;
    } else if (!wakes_nobody(id)) {
      others = true;
    }
  }
  ::closedir(tasks);
  return !others && workers == seen.count;
}

// A handler may do anything, but those for faults: nobody runs who could have one.
bool has_handlers() noexcept {
  for (int number = 1; number <= SIGRTMAX; ++number) {
    switch (number) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGSYS:
      continue;
    default:
      break;
    }
    if (number == signal_of_ticks.load_relaxed())
      continue;
    struct sigaction now{};
    if (::sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN)
      return true;
  }
  return false;
}

void speak() noexcept {
  const unsigned count = count_waiting_threads();
  if (count == 0 || was_said.exchange(true, std::memory_order_relaxed))
    return;
  base::warn("all %u threads wait: no other kernel thread, timer, I/O or signal handler can wake one", count);
  constexpr unsigned shown = 20;
  name_waiting_threads(shown);
  if (count > shown)
    base::warn("  ... (all of them: weft ps %d)", static_cast<int>(::getpid()));
  if (what_to_do.get() == abort_process)
    std::abort();
}

// Weft's own spare kernel threads end after 5 s without work.
constexpr deadline least_pauses[standstill::most_looks_again] = {1'000'000'000, 6'000'000'000,
                                                                 12'000'000'000};

} // namespace

deadline standstill::pause(unsigned looks, unsigned number, deadline now) noexcept {
  std::uint64_t seed = (static_cast<std::uint64_t>(now) ^ base::seed_of(number)) | 1;
  const deadline least = least_pauses[looks];
  return least + static_cast<deadline>(base::next_random(seed) % static_cast<std::uint64_t>(least / 4));
}

bool standstill::look() noexcept {
  if (what_to_do.get() == off || was_said.load(std::memory_order_relaxed) || simulation::is_active())
    return false;
  workers_seen first, second;
  for_each_worker(&see, &first);
  // Who is not parked yet looks when he is.
  if (!first.all_wait || has_handlers())
    return false;
  for_each_worker(&see, &second);
  if (!second.all_wait || !second.rest.confirms(first.rest) || !only_workers(second))
    return true; // some are about to sleep, or to go on; some end by and by
  speak();
  return false;
}

} // namespace weft::sched
