// SPDX-License-Identifier: MIT
// What is released to a waiter that has been woken and has not run is nobody's: who tries gets it, in
// whatever way, however long the waiter's worker is kept busy. Who waits comes after that waiter. Every
// primitive, every way of waiting, every way of trying.
#include "tests/unit/sync/fixture.hpp"
#include "weft/delegator.hpp"
#include "weft/mutex.hpp"
#include "weft/recursive_mutex.hpp"
#include "weft/semaphore.hpp"
#include "weft/shared_mutex.hpp"

#include <chrono>
#include <stop_token>
#include <type_traits>

namespace weft::testing {
namespace {

WEFT_SYNC_SUITE(offer_test);

enum class waiting { block, for_a_while, until_stopped };
enum class trying { once, for_no_time, until_past };
constexpr waiting all_waiting[] = {waiting::block, waiting::for_a_while, waiting::until_stopped};
constexpr trying all_trying[] = {trying::once, trying::for_no_time, trying::until_past};

const auto past = std::chrono::steady_clock::time_point();

// A case says what is held, how one waits for it and how one tries: the three may differ in how they hold it.

struct permit {
  void hold() { wait(waiting::block); }
  void give_back() { s.release(); }
  bool wait(waiting how) {
    std::stop_source nobody;
    return how == waiting::block         ? (s.acquire(), true)
           : how == waiting::for_a_while ? s.try_acquire_for(never)
                                         : s.acquire(nobody.get_token());
  }
  void leave_waited() { s.release(); }
  bool try_it(trying how) {
    return how == trying::once          ? s.try_acquire()
           : how == trying::for_no_time ? s.try_acquire_for(0s)
                                        : s.try_acquire_until(past);
  }
  void leave_tried() { s.release(); }
  static constexpr bool in_order = true; // those that wait, for one is offered it at a time
  static constexpr bool excludes = true; // those that wait and those that try

  binary_semaphore s{1};
};

template <class Mutex>
struct exclusive {
  void hold() { m.lock(); }
  void give_back() { m.unlock(); }
  bool wait(waiting how) {
    std::stop_source nobody;
    return how == waiting::block         ? (m.lock(), true)
           : how == waiting::for_a_while ? m.try_lock_for(never)
                                         : m.lock(nobody.get_token());
  }
  void leave_waited() { m.unlock(); }
  bool try_it(trying how) {
    return how == trying::once          ? m.try_lock()
           : how == trying::for_no_time ? m.try_lock_for(0s)
                                        : m.try_lock_until(past);
  }
  void leave_tried() { m.unlock(); }
  static constexpr bool in_order = std::is_same_v<Mutex, mcs_mutex>; // the others only after some races
  static constexpr bool excludes = true;

  Mutex m;
};

/// Its waits have neither a time limit nor a stop token.
template <class Queue, bool HasConsumer>
struct delegated {
  delegated() {
    if (HasConsumer) {
      d.start_consumer();
      d.execute_or_delegate([] {}); // it has begun
    }
  }
  void hold() { d.lock(); }
  void give_back() { d.unlock(); }
  bool wait(waiting) {
    d.lock();
    return true;
  }
  void leave_waited() { d.unlock(); }
  bool try_it(trying) { return d.try_lock(); }
  void leave_tried() { d.unlock(); }
  static constexpr bool in_order = true;
  static constexpr bool excludes = true;

  delegator<function_consumer, Queue> d;
};

enum class as : bool { writer, reader };

template <as Holds, as Waits, as Tries>
struct shared {
  void hold() { take<Holds>(waiting::block); }
  void give_back() { leave<Holds>(); }
  bool wait(waiting how) { return take<Waits>(how); }
  void leave_waited() { leave<Waits>(); }
  bool try_it(trying how) {
    if constexpr (Tries == as::writer) {
      return how == trying::once          ? m.try_lock()
             : how == trying::for_no_time ? m.try_lock_for(0s)
                                          : m.try_lock_until(past);
    } else {
      return how == trying::once          ? m.try_lock_shared()
             : how == trying::for_no_time ? m.try_lock_shared_for(0s)
                                          : m.try_lock_shared_until(past);
    }
  }
  void leave_tried() { leave<Tries>(); }
  static constexpr bool in_order = Waits == as::writer;
  static constexpr bool excludes = in_order && Tries == as::writer;

  shared_mutex m;

 private:
  template <as Who>
  bool take(waiting how) {
    std::stop_source nobody;
    if constexpr (Who == as::writer) {
      return how == waiting::block         ? (m.lock(), true)
             : how == waiting::for_a_while ? m.try_lock_for(never)
                                           : m.lock(nobody.get_token());
    } else {
      return how == waiting::block         ? (m.lock_shared(), true)
             : how == waiting::for_a_while ? m.try_lock_shared_for(never)
                                           : m.lock_shared(nobody.get_token());
    }
  }
  template <as Who>
  void leave() {
    Who == as::writer ? m.unlock() : m.unlock_shared();
  }
};

/// Runs `body.operator()<Case>()` for every case.
template <class Body>
void for_each_case(Body body) {
  body.template operator()<permit>();
  body.template operator()<exclusive<mcs_mutex>>();
  body.template operator()<delegated<request_list, false>>();
  body.template operator()<delegated<request_list, true>>();
  body.template operator()<delegated<request_ring<4>, false>>();
  body.template operator()<delegated<request_ring<4>, true>>();
  body.template operator()<exclusive<mutex>>();
  body.template operator()<exclusive<recursive_mutex>>();
  body.template operator()<shared<as::writer, as::writer, as::writer>>();
  body.template operator()<shared<as::writer, as::writer, as::reader>>();
  body.template operator()<shared<as::writer, as::reader, as::writer>>();
  body.template operator()<shared<as::writer, as::reader, as::reader>>();
  body.template operator()<shared<as::reader, as::writer, as::writer>>();
  body.template operator()<shared<as::reader, as::writer, as::reader>>();
}

/// Never yields; false if it takes so long that it would not end.
template <class Case>
bool try_in_a_loop(Case& c, trying how) {
  const auto end = std::chrono::steady_clock::now() + never;
  while (!c.try_it(how)) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
  }
  return true;
}

/// Threads that wait for what the caller holds, in the order of their numbers.
template <class Case>
class queue_of {
 public:
  queue_of(Case& c, int count, waiting how, bool foreign) : case_(c) {
    for (int i = 0; i < count; ++i) {
      std::atomic<bool> comes = false;
      const auto body = [this, how, &comes, i](int) {
        units_[i] = sched::here().current;
        comes = true;
        EXPECT_TRUE(case_.wait(how));
        order_[had_it_++] = i;
        case_.leave_waited();
      };
      foreign ? crowd_.kernel_threads(1, body) : crowd_.weft_threads(1, body);
      while (!comes) {
        this_thread::yield();
      }
      this_thread::yield();
      if (foreign) {
        std::this_thread::sleep_for(300us); // it stands in the queue by now; if not, less is tested
      }
    }
  }
  /// Threads of Weft: with several workers one may have come, and not yet stand in the queue.
  void until_all_wait() const {
    for (const auto& unit : units_) {
      while (unit != nullptr && unit.load()->state.load() != unit::state::blocked) {
        this_thread::yield();
      }
    }
  }
  int had_it() const { return had_it_; }
  void expect_all_in_order(int count, bool exactly) {
    crowd_.join();
    EXPECT_EQ(had_it_, count);
    for (int i = 0; exactly && i < count; ++i) {
      EXPECT_EQ(order_[i], i);
    }
  }

 private:
  Case& case_;
  std::atomic<int> had_it_ = 0;
  std::atomic<int> order_[4];
  std::atomic<const unit::descriptor*> units_[4] = {};
  crowd crowd_;
};

template <class Case>
void takes_what_is_offered(waiting how, trying ways, bool foreign, bool one_worker) {
  Case c;
  constexpr int waiters = 3;
  c.hold();
  queue_of<Case> queue(c, waiters, how, foreign);
  const bool nobody_else_runs = one_worker && !foreign;
  c.give_back();
  for (int i = 0; i < 5; ++i) { // offered again each time
    ASSERT_TRUE(try_in_a_loop(c, ways));
    if (nobody_else_runs && ways == trying::once && (i <= 2 || Case::in_order)) {
      EXPECT_EQ(queue.had_it(), 0);
    }
    if (i == 2) {
      this_thread::yield(); // one that was woken looks in vain, and comes first all the same
    }
    c.leave_tried();
  }
  queue.expect_all_in_order(waiters, nobody_else_runs && Case::in_order);
  EXPECT_TRUE(c.try_it(ways));
  c.leave_tried();
}

TEST_P(offer_test, is_taken_by_one_that_tries) {
  const bool one_worker = GetParam() == 1;
  for_each_case([one_worker]<class Case>() {
    for (const waiting how : all_waiting) {
      for (const trying ways : all_trying) {
        takes_what_is_offered<Case>(how, ways, false, one_worker);
      }
    }
  });
}
TEST_P(offer_test, to_a_kernel_thread_is_taken_by_one_that_tries) {
  for_each_case([]<class Case>() {
    for (int i = 0; i < 3; ++i) {
      takes_what_is_offered<Case>(all_waiting[i], all_trying[i], true, false);
    }
  });
}

/// The same by a kernel thread that is none of Weft's, while the worker of the waiter is kept busy.
TEST_P(offer_test, is_taken_by_a_kernel_thread_that_tries) {
  for_each_case([]<class Case>() {
    for (const trying ways : all_trying) {
      Case c;
      c.hold();
      queue_of<Case> queue(c, 2, waiting::block, false);
      c.give_back();
      std::thread([&] { // nothing else runs on this worker meanwhile
        ASSERT_TRUE(try_in_a_loop(c, ways));
        c.leave_tried();
      })
          .join();
      queue.expect_all_in_order(2, false);
    }
  });
}

/// Neither a time limit nor a stop token makes one who waits a trier.
TEST_P(offer_test, comes_before_one_that_waits) {
  if (GetParam() != 1) {
    GTEST_SKIP() << "with more workers the waiter runs at once";
  }
  for_each_case([]<class Case>() {
    for (const waiting how : all_waiting) {
      Case c;
      c.hold();
      queue_of<Case> queue(c, 2, waiting::block, false);
      c.give_back();
      EXPECT_TRUE(c.wait(how));
      if (Case::in_order) { // else all may have it at the same time
        EXPECT_EQ(queue.had_it(), 2);
      }
      c.leave_waited();
      queue.expect_all_in_order(2, Case::in_order);
    }
  });
}

TEST_P(offer_test, of_a_phase_of_readers_comes_before_a_writer_that_waits) {
  using case_of_readers = shared<as::writer, as::reader, as::writer>;
  case_of_readers c;
  c.hold();
  queue_of<case_of_readers> queue(c, 2, waiting::block, false);
  queue.until_all_wait();
  c.give_back();
  c.m.lock();
  EXPECT_EQ(queue.had_it(), 2);
  c.m.unlock();
  queue.expect_all_in_order(2, false);
}

/// A reader that tries joins the phase that has been offered, though a writer waits behind it.
TEST_P(offer_test, of_a_phase_of_readers_is_joined) {
  using case_of_readers = shared<as::writer, as::reader, as::reader>;
  case_of_readers c;
  c.hold();
  queue_of<case_of_readers> queue(c, 2, waiting::block, false);
  queue.until_all_wait();
  weft::thread writer([&] {
    c.m.lock();
    EXPECT_EQ(queue.had_it(), 2);
    c.m.unlock();
  });
  this_thread::yield();
  c.give_back();
  ASSERT_TRUE(try_in_a_loop(c, trying::once));
  c.leave_tried();
  writer.join();
  queue.expect_all_in_order(2, false);
}

/// A consumer's thread that has been made, or called, and has not run yet does not keep its delegator.
template <class Queue>
void to_a_consumer_is_taken() {
  delegator<function_consumer, Queue> d;
  int executed = 0;
  for (int round = 0; round < 20; ++round) {
    d.start_consumer();
    while (!d.try_lock()) {
    }
    for (int i = 0; i < 100; ++i) { // more than a releasing thread does for others
      d.post([&] { ++executed; });
    }
    d.unlock();
    while (!d.try_lock()) {
    }
    EXPECT_GE(executed, round * 100);
    d.unlock();
    d.stop_consumer();
    EXPECT_EQ(executed, (round + 1) * 100);
  }
}
TEST_P(offer_test, to_the_consumer_of_a_delegator_is_taken) {
  to_a_consumer_is_taken<request_list>();
  to_a_consumer_is_taken<request_ring<4>>();
}

/// A writer whose wait has ended, and which has not run, does not keep readers away that try.
TEST_P(offer_test, is_not_kept_back_by_a_writer_that_gives_up) {
  shared_mutex m;
  std::stop_source source;
  m.lock_shared();
  weft::thread writer([&] {
    if (m.lock(source.get_token())) {
      m.unlock();
    }
  });
  this_thread::yield();
  source.request_stop();
  m.unlock_shared();
  while (!m.try_lock_shared()) {
  }
  m.unlock_shared();
  writer.join();
}

/// A tasklet has no stack to wait on, so that what it is offered must be there for it.
TEST_P(offer_test, is_taken_by_a_tasklet_that_tries) {
  for_each_case([]<class Case>() {
    Case c;
    c.hold();
    queue_of<Case> queue(c, 1, waiting::block, false);
    c.give_back();
    weft::tasklet([&] {
      ASSERT_TRUE(try_in_a_loop(c, trying::once));
      c.leave_tried();
    }).join();
    queue.expect_all_in_order(1, false);
  });
}

/// Those whose waits end by time or by a stop meet those that take what was offered to them.
TEST_P(offer_test, stress_of_those_that_wait_try_and_give_up) {
  for_each_case([this]<class Case>() {
    Case c;
    long count = 0;
    std::atomic<long> taken = 0;
    crowd many;
    const auto use = [&](bool tried) {
      if (Case::excludes) {
        ++count; // a race, if two hold it
      }
      ++taken;
      tried ? c.leave_tried() : c.leave_waited();
    };
    const auto work = [&](int id) {
      std::mt19937 random(static_cast<unsigned>(seed) + static_cast<unsigned>(id));
      for (int i = 0; i < 200; ++i) {
        const bool tries = random() % 2 == 0;
        if (tries ? c.try_it(all_trying[random() % 3]) : c.wait(all_waiting[random() % 3])) {
          if (random() % 8 == 0) {
            this_thread::yield();
          }
          use(tries);
        }
      }
    };
    many.kernel_threads(2, work);
    many.weft_threads(6, work);
    many.join();
    EXPECT_EQ(Case::excludes ? count : taken.load(), taken);
    EXPECT_TRUE(c.try_it(trying::once));
    c.leave_tried();
  });
}

} // namespace
} // namespace weft::testing
