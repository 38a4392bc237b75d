// SPDX-License-Identifier: MIT
// A dump of the stacks of all units in pools. Triggered from anywhere, a signal handler included; every
// stream stops for it where it looks for events, and the last to come, or one whose patience ends, prints.
//
//   stage    meaning                                             changed by
//   idle     nothing asked
//   asked    streams are to come                                 trigger
//   printing all are here, or the time has passed; one prints    the stream that finds it so (D1)
#include <atomic>
#include <cstdint>

#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/info.hpp"
#include "front/abt/pool.hpp"
#include "front/abt/print.hpp"
#include "front/abt/runtime.hpp"
#include "front/abt/stack_dump.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/deadline.hpp"
#include "weft/door/stream.hpp"

namespace weft::abt {

constinit std::atomic<dump_stage> dump{dump_stage::idle};

namespace {

// Written before `dump` is set to asked (release), read after it was seen (acquire): by (D1) only.
struct order {
  std::FILE* out;
  door::deadline until;
  void (*callback)(ABT_bool, void*);
  void* argument;
};
constinit order wanted{};
constinit std::atomic<bool> writing{false};
constinit std::atomic<int> arrived{0};

int running_streams() noexcept {
  const std::scoped_lock held(state().lock);
  int count = 0;
  for (const xstream* es : state().streams)
    count += es->condition.load() == ABT_XSTREAM_STATE_RUNNING ? 1 : 0;
  return count;
}

void print_all(const order& o, bool timed_out) noexcept {
  const std::scoped_lock held(state().lock);
  for (const xstream* es : state().streams) {
    for (const auto& p : es->main.load()->pools) {
      if (!p->has_print())
        continue;
      print_stacks(o.out, *p);
    }
  }
  std::fflush(o.out);
  if (o.callback != nullptr)
    o.callback(timed_out ? ABT_TRUE : ABT_FALSE, o.argument);
}

} // namespace

void print_stacks(std::FILE* out, pool& p) {
  print_pool(out, p);
  p.for_each(out, [](void* to, ABT_thread t) {
    if (const descriptor* u = checked_unit(t))
      print_stack(static_cast<std::FILE*>(to), *u);
  });
}

void serve_stack_dump_slowly() noexcept {
  arrived.fetch_add(1);
  std::int64_t pause = 1'000;
  while (dump.load(std::memory_order_acquire) != dump_stage::idle) {
    const bool all_here = arrived.load() >= running_streams();
    const bool timed_out = !all_here && door::now() >= wanted.until;
    auto expected = dump_stage::asked;
    if ((all_here || timed_out) && dump.compare_exchange_strong(expected, dump_stage::printing)) { // (D1)
      print_all(wanted, timed_out);
      dump.store(dump_stage::idle, std::memory_order_release);
      break;
    }
    door::block_for(pause);
    pause = pause < 1'000'000 ? pause * 2 : pause;
  }
  arrived.fetch_sub(1);
  door::look_again_soon(door::here()); // fast paths again
}

} // namespace weft::abt

using namespace weft::abt;

extern "C" int ABT_info_trigger_print_all_thread_stacks(FILE* out, double timeout,
                                                        void (*callback)(ABT_bool, void*), void* arg) {
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  // One at a time; who comes while one is under way is answered by that one.
  if (writing.exchange(true))
    return ABT_SUCCESS;
  if (dump.load() == dump_stage::idle) {
    wanted = {out, timeout >= 0 ? weft::door::deadline_in(timeout) : weft::door::no_deadline, callback, arg};
    dump.store(dump_stage::asked, std::memory_order_release);
    for (const xstream* es : *streams_now())
      weft::door::look_again(*es->worker.load());
  }
  writing.store(false);
  return ABT_SUCCESS;
}
