// SPDX-License-Identifier: MIT
// The queues of delegators under the checker: mutual exclusion, every request served once and in its
// requester's order, no touch of a request that its requester has taken back. Labels:
// weft/sync/request_list.hpp, request_ring.hpp.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "weft/sync/offer_word.hpp"
#include "weft/sync/request_list.hpp"
#include "weft/sync/request_ring.hpp"

#include <gtest/gtest.h>

namespace weft::sync {

struct server {
  request* finished = nullptr; // told when the delegator has been given back
};

} // namespace weft::sync

namespace weft {
namespace {

using model::bounds;
using model::check;
using model::expect_fails;
using model::expect_passes;
using sync::posted;
using sync::request;

/// What delegation<> does with a queue, without scheduler and consumer.
template <class Queue, bool LooksAgain = true>
class delegator {
 public:
  template <class F>
  void execute_or_delegate(F f) {
    if (queue_.try_take()) {
      f();
      return release();
    }
    waiting<F> r(f);
    if (queue_.push(r).owner) {
      release();
    }
    r.sleep();
  }
  template <class F>
  void post(F f) {
    if (queue_.try_take()) {
      f();
      return release();
    }
    posted p;
    p.fill([f](sync::server&) mutable {
      f();
      return request::outcome::done;
    });
    if (queue_.post(p).owner) {
      release();
    }
  }
  void lock() {
    if (!queue_.try_take()) {
      heir r;
      if (queue_.push(r).owner) {
        release();
      }
      do {
        r.sleep();
      } while (!accept(r));
    }
  }
  bool try_lock() { return queue_.try_take() || offer_.try_take(); }
  void release() {
    sync::server here;
    give_back(here);
    while (here.finished != nullptr) {
      auto* const r = static_cast<sleeper*>(here.finished);
      here.finished = r->next;
      r->wake(); // GONE: *r
    }
  }
  bool is_free() { return queue_.try_take() && queue_.front() == nullptr; }

 private:
  void give_back(sync::server& here) {
    do {
      while (request* const r = queue_.front()) {
        if (r->wants_lock()) {
          return offer_to(static_cast<heir&>(*r));
        }
        queue_.pop();
        const bool is_posted = r->is_posted();
        r->run(*r, here);
        if (is_posted) {
          queue_.dispose(*r);
        }
      }
      if (queue_.try_free()) {
        return;
      }
      model::relax();
    } while (LooksAgain);
  }

  struct sleeper : request {
    using request::request;
    void wake() {
      wake([] {});
    }
    template <class Publish>
    void wake(Publish publish) {
      const unsigned thread = thread_;
      done_.store_release(true); // GONE: *this
      publish();
      model::unpark(thread);
    }
    void renew() { done_.store_relaxed(false); }
    void sleep() {
      while (!done_.load_acquire()) {
        model::park();
      }
    }

   private:
    const unsigned thread_ = model::self();
    base::atomic<bool> done_{false};
  };
  struct heir : sleeper {
    heir() : sleeper(nullptr) {}
    sync::call_word calls;
  };
  void offer_to(heir& r) {
    offer_.prepare();
    if (r.calls.call()) {
      r.wake([this] { offer_.publish(); });
    } else {
      offer_.publish();
    }
  }
  bool accept(heir& r) {
    do {
      r.calls.look();
      if (offer_.take()) {
        queue_.pop();
        return true;
      }
      r.renew();
    } while (!r.calls.stand_by());
    return false;
  }
  template <class F>
  struct waiting : sleeper {
    explicit waiting(F& f) : sleeper(&execute), call(f) {}
    static request::outcome execute(request& r, sync::server& s) noexcept {
      static_cast<waiting&>(r).call();
      r.next = s.finished;
      s.finished = &r;
      return request::outcome::done;
    }
    F& call;
  };

  Queue queue_;
  sync::offer_word offer_;
};

/// An increment of plain data: the checker reports a second one at the same time.
struct counter {
  model::var<int> value = 0;
  void add() { value = value + 1; }
};

template <class Delegator>
void everybody_waits(int threads) {
  Delegator d;
  counter c;
  const auto body = [&] { d.execute_or_delegate([&] { c.add(); }); };
  {
    model::thread first(body);
    if (threads == 3) {
      model::thread second(body);
      body();
    } else {
      body();
      body();
    }
  }
  check(d.is_free() && c.value == 3, "a request was lost");
}

/// A slot or a place in the overflow is used again, and the order of one caller kept.
template <class Delegator>
void posts_keep_their_order(int posts) {
  Delegator d;
  counter c;
  model::var<int> last = 0;
  {
    model::thread other([&] { d.execute_or_delegate([&] { c.add(); }); });
    for (int i = 1; i <= posts; ++i) {
      d.post([&, i] {
        check(last == i - 1, "out of order");
        last = i;
      });
    }
    d.execute_or_delegate([&] { check(last == posts, "a post was overtaken"); });
  }
  check(d.is_free() && c.value == 1, "a request was lost");
}

template <class Delegator>
void locks_and_requests() {
  Delegator d;
  counter c;
  {
    model::thread locks([&] {
      d.lock();
      c.add();
      d.release();
    });
    model::thread posts([&] { d.post([&] { c.add(); }); });
    d.execute_or_delegate([&] { c.add(); });
  }
  d.execute_or_delegate([&] { check(c.value == 3, "a request was lost"); });
  check(d.is_free(), "somebody owns it still");
}

/// What is offered to one that waits for the lock is taken by two that try, one of whom leaves requests too.
template <class Delegator>
void locks_and_tries() {
  Delegator d;
  counter c;
  const auto try_it = [&] {
    if (d.try_lock()) {
      c.add();
      d.release();
    }
  };
  d.lock();
  {
    model::thread locks([&] {
      d.lock();
      c.add();
      d.release();
    });
    model::thread tries([&] {
      try_it();
      d.post([&] { c.add(); });
    });
    d.release();
    try_it();
  }
  check(c.value >= 2, "a request was lost");
  check(d.is_free(), "somebody owns it still");
}

using list = delegator<sync::request_list>;
using ring = delegator<sync::request_ring<>>;
using small_ring = delegator<sync::request_ring<1>>;

TEST(delegation_model, two_threads_wait) {
  expect_passes(model::exhaustively(), [] { everybody_waits<list>(2); });
  expect_passes(model::exhaustively(), [] { everybody_waits<ring>(2); });
  expect_passes(model::exhaustively(), [] { everybody_waits<small_ring>(2); });
}
TEST(delegation_model, three_threads_wait) {
  expect_passes(model::exhaustively(), [] { everybody_waits<list>(3); });
  expect_passes(model::exhaustively(), [] { everybody_waits<ring>(3); });
  expect_passes(model::exhaustively(), [] { everybody_waits<small_ring>(3); });
}
TEST(delegation_model, posts_keep_their_order) {
  expect_passes(model::exhaustively(), [] { posts_keep_their_order<list>(3); });
  expect_passes(model::exhaustively(), [] { posts_keep_their_order<ring>(3); });
  expect_passes(model::exhaustively(), [] { posts_keep_their_order<small_ring>(3); });
}
TEST(delegation_model, locks_and_requests) {
  expect_passes(model::exhaustively(), [] { locks_and_requests<list>(); });
  expect_passes(model::exhaustively(), [] { locks_and_requests<ring>(); });
  expect_passes(model::exhaustively(), [] { locks_and_requests<small_ring>(); });
}

TEST(delegation_model, locks_and_tries) {
  expect_passes(bounds(3, 2), [] { locks_and_tries<list>(); });
  expect_passes(bounds(3, 2), [] { locks_and_tries<ring>(); });
  expect_passes(bounds(3, 2), [] { locks_and_tries<small_ring>(); });
}

// --- mutations ---

TEST(delegation_mutation, a_release_that_does_not_look_again) {
  expect_fails(bounds(3, 3), "deadlock", [] { everybody_waits<delegator<sync::request_list, false>>(2); });
  expect_fails(bounds(3, 3), "deadlock", [] { everybody_waits<delegator<sync::request_ring<>, false>>(2); });
}

/// Frees as if it had not to publish anything.
struct list_freed_without_a_look : sync::request_list {
  bool try_free() noexcept {
    static_cast<void>(front()); // arrivals are taken out, and forgotten
    pop_all();
    return sync::request_list::try_free();
  }
  void pop_all() noexcept {
    while (front() != nullptr) {
      pop();
    }
  }
};
TEST(delegation_mutation, requests_that_are_forgotten) {
  expect_fails(bounds(3, 3), "deadlock", [] { everybody_waits<delegator<list_freed_without_a_look>>(2); });
}

// --- every order that is not needed is known ---

TEST(delegation_weakened, lists_and_rings) {
  model::expect_every_weakening_is_found({{model::exactly(3, 2), [] { everybody_waits<list>(2); }},
                                          {model::exactly(3, 2), [] { everybody_waits<ring>(2); }},
                                          {model::exactly(3, 2), [] { everybody_waits<small_ring>(2); }}},
                                         {});
}
TEST(delegation_weakened, offers) {
  model::expect_every_weakening_is_found({{model::exactly(2, 1), [] { locks_and_tries<list>(); }},
                                          {model::exactly(2, 1), [] { locks_and_tries<small_ring>(); }}},
                                         {});
}

} // namespace
} // namespace weft
