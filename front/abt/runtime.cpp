// SPDX-License-Identifier: MIT
// ABT_init, ABT_finalize, and the environment.
#include "front/abt/runtime.hpp"

#include <strings.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "front/abt/affinity.hpp"
#include "front/abt/affinity_list.hpp"
#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/print.hpp"
#include "front/abt/requests.hpp"
#include "front/abt/tool.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/process.hpp"
#include "weft/door/stream.hpp"

namespace weft::abt {
namespace {

// ABT_<name>, else ABT_ENV_<name>.
const char* variable(const char* name) {
  const std::string plain = std::string("ABT_") + name;
  if (const char* value = std::getenv(plain.c_str()))
    return value;
  return std::getenv((std::string("ABT_ENV_") + name).c_str());
}

bool is_one_of(const char* value, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (::strcasecmp(value, word) == 0)
      return true;
  }
  return false;
}

// One whose default is true is false only for words that say so, and the other way round.
bool flag(const char* name, bool otherwise) {
  const char* value = variable(name);
  if (value == nullptr)
    return otherwise;
  return otherwise ? !is_one_of(value, {"0", "n", "no", "false", "off"})
                   : is_one_of(value, {"1", "y", "yes", "true", "on"});
}

// What does not parse means the default; what is out of range, the nearest that is in it.
std::uint64_t number(const char* name, std::uint64_t otherwise, std::uint64_t low, std::uint64_t high) {
  const char* value = variable(name);
  if (value == nullptr)
    return otherwise;
  char* end = nullptr;
  errno = 0;
  const bool negative = std::strchr(value, '-') != nullptr;
  const unsigned long long parsed = std::strtoull(value, &end, 10);
  if (end == value || *end != '\0')
    return otherwise;
  if (negative || parsed < low)
    return low;
  return errno == ERANGE || parsed > high ? high : parsed;
}

// Our default, unless the variable or Weft's own knob says otherwise.
void choose_stack_size(settings& s) {
  constexpr std::uint64_t smallest = 512;
  constexpr std::uint64_t largest = 1ULL << 31;
  const bool asked = variable("THREAD_STACKSIZE") != nullptr;
  const std::uint64_t wanted = number("THREAD_STACKSIZE", 0, smallest, largest);
  if (asked && wanted != 0) {
    const std::size_t rounded = door::set_default_stack_size(wanted);
    s.default_stack_size = (wanted + 63) / 64 * 64;
    // A depot that was built before has its own default; then ours is spelt out for each thread.
    const std::size_t core = door::default_stack_size();
    s.stack_trait = core == rounded ? 0 : static_cast<std::uint32_t>(rounded);
    return;
  }
  s.default_stack_size = door::default_stack_size();
}

// For the first runtime of the process that makes stacks: later ones find them made.
void choose_guard() {
  const char* value = variable("STACK_OVERFLOW_CHECK");
  if (value == nullptr || *value == '\0')
    return;
  if (is_one_of(value, {"mprotect", "mprotect_strict"})) {
    door::set_overflow_check(door::overflow_check::pages);
  } else if (is_one_of(value, {"canary"})) {
    door::set_overflow_check(door::overflow_check::canary);
  } else if (is_one_of(value, {"none", "0", "n", "no", "false", "off"})) {
    door::set_overflow_check(door::overflow_check::none);
  } else {
    door::warn("ABT_STACK_OVERFLOW_CHECK=%s is none of mprotect, mprotect_strict, canary and none; ignored",
               value);
  }
}

// What the stacks have, whatever was asked for. Never 3: where there is no room for more guards, stacks get
// canaries instead.
int overflow_check() {
  return static_cast<int>(door::overflow_check_of_stacks()); // none, canary, pages
}

// The numbers of a list count the CPUs that the process may use, and wrap around, also negative ones.
void count_among(const std::vector<int>& cpus, std::vector<int>& set) {
  const int count = static_cast<int>(cpus.size());
  for (int& id : set)
    id = cpus[static_cast<std::size_t>(((id % count) + count) % count)];
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
}

void read_affinity(settings& s) {
  if (door::cpus_here(s.cpus) != 0)
    s.cpus.clear();
  const char* value = variable("SET_AFFINITY");
  if (value == nullptr || *value == '\0')
    return;
  if (is_one_of(value, {"0", "n", "no", "false", "off"})) {
    s.set_affinity = false;
  } else if (is_one_of(value, {"y", "yes", "true", "on"})) {
    for (const int cpu : s.cpus)
      s.affinity.push_back({cpu});
  } else if (parse_affinity(value, s.affinity)) {
    for (auto& set : s.affinity)
      s.cpus.empty() ? set.clear() : count_among(s.cpus, set);
  } else {
    door::warn("ABT_SET_AFFINITY=%s is no list of CPU sets; streams are not bound", value);
    s.affinity.clear();
  }
}

} // namespace

settings read_environment() {
  settings s;
  choose_guard();
  choose_stack_size(s);
  s.loop_stack_size = number("SCHED_STACKSIZE", 4 << 20, 512, 1ULL << 31);
  s.event_frequency = number("SCHED_EVENT_FREQ", 50, 1, UINT64_MAX);
  s.sleep_ns = number("SCHED_SLEEP_NSEC", 100, 0, UINT64_MAX);
  s.expected_streams =
      static_cast<unsigned>(number("MAX_NUM_XSTREAMS", door::worker_count_by_default(), 1, 1U << 30));
  s.print_config = flag("PRINT_CONFIG", false);
  s.print_raw_stack = flag("PRINT_RAW_STACK", true);
  s.overflow_check = overflow_check();
  read_affinity(s);
  return s;
}

std::uint32_t stack_trait_now = 0;

process& state() noexcept {
  return door::immortal<process>();
}

namespace {

// Starting and stopping as a whole; state().lock is taken by those who change the list of streams meanwhile.
std::mutex& start_lock() noexcept {
  alignas(std::mutex) static std::byte room[sizeof(std::mutex)];
  static auto* m = ::new (static_cast<void*>(room)) std::mutex;
  return *m;
}

void become_primary(xstream& es) {
  descriptor& self = door::primary_unit();
  self.operations = &primary_operations;
  ::new (static_cast<void*>(self.closure)) closure{nullptr, nullptr, nullptr};
  self.own_pool = es.main.load()->pools.front().get();
}

void start() {
  door::prepare_process();
  state().now = read_environment();
  stack_trait_now = current().stack_trait;
  owner<scheduler> s = make_predefined(ABT_SCHED_DEFAULT, 0, nullptr, true);
  take(*s, use::main);
  xstream& es = create_stream(*s, 0, true);
  s.release();
  become_primary(es);
  state().primary = &es;
  state().running.store(true, std::memory_order_release);
  if (current().print_config)
    print_settings(stdout);
}

// Those that nobody freed.
void stop_others() {
  for (;;) {
    xstream* es = nullptr;
    {
      const std::scoped_lock held(state().lock);
      for (xstream* candidate : state().streams) {
        if (candidate != state().primary)
          es = candidate;
      }
    }
    if (es == nullptr)
      return;
    if (es->condition.load() != ABT_XSTREAM_STATE_TERMINATED) {
      es->request(exit_requested);
      es->wait_until_ended();
    }
    free_stream(*es);
  }
}

// The caller leaves its pool first: it must not count as work there, nor wait where nobody serves.
void drain_primary(xstream& es) {
  descriptor& self = door::unit_here();
  unit_info* info = info_if_any(self);
  if (info != nullptr && !is_null(info->unit))
    pool_of(self)->drop_name(std::exchange(info->unit, ABT_UNIT_NULL));
  self.own_pool = &es.worker.load()->local;
  es.request(finish_requested);
  es.wait_until_ended();
}

void stop() {
  xstream& es = *state().primary;
  stop_others();
  drain_primary(es);
  free_cpus(es); // main's kernel thread goes on where the process might run
  descriptor& self = door::unit_here();
  drop_values_of_primary(self);
  state().running.store(false, std::memory_order_release);
  state().primary = nullptr;
  scheduler& main = *es.main.load();
  main.automatic = true; // they go with the stream, whatever they were made as
  for (const auto& p : main.pools)
    p->automatic = true;
  free_stream(es);
  forget_views();
  forget_old_listeners();
  door::release_process();
}

} // namespace
} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_init(int, char**) {
  return guarded(
      [] {
        const std::scoped_lock held(start_lock());
        if (state().users == 0) {
          if (weft::door::worker_here() != nullptr)
            return ABT_ERR_OTHER; // a thread of another door of Weft cannot become a stream
          start();
        }
        ++state().users;
        return ABT_SUCCESS;
      },
      ABT_ERR_SYS);
}

int ABT_finalize(void) {
  return guarded([] {
    const std::scoped_lock held(start_lock());
    if (state().users == 0)
      return ABT_ERR_UNINITIALIZED;
    if (state().users > 1) {
      --state().users;
      return ABT_SUCCESS;
    }
    if (stream_here() == nullptr || stream_here() != state().primary)
      return ABT_ERR_INV_XSTREAM;
    if (!is_primary(weft::door::unit_here()))
      return ABT_ERR_INV_THREAD;
    stop();
    state().users = 0;
    return ABT_SUCCESS;
  });
}

int ABT_initialized(void) {
  return initialised() ? ABT_SUCCESS : ABT_ERR_UNINITIALIZED;
}

} // extern "C"
