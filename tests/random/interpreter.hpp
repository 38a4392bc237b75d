// SPDX-License-Identifier: MIT
// Carries out a program on a real runtime. `Machine` has the objects and what can be done with them; what is
// common to all, and what is checked on the way, is here.
//
// No instruction of a thread that is preempted by plain signal-yield allocates or throws here.
#pragma once

#include <array>
#include <atomic>
#include <utility>

#include "tests/random/model.hpp"
#include "tests/random/program.hpp"
#include "tests/random/record.hpp"
#include "tests/random/rules.hpp"
#include "tests/random/stage.hpp"

namespace weft::random_programs {

// A value that is sent where there are several senders.
struct stamped {
  unsigned from;
  long number;
};

template <class Machine>
class interpreter {
 public:
  interpreter(Machine& m, const program& p, record& r, saboteur& s)
      : machine_(m), program_(p), record_(r), saboteur_(s) {
    for (unsigned b = 0; b < barriers; ++b)
      parties_[b] = parties_of(p, b);
  }
  interpreter(const interpreter&) = delete;
  interpreter& operator=(const interpreter&) = delete;

  // What thread `t` does.
  void run(unsigned t) {
    thread_record& me = record_.threads[t];
    ++me.runs;
    const struct ends {
      interpreter& all;
      unsigned thread;
      ~ends() { all.end(thread); }
    } at_end{*this, t};
    carry_out(program_.threads[t].body, t);
  }

 private:
  struct thrown {
    long value;
  };

  void end(unsigned t) {
    ++record_.threads[t].ends;
    if (program_.threads[t].detached || program_.threads[t].kind == unit_kind::foreign)
      machine_.one_left();
  }

  void carry_out(const code& c, unsigned t) {
    for (const instruction& i : c) {
      if (i.what == op::exit) {
        if constexpr (!Machine::unwinds)
          end(t); // GONE: *this and the machine, if it was the last
        Machine::exit(t);
      } else if (has_body(i.what)) {
        carry_out_body(i, t);
      } else {
        carry_out_one(i, t);
        ++record_.threads[t].steps;
      }
    }
  }

  void carry_out_one(const instruction& i, unsigned t) {
    switch (i.what) {
    case op::add:
      record_.counter[i.a].fetch_add(i.n, std::memory_order_relaxed);
      break;
    case op::compute:
      for (long k = 0; k < i.n; ++k)
        asm volatile("");
      break;
    case op::yield:
      machine_.yield(i.way);
      break;
    case op::sleep:
      machine_.sleep(i.n);
      break;
    case op::set_key:
      if (!saboteur_.strikes(sabotage::key))
        machine_.set_key(i.a, i.n);
      break;
    case op::get_key:
      record_.threads[t].fold(machine_.get_key(i.a));
      break;
    case op::move:
      machine_.move(i.a);
      break;
    case op::call:
      machine_.call(i.a, [this, &i] { guard(i); });
      break;
    case op::post:
      machine_.post(i.a, [this, &i] { guard(i); });
      break;
    case op::fork:
    case op::group:
    case op::hand_over:
    case op::nest:
    case op::errand:
      have_counted(i);
      break;
    case op::time_out:
      record_.threads[t].fold(machine_.waits_in_vain(i.way) ? 1 : 0);
      break;
    default:
      if (names_thread(i.what)) {
        touch_thread(i);
      } else {
        communicate(i, t);
      }
    }
  }

  // Others make n calls, each of which counts.
  void have_counted(const instruction& i) {
    const auto count = [this, &i] { record_.counter[i.a].fetch_add(1, std::memory_order_relaxed); };
    switch (i.what) {
    case op::fork:
      return machine_.fork(i.n, count);
    case op::group:
      return machine_.group(i.n, count);
    case op::hand_over:
      return machine_.hand_over(i.n - lost(sabotage::hand_over), i.way, count);
    case op::nest:
      return machine_.nest(i.n - lost(sabotage::nest), i.way, count);
    default:
      return machine_.errand(i.n - lost(sabotage::errand), i.way, count);
    }
  }
  long lost(sabotage now) noexcept { return saboteur_.strikes(now) ? 1 : 0; }

  void touch_thread(const instruction& i) {
    switch (i.what) {
    case op::spawn:
      machine_.spawn(i.a, i.way, [this, t = i.a] { run(t); });
      break;
    case op::join:
      machine_.join(i.a, i.way);
      if (!Machine::unwinds && program_.threads[i.a].cancellable)
        record_.threads[i.a].ends = record_.threads[i.a].runs;
      record_.check(record_.threads[i.a].ends == record_.threads[i.a].runs, "joined before its end: thread",
                    i.a);
      break;
    case op::cancel:
      machine_.cancel(i.a);
      break;
    case op::ask_to_move:
      machine_.ask_to_move(i.a, static_cast<unsigned>(i.n));
      break;
    case op::give_way:
      machine_.yield_to(i.a);
      break;
    default:
      machine_.resume(i.a);
    }
  }

  void communicate(const instruction& i, unsigned t) {
    thread_record& me = record_.threads[t];
    switch (i.what) {
    case op::release:
      if (!saboteur_.strikes(sabotage::release) && !loses_place(i))
        machine_.release(i.a, i.n);
      break;
    case op::acquire:
      machine_.acquire(i.a, i.way);
      break;
    case op::count_down:
      machine_.count_down(i.a, i.n);
      break;
    case op::wait:
      machine_.wait(i.a, i.way);
      break;
    case op::arrive:
      arrive(i, t);
      break;
    case op::set:
      machine_.set(i.a, i.n, i.way);
      break;
    case op::get:
      me.fold(machine_.get(i.a, i.way));
      break;
    case op::send:
      machine_.send(i.a, {t, is_unbounded(i.a) ? ++sent_[t][i.a] : i.n}, i.way);
      break;
    case op::receive:
      receive(i, me);
      break;
    case op::raise:
      raised_[i.a].store(true, std::memory_order_release);
      break;
    case op::spin:
      while (!raised_[i.a].load(std::memory_order_acquire)) {
      }
      break;
    case op::stop:
      machine_.stop(i.a);
      break;
    case op::await_stop:
      me.fold(machine_.await_stop(i.a, i.way) ? 1 : 0);
      break;
    default:
      machine_.suspend(t);
    }
  }

  bool loses_place(const instruction& i) noexcept {
    return program_.semaphore[i.a] == semaphore_kind::place && saboteur_.strikes(sabotage::place);
  }

  void arrive(const instruction& i, unsigned t) {
    const long round = ++rounds_[t][i.a];
    arrivals_[i.a].fetch_add(1);
    machine_.arrive(i.a, i.way);
    const long all = arrivals_[i.a].load();
    record_.check(all >= round * parties_[i.a], "somebody was let through barrier", i.a);
    record_.check(all < (round + 1) * parties_[i.a], "a round was missed at barrier", i.a);
  }

  void receive(const instruction& i, thread_record& me) {
    const stamped got = machine_.receive(i.a, i.way);
    if (!is_unbounded(i.a))
      return me.fold(got.number);
    long& before = received_[got.from][i.a];
    record_.check(got.number == before + 1, "out of order or lost in channel", i.a);
    before = got.number;
    me.fold(1);
  }

  // Under lock or delegator a.
  void guard(const instruction& i) {
    record_.check(inside_[i.a] == 0, "two are in what lock guards", i.a);
    inside_[i.a] = most_threads + 1;
    record_.guarded[i.a] += i.n;
    inside_[i.a] = 0;
  }

  // Runs the body under `Leave`, which its destructor undoes.
  struct region {
    Machine& machine;
    unsigned lock;
    bool skipped;
    ~region() {
      if (!skipped)
        machine.unlock(lock);
    }
  };

  void carry_out_body(const instruction& i, unsigned t) {
    ++record_.threads[t].steps;
    switch (i.what) {
    case op::lock: {
      const bool skipped = saboteur_.strikes(sabotage::lock);
      if (!skipped)
        machine_.lock(i.a, i.way);
      return inside({machine_, i.a, skipped}, i, t);
    }
    case op::try_lock: {
      const bool got = machine_.try_lock(i.a, i.way == 0 ? 0 : i.n);
      record_.threads[t].choose(got);
      if (got)
        inside({machine_, i.a, false}, i, t);
      return;
    }
    case op::share:
      return share(i, t);
    case op::permit:
      return with_permit(i, t);
    case op::handle:
      return handle(i, t);
    default:
      return machine_.without_preemption([&] { carry_out(i.body, t); });
    }
  }

  void inside(const region& held, const instruction& i, unsigned t) {
    const struct mark {
      unsigned& word;
      unsigned before;
      record& r;
      unsigned me, lock;
      ~mark() {
        r.check(word == me, "another thread is in what is guarded by lock", lock);
        word = before;
      }
    } marked{inside_[held.lock], std::exchange(inside_[held.lock], t + 1), record_, t + 1, held.lock};
    record_.check(marked.before == 0 || marked.before == t + 1,
                  "a second thread is in what is guarded by lock", held.lock);
    // Who is in without the lock stays, until others have come: else a busy machine seldom shows it.
    for (int turns = held.skipped ? 50 : 0; turns > 0; --turns)
      machine_.yield(0);
    record_.guarded[held.lock] += i.n;
    carry_out(i.body, t);
  }

  void share(const instruction& i, unsigned t) {
    machine_.lock_shared(i.a, i.way);
    const struct leave {
      Machine& machine;
      unsigned lock;
      ~leave() { machine.unlock_shared(lock); }
    } at_end{machine_, i.a};
    const long before = record_.guarded[i.a];
    carry_out(i.body, t);
    record_.check(record_.guarded[i.a] == before && inside_[i.a] == 0,
                  "written while it was read, under lock", i.a);
  }

  void with_permit(const instruction& i, unsigned t) {
    machine_.take_permit();
    const struct leave {
      interpreter& all;
      ~leave() {
        all.holders_.fetch_sub(1);
        all.machine_.give_permit();
      }
    } at_end{*this};
    record_.check(holders_.fetch_add(1) < 2, "more than two permits", i.a);
    carry_out(i.body, t);
  }

  void handle(const instruction& i, unsigned t) {
    try {
      try {
        throw thrown{i.n};
      } catch (const thrown& e) {
        carry_out(i.body, t);
        record_.check(e.value == i.n, "a caught exception changed: ", i.n);
        throw;
      }
    } catch (const thrown& e) {
      record_.threads[t].fold(e.value);
    }
  }

  Machine& machine_;
  const program& program_;
  record& record_;
  saboteur& saboteur_;
  std::array<long, barriers> parties_{};
  std::array<unsigned, locks> inside_{}; // 1 + the thread; each guarded by the lock of that number
  std::atomic<int> holders_{0};
  std::array<std::atomic<long>, barriers> arrivals_{};
  std::array<std::atomic<bool>, flags> raised_{};
  std::array<std::array<long, barriers>, most_threads> rounds_{};
  std::array<std::array<long, channels>, most_threads> sent_{};     // each row its thread's
  std::array<std::array<long, channels>, most_threads> received_{}; // each column its receiver's
};

} // namespace weft::random_programs
