// SPDX-License-Identifier: MIT
// switch_to with Weft: yield_to (the caller stays ready), suspend_to (the caller blocks, the target was
// blocked), and swap, the same through suspended_thread, which other workers may notify. Beside
// Boost.Context, on stacks of the program's own and without workers: resume (and suspend), and switch (from
// one context to the other).
#include "bench/peer/weft.hpp"
#include "bench/switch_to/workload.hpp"
#include "weft/context.hpp"
#include "weft/suspended_thread.hpp"
#include "weft/thread.hpp"

#include <vector>

namespace bench = weft::bench;
using bench::switch_to::turns;

namespace {

struct pair {
  turns* t;
  std::size_t n;
  weft::thread threads[2];
  weft::suspended_thread places[2];
};

template <int Me>
void yield_to(pair& p) {
  for (std::size_t i = 0; i < p.n; ++i) {
    p.t->step(Me);
    weft::this_thread::yield_to(p.threads[1 - Me]);
  }
}

template <int Me>
void suspend_to(pair& p) {
  if (Me == 1)
    p.places[1].wait_with([] { return true; }); // it runs first, so thread 0 finds it blocked
  for (std::size_t i = 0; i < p.n; ++i) {
    p.t->step(Me);
    weft::this_thread::suspend_to(p.threads[1 - Me]);
  }
  if (Me == 0)
    weft::sched::make_ready(*p.threads[1].native_handle());
}

template <int Me>
void swap(pair& p) {
  if (Me == 1)
    p.places[1].wait_with([] { return true; });
  for (std::size_t i = 0; i < p.n; ++i) {
    p.t->step(Me);
    p.places[Me].swap(p.places[1 - Me]);
  }
  if (Me == 0)
    p.places[1].notify();
}

template <void (*First)(pair&), void (*Second)(pair&)>
void round(turns& t, std::size_t n) {
  pair p{&t, n, {}, {}};
  p.threads[1] = weft::thread([&p] { Second(p); });
  weft::this_thread::yield(); // it runs until it blocks
  p.threads[0] = weft::thread([&p] { First(p); });
  p.threads[0].join();
  p.threads[1].join();
}

// Here thread 0 must be queued first.
void round_of_yields(turns& t, std::size_t n) {
  pair p{&t, n, {}, {}};
  p.threads[0] = weft::thread([&p] { yield_to<0>(p); });
  p.threads[1] = weft::thread([&p] { yield_to<1>(p); });
  p.threads[0].join();
  p.threads[1].join();
}

using memory = std::vector<std::byte>;

void round_of_resumes(turns& t, std::size_t n, memory& stack) {
  weft::context other(stack, [&](weft::context& self) {
    for (std::size_t i = 0; i < n; ++i) {
      t.step(1);
      self.suspend();
    }
  });
  for (std::size_t i = 0; i < n; ++i) {
    t.step(0);
    other.resume();
  }
}

void round_of_switches(turns& t, std::size_t n, memory& stack, memory& other_stack) {
  weft::context* first = nullptr;
  weft::context second(other_stack, [&](weft::context& self) {
    for (std::size_t i = 0; i < n; ++i) {
      t.step(1);
      self.switch_to(*first);
    }
  });
  weft::context one(stack, [&](weft::context& self) {
    for (std::size_t i = 0; i < n; ++i) {
      t.step(0);
      self.switch_to(second);
    }
  });
  first = &one;
  one.resume();
}

int measure_contexts(bench::recorder& rec) {
  memory stack(std::size_t{64} * 1024), other_stack(std::size_t{64} * 1024);
  const std::size_t n = rec.opt().n;
  return bench::switch_to::run(rec, [&](turns& t) {
    rec.form_is("resume") ? round_of_resumes(t, n, stack) : round_of_switches(t, n, stack, other_stack);
  });
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::switch_to::defaults(),
                      {"yield_to", "suspend_to", "swap", "resume", "switch"});
  if (rec.form_is("resume") || rec.form_is("switch")) {
    return measure_contexts(rec);
  }
  const weft::runtime::scope runtime(bench::weft_options(1));
  const std::size_t n = rec.opt().n;
  return bench::switch_to::run(rec, [&](turns& t) {
    if (rec.form_is("yield_to"))
      return round_of_yields(t, n);
    if (rec.form_is("suspend_to"))
      return round<suspend_to<0>, suspend_to<1>>(t, n);
    round<swap<0>, swap<1>>(t, n);
  });
}
