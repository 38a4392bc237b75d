// SPDX-License-Identifier: MIT
#include "tests/random/generator.hpp"

#include <algorithm>
#include <optional>
#include <random>

#include "tests/random/rules.hpp"

namespace weft::random_programs {

namespace {

constexpr std::uint8_t signal_yield = 1; // a weft::preemption

// Makes up one run of a program, instruction by instruction, each one in a thread that can go on at that
// time.
class generator {
 public:
  generator(std::uint64_t seed, const set_up& where, const dialect& d, preempted who)
      : random_(seed), dialect_(d), who_(who) {
    made_.seed = seed;
    made_.where = where;
    for (auto& k : made_.lock)
      k = pick(d.locks);
    for (auto& k : made_.semaphore)
      k = pick(d.semaphores);
    for (unsigned c = 0; c < channels; ++c)
      made_.capacity[c] = is_unbounded(c) ? 0 : static_cast<std::uint8_t>(below(3));
    spins_ = true;
    for (unsigned p = 0; p < pools; ++p)
      spins_ &= d.fair(where, p);
    made_.threads.emplace_back();
    lives_.emplace_back();
  }

  program make() {
    const unsigned most = 2 + below(most_threads - 2);
    const unsigned steps = 8 + below(12 + 5 * most);
    for (unsigned i = 0; i < steps; ++i) {
      const unsigned t = some_thread();
      if (made_.threads.size() < most && below(4) == 0) {
        spawn(t);
      } else if (t != 0 && below(30) == 0) {
        end(t);
      } else {
        for (int tries = 0; tries < 6 && !propose(t); ++tries) {
        }
      }
    }
    for (auto t = static_cast<unsigned>(made_.threads.size()); t-- > 0;) {
      if (lives_[t].alive)
        end(t);
    }
    return std::move(made_);
  }

 private:
  struct life {
    bool alive = true, resumed = false, suspended = false;
    std::vector<unsigned> to_join{}; // have ended
  };

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(static_cast<unsigned>(from.size()))];
  }
  long some_number() { return 1 + below(99); }
  unsigned some_thread() {
    for (;;) {
      const unsigned t = below(static_cast<unsigned>(lives_.size()));
      if (lives_[t].alive)
        return t;
    }
  }
  [[nodiscard]] unsigned ways_of(op what) const { return dialect_.ways[static_cast<unsigned>(what)]; }
  [[nodiscard]] bool may(unsigned t, op what, unsigned a = 0) const {
    instruction i;
    i.what = what;
    i.a = static_cast<std::uint8_t>(a);
    return ways_of(what) > 0 && lives_[t].alive && may_use(made_.threads[t], i);
  }

  bool append(unsigned t, op what, unsigned a, long n = 0) {
    instruction i = make_one(what, a, n);
    if (ways_of(what) == 0 || !may_use(made_.threads[t], i))
      return false;
    made_.threads[t].body.push_back(std::move(i));
    return true;
  }
  instruction make_one(op what, unsigned a, long n) {
    instruction i;
    i.what = what;
    i.a = static_cast<std::uint8_t>(a);
    i.n = n;
    i.way = static_cast<std::uint8_t>(below(std::max(ways_of(what), 1U)));
    return i;
  }

  // --- lives ---

  thread_spec some_spec() {
    thread_spec s;
    const unsigned which = below(20);
    s.kind = which < 3                              ? unit_kind::tasklet
             : which == 3 && ways_of(op::spawn) > 1 ? unit_kind::foreign
                                                    : unit_kind::thread;
    if (s.kind == unit_kind::foreign)
      return s;
    s.pool = static_cast<std::uint8_t>(below(2) * below(pools));
    s.cancellable = below(6) == 0;
    if (s.kind == unit_kind::tasklet)
      return s;
    s.technique = static_cast<std::uint8_t>(below(2) * below(13));
    if (who_ == preempted::some && !dialect_.preemptions.empty() && below(2) != 0) {
      s.preemption = pick(dialect_.preemptions);
      s.cancellable &= s.preemption != signal_yield;
    }
    return s;
  }

  void spawn(unsigned t) {
    if (!may(t, op::spawn))
      return;
    thread_spec s = some_spec();
    const auto number = static_cast<unsigned>(made_.threads.size());
    s.detached = s.kind == unit_kind::thread && !s.cancellable && below(8) == 0;
    unsigned joiner = below(4) == 0 ? some_thread() : t;
    if (!may(joiner, op::join))
      joiner = 0;
    s.joiner = static_cast<std::uint8_t>(joiner);
    made_.threads.push_back(std::move(s));
    lives_.emplace_back();
    append(t, op::spawn, number);
  }

  // Not before those whom it has to join; they come later in the list.
  void end(unsigned t) {
    for (unsigned other = t + 1; other < made_.threads.size(); ++other) {
      if (lives_[other].alive && is_joined_by(other, t))
        return;
    }
    for (const unsigned other : lives_[t].to_join)
      append(t, op::join, other);
    lives_[t].to_join.clear();
    if (lives_[t].resumed && !lives_[t].suspended) // who resumes it must find it
      append(t, op::suspend, 0);
    if (t != 0 && below(10) == 0)
      append(t, op::exit, 0);
    lives_[t].alive = false;
    const thread_spec& s = made_.threads[t];
    if (t != 0 && !s.detached && s.kind != unit_kind::foreign)
      lives_[s.joiner].to_join.push_back(t);
  }

  [[nodiscard]] bool is_joined_by(unsigned t, unsigned joiner) const {
    const thread_spec& s = made_.threads[t];
    return !s.detached && s.kind != unit_kind::foreign && s.joiner == joiner;
  }

  // A thread that is `t`'s to join, and was not yet; 0: none.
  unsigned one_to_join(unsigned t) {
    const auto first = below(static_cast<unsigned>(made_.threads.size()));
    for (unsigned k = 0; k < made_.threads.size(); ++k) {
      const auto other = static_cast<unsigned>((first + k) % made_.threads.size());
      const auto& waiting = lives_[t].to_join;
      const bool ended = std::find(waiting.begin(), waiting.end(), other) != waiting.end();
      if (other > t && is_joined_by(other, t) && (lives_[other].alive || ended))
        return other;
    }
    return 0;
  }

  bool propose_about_threads(unsigned t, op what) {
    if (what == op::join) {
      if (lives_[t].to_join.empty() || !append(t, op::join, lives_[t].to_join.front()))
        return false;
      lives_[t].to_join.erase(lives_[t].to_join.begin());
      return true;
    }
    const unsigned other = what == op::resume ? some_thread() : one_to_join(t);
    if (other == 0)
      return false;
    const thread_spec& s = made_.threads[other];
    if (what == op::cancel)
      return s.cancellable && append(t, what, other);
    if (s.kind != unit_kind::thread)
      return false;
    if (what == op::ask_to_move)
      return s.preemption != signal_yield && append(t, what, other, below(pools));
    if (what == op::give_way)
      return append(t, what, other);
    if (other == t || lives_[other].resumed || !may(other, op::suspend) || !append(t, what, other))
      return false;
    return lives_[other].resumed = true;
  }

  // --- what waits, and is waited for ---

  bool is_only(std::optional<unsigned>& whose, unsigned t) {
    if (!whose)
      whose = t;
    return *whose == t;
  }

  bool propose_wait(unsigned t, op what) {
    switch (what) {
    case op::acquire: {
      const unsigned s = below(semaphores);
      if (permits_[s] == 0 || !is_only(acquirer_[s], t) || !append(t, what, s))
        return false;
      return --permits_[s] >= 0;
    }
    case op::wait: {
      const unsigned l = below(latches);
      return latch_closed_[l] = append(t, what, l) || latch_closed_[l];
    }
    case op::arrive:
      return meet(below(barriers));
    case op::get: {
      const unsigned f = below(futures);
      return set_[f] && append(t, what, f);
    }
    case op::receive:
      return receive(t, below(channels));
    case op::spin: {
      const unsigned f = below(flags);
      return spins_ && raised_[f] && append(t, what, f);
    }
    case op::await_stop: {
      const unsigned s = below(stops);
      return stopped_[s] && append(t, what, s);
    }
    default: // suspend
      return lives_[t].resumed && !lives_[t].suspended && (lives_[t].suspended = append(t, what, 0));
    }
  }

  bool propose_signal(unsigned t, op what) {
    switch (what) {
    case op::release: {
      const unsigned s = below(semaphores);
      const long n = 1 + below(3);
      if (made_.threads[t].kind == unit_kind::tasklet && !releases_without_waiting(made_.semaphore[s]))
        return false;
      if (!append(t, what, s, n))
        return false;
      permits_[s] += n;
      return true;
    }
    case op::count_down: {
      const unsigned l = below(latches);
      return !latch_closed_[l] && append(t, what, l, 1 + below(2));
    }
    case op::set: {
      const unsigned f = below(futures);
      return !set_[f] && (set_[f] = append(t, what, f, some_number()));
    }
    case op::send:
      return send(t, below(channels));
    case op::raise: {
      const unsigned f = below(flags);
      return (raised_[f] = append(t, what, f) || raised_[f]);
    }
    default: {
      const unsigned s = below(stops);
      return (stopped_[s] = append(t, op::stop, s) || stopped_[s]);
    }
    }
  }

  bool send(unsigned t, unsigned c) {
    if (is_unbounded(c)) {
      queued_[c] += append(t, op::send, c) ? 1 : 0;
      return true;
    }
    if (!is_only(sender_[c], t))
      return false;
    if (made_.capacity[c] == 0) { // they meet
      const unsigned other = receiver_[c] ? *receiver_[c] : some_thread();
      if (other == t || !may(other, op::receive, c) || !append(t, op::send, c, some_number()))
        return false;
      receiver_[c] = other;
      return append(other, op::receive, c);
    }
    if (queued_[c] == made_.capacity[c] || !append(t, op::send, c, some_number()))
      return false;
    return ++queued_[c] > 0;
  }

  bool receive(unsigned t, unsigned c) {
    if (queued_[c] == 0 || !may(t, op::receive, c) || !is_only(receiver_[c], t))
      return false;
    --queued_[c];
    return append(t, op::receive, c);
  }

  // All who take part in a barrier arrive; who they are is decided once.
  bool meet(unsigned b) {
    auto& who = parties_[b];
    if (who.empty()) {
      for (unsigned t = 0; t < lives_.size() && who.size() < 4; ++t) {
        if (may(t, op::arrive) && below(2) == 0)
          who.push_back(t);
      }
    }
    const bool there = std::all_of(who.begin(), who.end(), [this](unsigned t) { return may(t, op::arrive); });
    if (!there || who.empty())
      return false;
    for (const unsigned t : who)
      append(t, op::arrive, b);
    return true;
  }

  // --- effects ---

  bool propose_effect(unsigned t, op what) {
    switch (what) {
    case op::compute:
      return append(t, what, 0, below(2000));
    case op::sleep: // in C threads are cancelled there too
      return (dialect_.unwinds || !made_.threads[t].cancellable) && append(t, what, 0, below(60));
    case op::set_key:
      return append(t, what, below(keys), some_number());
    case op::get_key:
      return append(t, what, below(keys));
    case op::move:
      return t != 0 && made_.threads[t].preemption != signal_yield && append(t, what, below(pools));
    case op::call:
    case op::post: {
      const unsigned l = below(locks);
      return made_.lock[l] == lock_kind::delegator && append(t, what, l, some_number());
    }
    case op::fork:
    case op::group:
    case op::hand_over:
    case op::nest:
    case op::errand:
      return append(t, what, below(counters), 1 + below(6));
    case op::time_out:
    case op::yield:
      return append(t, what, 0);
    default:
      return append(t, op::add, below(counters), some_number());
    }
  }

  // `floor`: locks below it must not be taken; `held`: a recursive lock that may be taken again, or none.
  std::optional<instruction> some_region(unsigned t, unsigned floor, unsigned held, unsigned depth) {
    constexpr op kinds[] = {op::lock, op::lock, op::try_lock, op::share, op::permit, op::handle, op::keep};
    const op what = kinds[below(std::size(kinds))];
    unsigned a = 0;
    if (what == op::lock || what == op::try_lock || what == op::share) {
      a = held < locks && below(3) == 0 ? held : floor + below(locks);
      if (a >= locks || (what == op::share && (a == held || made_.lock[a] != lock_kind::shared)))
        return {};
      floor = std::max(floor, a + 1);
      held = what != op::share && made_.lock[a] == lock_kind::recursive ? a : locks;
    } else if (what == op::permit) {
      if (floor > locks)
        return {};
      floor = locks + 1;
      held = locks;
    }
    instruction i = make_one(what, a, what == op::try_lock ? 1 + below(40) : some_number());
    const thread_spec& s = made_.threads[t];
    const bool may_be_left_inside = s.cancellable && !dialect_.unwinds;
    if (ways_of(what) == 0 || !may_use(s, i) || may_be_left_inside)
      return {};
    fill(i.body, t, floor, held, depth);
    return i;
  }

  void fill(code& body, unsigned t, unsigned floor, unsigned held, unsigned depth) {
    for (unsigned k = below(4); k > 0; --k) {
      if (depth < 2 && below(4) == 0) {
        if (auto inner = some_region(t, floor, held, depth + 1))
          body.push_back(std::move(*inner));
        continue;
      }
      constexpr op kinds[] = {op::add, op::yield, op::yield, op::compute, op::get_key, op::sleep};
      const op what = kinds[below(std::size(kinds))];
      const long n = what == op::compute ? below(1000) : what == op::sleep ? below(30) : some_number();
      instruction i = make_one(what, what == op::add ? below(counters) : 0, n);
      if (ways_of(what) > 0 && may_use(made_.threads[t], i))
        body.push_back(std::move(i));
    }
  }

  bool propose(unsigned t) {
    const auto what = static_cast<op>(below(op_count));
    if (what == op::spawn || what == op::exit)
      return false;
    if (names_thread(what))
      return propose_about_threads(t, what);
    if (what == op::send || (!may_wait(what) && what >= op::release))
      return propose_signal(t, what);
    if (may_wait(what))
      return propose_wait(t, what);
    if (!has_body(what))
      return propose_effect(t, what);
    auto region = some_region(t, 0, locks, 0);
    if (region)
      made_.threads[t].body.push_back(std::move(*region));
    return region.has_value();
  }

  std::mt19937_64 random_;
  const dialect& dialect_;
  const preempted who_;
  program made_;
  std::vector<life> lives_;
  bool spins_ = false;
  std::array<long, semaphores> permits_{};
  std::array<std::optional<unsigned>, semaphores> acquirer_{};
  std::array<bool, latches> latch_closed_{};
  std::array<std::vector<unsigned>, barriers> parties_{};
  std::array<bool, futures> set_{};
  std::array<unsigned, channels> queued_{};
  std::array<std::optional<unsigned>, channels> sender_{}, receiver_{};
  std::array<bool, flags> raised_{};
  std::array<bool, stops> stopped_{};
};

} // namespace

program make_program(std::uint64_t seed, const set_up& where, const dialect& d, preempted who) {
  return generator(seed, where, d, who).make();
}

set_up make_set_up(std::uint64_t seed, const dialect& d) {
  std::mt19937_64 random(seed);
  set_up s;
  s.workers = 1 + static_cast<unsigned>(random() % 4);
  s.pools = static_cast<unsigned>(random() % d.arrangements);
  s.side = static_cast<unsigned>(random() % d.sides);
  return s;
}

} // namespace weft::random_programs
