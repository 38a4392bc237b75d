// SPDX-License-Identifier: MIT
#include "tests/random/rules.hpp"

#include <array>
#include <map>
#include <set>
#include <utility>

#include "tests/random/record.hpp"

namespace weft::random_programs {

namespace {

constexpr std::uint8_t signal_yield = 1; // a weft::preemption

bool in_tasklet(const instruction& i) {
  switch (i.what) {
  case op::add:
  case op::compute:
  case op::set_key:
  case op::get_key:
  case op::post:
  case op::release:
  case op::count_down:
  case op::set:
  case op::raise:
  case op::stop:
    return true;
  case op::try_lock:
    return i.way == 0;
  case op::send:
    return is_unbounded(i.a);
  default:
    return false;
  }
}

// It ends anywhere: others must not wait for what it does.
bool when_cancellable(op what) {
  switch (what) {
  case op::add:
  case op::compute:
  case op::yield:
  case op::sleep:
  case op::set_key:
  case op::get_key:
  case op::move:
  case op::lock:
  case op::try_lock:
  case op::permit:
  case op::handle:
    return true;
  default:
    return false;
  }
}

// Whoever is preempted by plain signal-yield must not be in malloc, or throw.
bool under_signal_yield(op what) {
  switch (what) {
  case op::add:
  case op::compute:
  case op::yield:
  case op::lock:
  case op::try_lock:
  case op::permit:
  case op::keep:
  case op::release:
  case op::acquire:
  case op::count_down:
  case op::wait:
  case op::arrive:
  case op::raise:
  case op::spin:
    return true;
  default:
    return false;
  }
}

bool on_foreign(op what) {
  switch (what) {
  case op::set_key:
  case op::get_key:
  case op::move:
  case op::give_way:
  case op::fork:
  case op::nest:
  case op::suspend:
  case op::exit:
  case op::spin:
    return false;
  default:
    return true;
  }
}

// Reads the program once; the first rule that it breaks is kept.
class checker {
 public:
  explicit checker(const program& p) : program_(p) {}

  std::string check() {
    if (program_.threads.front().kind != unit_kind::thread || program_.threads.front().cancellable)
      complain("thread 0 is an ordinary one", 0);
    for (thread_ = 0; thread_ < program_.threads.size(); ++thread_) {
      tries_ = 0;
      held_.clear();
      recursive_.clear();
      check_list(program_.threads[thread_].body, true);
      if (tries_ > thread_record::most_choices)
        complain("at most 64 tries", thread_);
    }
    for (unsigned t = 1; t < program_.threads.size(); ++t)
      check_life(t);
    return complaint_;
  }

 private:
  void complain(const char* what, unsigned of) {
    if (complaint_.empty())
      complaint_ =
          std::string(what) + " (thread " + std::to_string(thread_) + ", of " + std::to_string(of) + ")";
  }

  void check_list(const code& c, bool outermost) {
    for (const instruction& i : c) {
      if (i.a >= objects_of(i.what)) {
        complain("no such object", i.a);
      } else {
        check_one(i, outermost);
      }
      if (outermost && i.what == op::exit && &i != &c.back())
        complain("exit is the last one", i.a);
    }
  }

  void check_one(const instruction& i, bool outermost) {
    const thread_spec& me = program_.threads[thread_];
    if (!may_use(me, i) || (thread_ == 0 && (i.what == op::exit || i.what == op::move)))
      complain(name_of(i.what), i.a);
    if (!outermost && (may_wait(i.what) || names_thread(i.what) || i.what == op::exit))
      complain("in a body", static_cast<unsigned>(i.what));
    if ((i.what == op::call || i.what == op::post) && program_.lock[i.a] != lock_kind::delegator)
      complain("that lock is no delegator", i.a);
    if (i.what == op::release && me.kind == unit_kind::tasklet &&
        !releases_without_waiting(program_.semaphore[i.a]))
      complain("a tasklet may not wait for a mutex", i.a);
    if (i.what == op::share && program_.lock[i.a] != lock_kind::shared)
      complain("that lock is not shared", i.a);
    check_parties(i);
    check_threads(i);
    if (has_body(i.what))
      check_body(i);
  }

  // One receiver for each object, and where it is bounded one sender.
  void check_parties(const instruction& i) {
    switch (i.what) {
    case op::acquire:
    case op::receive:
      if (receiver_.emplace(std::pair(i.what, i.a), thread_).first->second != thread_)
        complain("a second receiver", i.a);
      break;
    case op::send:
      if (!is_unbounded(i.a) && receiver_.emplace(std::pair(i.what, i.a), thread_).first->second != thread_)
        complain("a second sender", i.a);
      break;
    case op::set:
    case op::resume:
    case op::spawn:
    case op::join:
      if (!once_.emplace(i.what, i.a).second)
        complain("a second time", i.a);
      break;
    case op::suspend:
      if (!once_.emplace(i.what, thread_).second)
        complain("suspended a second time", thread_);
      break;
    default:
      break;
    }
  }

  // Threads may be touched by their joiners, before they are joined.
  void check_threads(const instruction& i) {
    if (!names_thread(i.what))
      return;
    const bool touches = i.what != op::spawn && i.what != op::resume;
    if (i.a == 0 || i.a >= program_.threads.size())
      return complain("no such thread", i.a);
    const thread_spec& other = program_.threads[i.a];
    if (i.what == op::resume) {
      if (other.kind != unit_kind::thread)
        complain("only threads are suspended", i.a);
    } else if (touches) {
      if (other.detached || other.kind == unit_kind::foreign || other.joiner != thread_ ||
          other.joiner >= i.a)
        complain("not its joiner", i.a);
      if (i.what != op::join && once_.count({op::join, i.a}) != 0)
        complain("joined before", i.a);
      if (i.what != op::join && i.what != op::cancel && other.kind != unit_kind::thread)
        complain("not a thread", i.a);
      if (i.what == op::cancel && !other.cancellable)
        complain("not to be cancelled", i.a);
      if (i.what == op::ask_to_move &&
          (other.preemption == signal_yield || i.n < 0 || i.n >= static_cast<long>(pools)))
        complain("may not move", i.a);
    }
  }

  void check_body(const instruction& i) {
    tries_ += i.what == op::try_lock ? 1 : 0;
    const bool takes = i.what == op::lock || i.what == op::try_lock || i.what == op::share;
    const unsigned rank = i.what == op::permit ? locks + i.a : i.a;
    const bool again = takes && i.what != op::share && program_.lock[i.a] == lock_kind::recursive &&
                       recursive_.count(i.a) != 0;
    if (takes || i.what == op::permit) {
      if (!again && !held_.empty() && *held_.rbegin() >= rank)
        complain("locks in ascending order", i.a);
      if (!again)
        held_.insert(rank);
      if (takes)
        recursive_.insert(i.a);
    }
    check_list(i.body, false);
    if ((takes || i.what == op::permit) && !again) {
      held_.erase(rank);
      if (takes)
        recursive_.erase(i.a);
    }
  }

  // Everybody is spawned: one that is not would not join whom it should. Whoever is spawned is joined, or
  // nobody's; counted where it is spawned.
  void check_life(unsigned t) {
    const thread_spec& one = program_.threads[t];
    const bool joinable = !one.detached && one.kind != unit_kind::foreign;
    thread_ = t;
    if (once_.count({op::spawn, t}) == 0)
      complain("never spawned", t);
    if (joinable && once_.count({op::join, t}) == 0)
      complain("spawned and not joined", t);
    if (once_.count({op::resume, t}) != 0 && once_.count({op::suspend, t}) == 0)
      complain("resumed, perhaps after its end", t);
    if (one.detached && one.cancellable)
      complain("detached and cancelled", t);
  }

  const program& program_;
  unsigned thread_ = 0;
  unsigned tries_ = 0;
  std::set<unsigned> held_;      // ranks
  std::set<unsigned> recursive_; // locks held, by number
  std::map<std::pair<op, unsigned>, unsigned> receiver_;
  std::set<std::pair<op, unsigned>> once_;
  std::string complaint_;
};

} // namespace

unsigned objects_of(op what) noexcept {
  switch (what) {
  case op::add:
  case op::fork:
  case op::group:
  case op::hand_over:
  case op::nest:
  case op::errand:
    return counters;
  case op::set_key:
  case op::get_key:
    return keys;
  case op::move:
    return pools;
  case op::call:
  case op::post:
  case op::lock:
  case op::try_lock:
  case op::share:
    return locks;
  case op::permit:
    return 1;
  case op::release:
  case op::acquire:
    return semaphores;
  case op::count_down:
  case op::wait:
    return latches;
  case op::arrive:
    return barriers;
  case op::set:
  case op::get:
    return futures;
  case op::send:
  case op::receive:
    return channels;
  case op::raise:
  case op::spin:
    return flags;
  case op::stop:
  case op::await_stop:
    return stops;
  default:
    return most_threads;
  }
}

bool may_use(const thread_spec& t, const instruction& i) noexcept {
  if (t.cancellable && !when_cancellable(i.what))
    return false;
  if (t.kind == unit_kind::tasklet)
    return in_tasklet(i);
  if (t.kind == unit_kind::foreign)
    return on_foreign(i.what);
  if (t.preemption == signal_yield && !under_signal_yield(i.what))
    return false;
  return i.what != op::spin || t.preemption != 0;
}

std::string broken_rule(const program& p) {
  return checker(p).check();
}

} // namespace weft::random_programs
