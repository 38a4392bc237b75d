// SPDX-License-Identifier: MIT
#include "tests/random/model.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "tests/random/rules.hpp"

namespace weft::random_programs {

namespace {

// Runs each thread until it has to wait, in turn. A record says how what was left to chance went; without
// one, tries fail and cancelled threads run to their ends.
class simulation {
 public:
  simulation(const program& p, const record* seen) : program_(p), seen_(seen) {
    for (unsigned l = 0; l < latches; ++l)
      latch_left_[l] = downs_of(p, l);
    for (unsigned b = 0; b < barriers; ++b)
      parties_[b] = parties_of(p, b);
    threads_.at(0).spawned = true;
  }

  // False: somebody waits for ever.
  bool run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (unsigned t = 0; t < program_.threads.size(); ++t)
        moved |= advance(t);
    }
    for (unsigned t = 0; t < program_.threads.size(); ++t) {
      if (threads_[t].spawned && !threads_[t].ended)
        return false;
    }
    return true;
  }

  // After run(): the first difference.
  [[nodiscard]] std::string difference() const {
    for (unsigned i = 0; i < counters; ++i) {
      if (counter_[i] != seen_->counter[i])
        return differ("counter", i, counter_[i], seen_->counter[i]);
    }
    for (unsigned i = 0; i < locks; ++i) {
      if (guarded_[i] != seen_->guarded[i])
        return differ("guarded number", i, guarded_[i], seen_->guarded[i]);
    }
    for (unsigned i = 0; i < keys; ++i) {
      if (key_ends_[i] != seen_->key_ends[i])
        return differ("destructors of key", i, key_ends_[i], seen_->key_ends[i]);
      if (key_sums_[i] != seen_->key_sums[i])
        return differ("destroyed values of key", i, key_sums_[i], seen_->key_sums[i]);
    }
    for (unsigned t = 0; t < program_.threads.size(); ++t) {
      if (const std::string d = difference_of(t); !d.empty())
        return d;
    }
    return {};
  }

 private:
  struct thread_state {
    std::size_t next = 0; // instruction of the outermost list
    std::uint32_t steps = 0;
    std::uint32_t choices = 0;
    std::uint64_t digest = 0;
    std::array<long, keys> key{};
    bool spawned = false, ended = false, came = false, resumed = false;
    std::uint64_t waits_for = 0; // if it came: arrivals or receptions that let it go on

    void fold(long value) { digest = digest * 1099511628211U ^ static_cast<std::uint64_t>(value); }
  };
  struct out_of_steps {}; // a cancelled thread ended here

  static std::string differ(const char* what, unsigned which, long expected, long found) {
    return std::string(what) + ' ' + std::to_string(which) + ": expected " + std::to_string(expected) +
           ", found " + std::to_string(found);
  }

  [[nodiscard]] std::string difference_of(unsigned t) const {
    const thread_state& expected = threads_[t];
    const thread_record& found = seen_->threads[t];
    // One that was cancelled early may never have run.
    const bool may_not_run = !expected.spawned || (program_.threads[t].cancellable && found.steps == 0);
    if (found.runs != 1 && !(may_not_run && found.runs == 0))
      return differ("runs of thread", t, expected.spawned ? 1 : 0, found.runs);
    if (found.ends != found.runs)
      return differ("ends of thread", t, found.runs, found.ends);
    if (wrong_stop_[t])
      return differ("thread was cancelled where it must not be: thread, step", t, -1, found.steps);
    if (found.steps != expected.steps)
      return differ("steps of thread", t, expected.steps, found.steps);
    if (found.digest != expected.digest)
      return differ("what was given to thread", t, static_cast<long>(expected.digest),
                    static_cast<long>(found.digest));
    return {};
  }

  // Carries out what can be; true if that was anything.
  bool advance(unsigned t) {
    thread_state& me = threads_[t];
    if (!me.spawned || me.ended)
      return false;
    const code& c = program_.threads[t].body;
    bool moved = false;
    try {
      while (me.next < c.size() && c[me.next].what != op::exit && can_pass(t, c[me.next])) {
        carry_out(t, c[me.next]);
        ++me.next;
        me.came = false;
        moved = true;
      }
      if (me.next < c.size() && c[me.next].what != op::exit)
        return moved;
    } catch (const out_of_steps&) {
    }
    me.ended = true;
    for (unsigned k = 0; k < keys; ++k) {
      key_ends_[k] += me.key[k] != 0 ? 1 : 0;
      key_sums_[k] += me.key[k];
    }
    return true;
  }

  // Arrives, or puts what it has to put, the first time.
  bool can_pass(unsigned t, const instruction& i) {
    thread_state& me = threads_[t];
    if (names_thread(i.what) && i.what != op::spawn && !threads_[i.a].spawned)
      return false;
    switch (i.what) {
    case op::acquire:
      return permits_[i.a] > 0;
    case op::wait:
      return latch_left_[i.a] == 0;
    case op::arrive:
      if (!std::exchange(me.came, true)) {
        ++arrivals_[i.a];
        const long round = ++rounds_[{t, i.a}];
        me.waits_for = static_cast<std::uint64_t>(round * parties_[i.a]);
      }
      return arrivals_[i.a] >= me.waits_for;
    case op::get:
      return future_[i.a].has_value();
    case op::send:
      return can_send(me, i);
    case op::receive:
      return !channel_[i.a].empty();
    case op::spin:
      return raised_[i.a];
    case op::await_stop:
      return stopped_[i.a];
    case op::suspend:
      return me.resumed;
    case op::join:
      return threads_[i.a].ended;
    default:
      return true;
    }
  }

  bool can_send(thread_state& me, const instruction& i) {
    if (is_unbounded(i.a))
      return true;
    const std::size_t capacity = program_.capacity[i.a];
    if (capacity > 0)
      return channel_[i.a].size() < capacity;
    if (!std::exchange(me.came, true)) { // until it is received
      channel_[i.a].push_back(i.n);
      me.waits_for = ++sent_[i.a];
    }
    return received_[i.a] >= me.waits_for;
  }

  void carry_out(unsigned t, const instruction& i) {
    thread_state& me = threads_[t];
    if (program_.threads[t].cancellable && seen_ != nullptr && me.steps == seen_->threads[t].steps) {
      wrong_stop_[t] = me.steps != 0 && !is_cancellation_point(i.what);
      throw out_of_steps();
    }
    ++me.steps;
    if (has_body(i.what))
      return carry_out_body(t, i);
    switch (i.what) {
    case op::add:
    case op::fork:
    case op::group:
    case op::hand_over:
    case op::nest:
    case op::errand:
      counter_[i.a] += i.n;
      break;
    case op::call:
    case op::post:
      guarded_[i.a] += i.n;
      break;
    case op::set_key:
      me.key[i.a] = i.n;
      break;
    case op::get_key:
      me.fold(me.key[i.a]);
      break;
    case op::time_out:
    case op::await_stop:
      me.fold(0);
      break;
    case op::release:
      permits_[i.a] += i.n;
      break;
    case op::acquire:
      --permits_[i.a];
      break;
    case op::count_down:
      latch_left_[i.a] -= i.n;
      break;
    case op::set:
      future_[i.a] = i.n;
      break;
    case op::get:
      me.fold(*future_[i.a]);
      break;
    case op::send:
      if (!me.came)
        channel_[i.a].push_back(i.n);
      break;
    case op::receive:
      me.fold(is_unbounded(i.a) ? 1 : channel_[i.a].front());
      channel_[i.a].pop_front();
      ++received_[i.a];
      break;
    default:
      change_lives(i);
    }
  }

  void change_lives(const instruction& i) {
    switch (i.what) {
    case op::raise:
      raised_[i.a] = true;
      break;
    case op::stop:
      stopped_[i.a] = true;
      break;
    case op::resume:
      threads_[i.a].resumed = true;
      break;
    case op::spawn:
      threads_[i.a].spawned = true;
      break;
    default: // has no effect that shows
      break;
    }
  }

  void carry_out_body(unsigned t, const instruction& i) {
    thread_state& me = threads_[t];
    if (i.what == op::try_lock && !choice_of(t))
      return;
    if (i.what == op::lock || i.what == op::try_lock)
      guarded_[i.a] += i.n;
    for (const instruction& inner : i.body)
      carry_out(t, inner);
    if (i.what == op::handle)
      me.fold(i.n);
  }

  bool choice_of(unsigned t) {
    if (seen_ == nullptr)
      return false;
    const thread_record& r = seen_->threads[t];
    const unsigned which = threads_[t].choices++;
    return which < r.choices && r.choice[which] != 0;
  }

  const program& program_;
  const record* seen_;
  std::array<thread_state, most_threads> threads_{};
  std::array<bool, most_threads> wrong_stop_{};
  std::array<long, counters> counter_{};
  std::array<long, locks> guarded_{};
  std::array<long, keys> key_ends_{}, key_sums_{};
  std::array<long, semaphores> permits_{};
  std::array<long, latches> latch_left_{};
  std::array<long, barriers> parties_{};
  std::array<std::uint64_t, barriers> arrivals_{};
  std::map<std::pair<unsigned, unsigned>, long> rounds_;
  std::array<std::optional<long>, futures> future_{};
  std::array<std::deque<long>, channels> channel_{};
  std::array<std::uint64_t, channels> sent_{}, received_{};
  std::array<bool, flags> raised_{};
  std::array<bool, stops> stopped_{};
};

} // namespace

long downs_of(const program& p, unsigned latch) {
  long sum = 0;
  for_each_instruction(p, [&](const instruction& i, unsigned) {
    if (i.what == op::count_down && i.a == latch)
      sum += i.n;
  });
  return sum;
}

long parties_of(const program& p, unsigned barrier) {
  long sum = 0;
  for (const thread_spec& t : p.threads) {
    sum += std::any_of(t.body.begin(), t.body.end(),
                       [barrier](const instruction& i) { return i.what == op::arrive && i.a == barrier; });
  }
  return sum;
}

std::string why_invalid(const program& p) {
  if (std::string broken = broken_rule(p); !broken.empty())
    return broken;
  return simulation(p, nullptr).run() ? std::string() : "somebody waits for ever";
}

std::string why_wrong(const program& p, const record& r) {
  if (*r.complaint() != '\0')
    return r.complaint();
  simulation s(p, &r);
  if (!s.run())
    return "it ended, and should not have";
  return s.difference();
}

} // namespace weft::random_programs
