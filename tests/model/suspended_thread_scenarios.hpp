// SPDX-License-Identifier: MIT
// What threads do with a suspended_thread in the models: notifiers, a timer and a stop request race for the
// word; swap and enter pass a thread on, and put it back where they are told to. What runs once a thread has
// left its stack has a model thread of its own.
#pragma once

#include "tests/model/checker/model.hpp"
#include "tests/model/runtime/seat.hpp"
#include "weft/sync/suspended_thread.hpp"

#include <memory>
#include <stop_token>

namespace weft::places {

using model::check;
using model::runtime::actor;
using model::runtime::seat;
using model::runtime::who;
using sync::suspended_thread;
using sync::wait_result;

inline void begin() {
  model::runtime::begin(model::runtime::arrivals::apart);
}

/// A place, and how often somebody has come to it. What is published by `f` may be notified.
struct station {
  suspended_thread place;
  base::atomic<int> tickets{0};
  model::var<int> mail = 0; // from the notifier to the thread

  bool publish() {
    tickets.fetch_add_release(1);
    return true;
  }
  void wait() {
    place.wait_with([this] { return publish(); });
  }
  /// For who may look at the place: a swap.
  void await_ticket() {
    await_any();
    static_cast<void>(tickets.load_acquire());
  }
  /// For who notifies: what the thread has done is seen by the word alone.
  void await_any() {
    for (;;) {
      int seen = tickets.load_relaxed();
      if (seen > 0 && tickets.cas_strong_relaxed(seen, seen - 1))
        return;
      model::relax();
    }
  }
  void resume() {
    await_any();
    check(place.notify(), "a thread that is there was not found");
  }
};

/// Two resume in turn whoever waits in the place, so many times each.
inline void two_resumers(who w, int first, int second) {
  begin();
  station s;
  const int waits = first + second;
  {
    const auto resume = [&s](int times) {
      for (int i = 0; i < times; ++i)
        s.resume();
    };
    const actor a(who::threads, [&] { resume(first); });
    const actor b(who::foreign, [&] { resume(second); });
    const seat mine(w == who::threads);
    for (int i = 0; i < waits; ++i)
      s.wait();
  }
  check(!s.place, "somebody is left in the place");
}

/// A notification may come at any moment: one that finds nobody changes nothing, also where a thread is on
/// its way into the place.
inline void stray_notifications(who w, int waits) {
  begin();
  suspended_thread place;
  base::atomic<int> there{0};
  int called = 0;
  int ended = 0; // by the stray ones
  {
    const actor strays(who::threads, [&] {
      ended += place.notify() ? 1 : 0;
      ended += place.notify() ? 1 : 0;
    });
    const actor notifies(who::threads, [&] {
      for (int i = 1; i <= waits; ++i) {
        while (there.load_acquire() < i)
          model::relax();
        if (!place.notify())
          --ended; // a stray one was first
      }
    });
    const seat mine(w == who::threads);
    for (int i = 1; i <= waits; ++i) {
      place.wait_with([&] {
        ++called;
        there.fetch_add_release(1); // not in the order of the waits: the one before may be late with it
        return true;
      });
      check(called == i, "a wait has ended before anybody could know of it");
    }
  }
  check(ended <= 0, "a notification has ended no wait");
}

/// What a wait came to, and whether the notifier was told that it ended it.
struct race_of_three {
  suspended_thread place;
  base::atomic<int> there{0};
  bool called = false;
  model::var<int> returned = 0; // from f, after it has published the place
  model::var<int> context = 0;
  model::var<int> mail = 0;

  wait_result wait(const std::stop_token& stop) {
    const wait_result how = place.wait_with_until(
        [this] {
          called = true;
          there.store_release(1);
          returned = 1;
          return true;
        },
        1, stop);
    check(!called || returned == 1, "a timed wait has ended in the middle of f");
    there.store_release(2); // nothing to be waited for any more
    return how;
  }
  bool notify() {
    while (there.load_acquire() == 0)
      model::relax();
    mail = 1;
    return place.notify();
  }
};

/// Notifier, timer and stop request: one of them ends the wait, and it is the one that the waiter is told of.
/// The thread waits a second time in the same place, where the late ones must not be felt.
inline void notifier_timer_and_stop(who w, bool stops, bool again) {
  begin();
  race_of_three r;
  std::stop_source source;
  bool notified = false;
  bool ended = false;
  {
    const actor notifies(who::threads, [&] { notified = r.notify(); });
    const actor others(who::foreign, [&] {
      model::runtime::expire_timers();
      if (stops)
        source.request_stop();
    });
    const seat mine(w == who::threads);
    const wait_result how = r.wait(source.get_token());
    if (how == wait_result::notified) {
      check(r.called && r.mail == 1, "nobody has notified it");
    } else {
      check(how == wait_result::stopped ? stops : true, "nobody has stopped it");
    }
    if (again) {
      bool called = false;
      r.place.wait_with([&] { return !(called = true); }); // cancelled
      check(called, "a late notification has ended the next wait");
    }
    ended = how == wait_result::notified;
  }
  check(!r.place && !r.place.notify(), "somebody is left in the place");
  check(again || notified == ended, "who ended the wait was not told so, or the other way");
}

/// Two threads pass the worker to and fro; a third one resumes the last.
inline void to_and_fro(int swaps) {
  begin();
  station a, b;
  model::var<int> steps = 0;
  {
    const actor other(who::threads, [&] {
      a.wait();
      for (int i = 0; i < swaps; ++i) {
        check(steps == 2 * i + 1, "resumed out of turn");
        ++steps;
        a.place.swap_with(b.place, [&] { return a.publish(); });
      }
      ++steps;
    });
    const actor last(who::foreign, [&] {
      b.mail = 1;
      b.resume();
    });
    const seat mine;
    for (int i = 0; i < swaps; ++i) {
      a.await_ticket();
      check(steps == 2 * i, "resumed out of turn");
      ++steps;
      b.place.swap(a.place);
    }
    a.await_ticket();
    b.place.swap_with(a.place, [&] {
      b.tickets.store_release(1);
      return true;
    });
    check(b.mail == 1, "resumed without its mail");
  }
  check(steps == 2 * swaps + 1, "a step is missing");
}

/// A swap that is called off puts the thread of `next` back, where a third one finds it; the other way round
/// enter() leaves for it at once.
inline void called_off(bool enters) {
  begin();
  station a, b;
  base::atomic<int> looks{0};
  {
    const actor other(who::threads, [&] {
      a.wait();
      check(a.mail == 1, "resumed without its mail");
      a.wait();
    });
    const actor third(who::threads, [&] {
      while (looks.load_relaxed() == 0)
        model::relax();
      a.mail = 1;
      check(a.place.notify(), "the thread was not put back");
    });
    const seat mine;
    a.await_ticket();
    b.place.swap_with(a.place, [] { return false; });
    check(static_cast<bool>(a.place) && !b.place, "the places are not as they were");
    looks.store_relaxed(1);
    a.await_any();
    if (enters) {
      a.place.enter();
    } else {
      check(a.place.notify(), "a thread that is there was not found");
    }
  }
  check(!a.place && !b.place, "somebody is left in a place");
}

/// The same where f has published the caller, and a third one resumes it: then it has left after all.
inline void called_off_too_late() {
  begin();
  station a, b;
  bool resumed = false;
  {
    const actor other(who::threads, [&] { a.wait(); });
    const actor third(who::threads, [&] {
      b.await_any();
      resumed = b.place.notify();
    });
    const seat mine;
    a.await_ticket();
    b.place.swap_with(a.place, [&] {
      b.tickets.fetch_add_release(1);
      return false;
    });
    if (!a.place.notify())
      check(resumed, "the thread was neither put back nor resumed");
  }
  check(!a.place && !b.place, "somebody is left in a place");
}

/// The same where the third one does not resume the caller, but swaps to it.
inline void called_off_while_swapped_to() {
  begin();
  station a, b, c;
  {
    const actor other(who::threads, [&] { a.wait(); });
    const actor third(who::threads, [&] {
      b.await_ticket();
      c.place.swap(b.place);
    });
    const seat mine;
    a.await_ticket();
    b.place.swap_with(a.place, [&] {
      b.tickets.fetch_add_release(1);
      return false;
    });
    const bool third_is_there = c.place.notify(); // it has swapped to this one, or is about to go back
    check(a.place.notify() || third_is_there, "the thread was neither put back nor resumed");
  }
  check(!a.place && !b.place && !c.place, "somebody is left in a place");
}

/// f publishes the thread and cancels the wait; who notifies it meanwhile may be first.
inline void cancelled_when_published() {
  begin();
  station s;
  int ended = 0;
  {
    const actor notifies(who::threads, [&] {
      s.await_any();
      static_cast<void>(s.place.notify());
    });
    const actor strays(who::foreign, [&] { static_cast<void>(s.place.notify()); });
    const seat mine;
    s.place.wait_with([&] {
      s.tickets.fetch_add_release(1);
      return false;
    });
    ++ended;
  }
  check(ended == 1 && !s.place, "somebody is left in the place");
}

/// A notification that comes too early for a wait does not take its end of time away.
inline void a_stray_notification_and_the_timer(who w, int times = 1) {
  begin();
  suspended_thread place;
  bool over = false;
  bool notified = false;
  wait_result how{};
  {
    const actor strays(who::threads, [&] {
      for (int i = 0; i < times; ++i)
        notified = place.notify() || notified;
    });
    const actor clock(who::foreign, [&] {
      while (!over) {
        model::runtime::expire_timers();
        model::relax();
      }
    });
    const seat mine(w == who::threads);
    how = place.wait_with_until([] { return true; }, 1);
    over = true;
  }
  check(notified == (how == wait_result::notified), "who ended the wait was not told so, or the other way");
  check(!place, "somebody is left in the place");
}

/// f publishes the thread and cancels; who resumes it was first, and it waits in the same place again, where
/// it is not to be felt that the first f says no only now. `later`: what the second f says.
inline void cancelled_and_there_again(bool timed, bool later) {
  begin();
  station s;
  base::atomic<int> looked{0};
  bool found = false;
  {
    const actor notifies(who::threads, [&] {
      s.await_any();
      static_cast<void>(s.place.notify());
      looked.store_release(1);
      s.await_any();
      s.mail = 1;
      found = s.place.notify();
      check(found || !later, "a thread that is there was not found");
    });
    const seat mine;
    const auto wait = [&](bool verdict) {
      auto f = [&, verdict] {
        s.tickets.fetch_add_release(1);
        return verdict;
      };
      timed ? static_cast<void>(s.place.wait_with_until(f, 1)) : s.place.wait_with(f);
    };
    wait(false);
    while (looked.load_acquire() == 0)
      model::relax();
    wait(later);
    check(!later || s.mail == 1, "a wait was cancelled by the f of the one before");
  }
  check(!s.place, "somebody is left in the place");
}

/// The same of who swaps, is resumed, and waits again in the place of the swap.
inline void called_off_and_there_again() {
  begin();
  station a, b;
  base::atomic<int> looked{0};
  {
    const actor other(who::threads, [&] { a.wait(); });
    const actor notifies(who::threads, [&] {
      b.await_any();
      static_cast<void>(b.place.notify());
      looked.store_release(1);
      b.resume();
    });
    const seat mine;
    a.await_ticket();
    b.place.swap_with(a.place, [&] {
      b.tickets.fetch_add_release(1);
      return false;
    });
    while (looked.load_acquire() == 0)
      model::relax();
    b.wait();
    static_cast<void>(a.place.notify()); // unless it has been switched to, since the swap was not called off
  }
  check(!a.place && !b.place, "somebody is left in a place");
}

/// The thread in the place that is swapped to may give up at any moment: it is resumed once, by the timer or
/// by the swap, and told by whom; put back, it can still be notified or give up.
inline void swap_and_the_timer(bool calls_off) {
  begin();
  station a, b;
  wait_result how{};
  bool notified = false;
  {
    const actor other(who::threads, [&] {
      bool called = false;
      model::var<int> returned = 0; // from f, after it has published the place
      auto f = [&] {
        called = true;
        static_cast<void>(a.publish());
        returned = 1;
        return true;
      };
      how = a.place.wait_with_until(f, 1);
      check(!called || returned == 1, "a timed wait has ended in the middle of f");
    });
    const actor clock(who::foreign, [&] {
      a.await_any();
      a.tickets.fetch_add_release(1);
      model::runtime::expire_timers();
    });
    const actor third(who::threads, [&] {
      b.await_any();
      static_cast<void>(b.place.notify());
    });
    const seat mine;
    a.await_ticket();
    a.tickets.fetch_add_release(1);
    b.place.swap_with(a.place, [&] { return !calls_off && b.publish(); });
    if (calls_off) {
      b.tickets.fetch_add_release(1); // for the third one
      notified = a.place.notify();
    }
  }
  check(!calls_off || notified == (how == wait_result::notified), "who ended the wait was not told so");
  check(!a.place && !b.place, "somebody is left in a place");
}

/// A thread that is notified leaves its place to the next one before it has come back to itself: its timer is
/// not felt there.
inline void the_next_one_in_the_place(who first, who second) {
  begin();
  station s;
  base::atomic<int> free{0};
  {
    const actor waits(first, [&] {
      bool called = false;
      auto f = [&] {
        called = true;
        return s.publish();
      };
      static_cast<void>(s.place.wait_with_until(f, 1));
      if (!called)
        s.tickets.fetch_add_release(1);
    });
    const actor waits_next(second, [&] {
      while (free.load_acquire() == 0)
        model::relax();
      bool called = false;
      s.place.wait_with([&] {
        called = true;
        return s.publish();
      });
      check(called, "a wait has ended before anybody could know of it");
    });
    const actor clock(who::foreign, [&] { model::runtime::expire_timers(); });
    s.await_any();
    static_cast<void>(s.place.notify());
    free.store_release(1);
    s.resume();
  }
  check(!s.place, "somebody is left in the place");
}

} // namespace weft::places
