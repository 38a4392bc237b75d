// SPDX-License-Identifier: MIT
// The shipped bucket of the user-level futex under the checker: no wake-up is lost, for threads in its queue,
// for kernel threads that wait in the kernel, for those that move to another address, and for those to whom
// a signal's handler owes it. Labels: weft/sync/README.md.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "tests/model/waiter.hpp"
#include "weft/sync/futex_bucket.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

using model::bounds;
using model::check;
using model::expect_passes;
using sync::futex_word;

using bucket = sync::futex_bucket<model::waiter>;

/// 0, EAGAIN, ECANCELED, or ETIMEDOUT.
int wait(bucket& b, const futex_word& word, std::uint32_t expected, bool timed = false,
         const futex_word* call_off = nullptr) {
  bucket::place p(&word, bucket::any_bit);
  if (const int why_not = b.enter(p, word, expected, call_off))
    return why_not;
  if (p.sleep.wait(timed))
    return 0;
  bucket::leave(p);
  return ETIMEDOUT;
}

void wake(bucket& b, const futex_word& word, unsigned most) {
  const auto there = b.look();
  if (there.threads)
    b.wake(&word, most, bucket::any_bit);
  if (there.kernel_threads)
    os::futex_wake(&word, static_cast<int>(most));
}

void wait_in_kernel(bucket& b, const futex_word& word, std::uint32_t expected) {
  b.enter_kernel();
  os::futex_wait(&word, expected);
  b.leave_kernel();
}

/// What a flag is for: who waits sees what the other did before.
void one_waits(int waiters) {
  bucket b;
  futex_word word{0};
  model::var<int> data = 0;
  const auto waits = [&] {
    while (word.load_acquire() == 0)
      wait(b, word, 0);
    check(data == 1, "the wait ended before its cause");
  };
  {
    model::thread other([&] {
      data = 1;
      word.store_release(1);
      wake(b, word, bucket::all);
    });
    if (waiters == 2) {
      model::thread second(waits);
      waits();
    } else {
      waits();
    }
  }
  check(b.valid() && b.empty(), "somebody is left in the bucket");
}

/// Each waits for a token of its own, and each wake is for one.
void tokens(int waiters, bool in_kernel) {
  bucket b;
  futex_word word{0};
  const auto waits = [&](bool kernel) {
    for (;;) {
      std::uint32_t seen = word.load_relaxed();
      if (seen != 0 && word.cas_strong_acquire(seen, seen - 1))
        return;
      if (seen == 0)
        kernel ? wait_in_kernel(b, word, 0) : static_cast<void>(wait(b, word, 0));
    }
  };
  {
    model::thread other([&] {
      for (int i = 0; i < waiters; ++i) {
        word.fetch_add_release(1);
        wake(b, word, 1);
      }
    });
    if (waiters == 2) {
      model::thread second([&] { waits(false); });
      waits(in_kernel);
    } else {
      waits(in_kernel);
    }
  }
  check(b.empty(), "somebody is left in the bucket");
}

/// Who gives up while it is woken leaves nothing behind, and does not stand in for the other.
void gives_up() {
  bucket b;
  futex_word word{0};
  {
    model::thread hasty([&] {
      const int result = wait(b, word, 0, true);
      check(result == 0 || result == ETIMEDOUT || result == EAGAIN, "a result");
    });
    model::thread other([&] {
      word.store_release(1);
      wake(b, word, bucket::all);
    });
    while (word.load_acquire() == 0)
      wait(b, word, 0);
  }
  check(b.valid() && b.empty(), "somebody is left in the bucket");
}

/// Who is called off is told before it begins to wait, or woken.
void called_off() {
  bucket b;
  futex_word word{0}, off{0};
  {
    model::thread other([&] {
      off.store_release(1);
      wake(b, word, bucket::all);
    });
    while (off.load_acquire() == 0)
      wait(b, word, 0, false, &off);
  }
  check(b.empty(), "somebody is left in the bucket");
}

/// One that moves to another bucket while it may give up; then all are woken there.
void moves(bool timed) {
  bucket from, to;
  futex_word word{0}, second{0};
  {
    model::thread other([&] {
      word.store_release(1);
      from.requeue(word, nullptr, 0, to, &second, bucket::all);
      wake(to, second, bucket::all);
    });
    const int result = wait(from, word, 0, timed);
    check(timed || result != ETIMEDOUT, "gave up");
  }
  check(from.valid() && to.valid() && from.empty() && to.empty(), "somebody is left in a bucket");
}

/// Handlers owe; a kernel thread pays.
void owes(int handlers, bool elsewhere) {
  bucket b;
  bucket::owing list;
  futex_word word{0}, other_word{0}, done{0};
  model::var<int> data = 0;
  const auto posts = [&](futex_word& to) {
    to.fetch_add_release(1);
    if (b.look().threads) {
      b.owe(&to, list);
      list.ring();
    }
  };
  const auto waits = [&](futex_word& on, std::uint32_t until) {
    for (std::uint32_t seen = on.load_acquire(); seen < until; seen = on.load_acquire())
      wait(b, on, seen);
  };
  {
    model::thread payer([&] { list.serve([&] { return done.load_acquire() != 0; }); });
    {
      model::thread first([&] {
        data = 1;
        posts(word);
        if (handlers == 2)
          posts(elsewhere ? other_word : word);
      });
      waits(word, handlers == 2 && !elsewhere ? 2 : 1);
      check(data == 1, "the wait ended before its cause");
      if (elsewhere)
        waits(other_word, 1);
    }
    done.store_release(1);
    list.ring();
  }
  check(b.empty(), "somebody is left in the bucket");
}

/// A handler owes what is owed already: it leaves no more than the noted address, and who pays comes to know
/// its change of the word by that.
void owes_what_is_owed() {
  bucket b;
  bucket::owing list;
  futex_word word{0}, done{0};
  b.owe(&word, list);
  {
    model::thread payer([&] {
      for (bool last = false; !last;) {
        last = done.load_acquire() != 0;
        bucket::pay(list);
        if (!last)
          model::relax();
      }
    });
    {
      model::thread handler([&] {
        word.store_relaxed(1);
        if (b.look().threads)
          b.owe(&word, list);
      });
      while (word.load_relaxed() == 0)
        wait(b, word, 0);
    }
    done.store_release(1);
  }
  check(b.empty(), "somebody is left in the bucket");
}

TEST(futex_model, one_waits) {
  expect_passes(model::exhaustively(), [] { one_waits(1); });
}
TEST(futex_model, two_wait) {
  expect_passes(bounds(3, 2), [] { one_waits(2); });
}
TEST(futex_model, a_token) {
  expect_passes(model::exhaustively(), [] { tokens(1, false); });
}
TEST(futex_model, a_token_for_a_kernel_thread) {
  expect_passes(model::exhaustively(), [] { tokens(1, true); });
}
TEST(futex_model, who_gives_up_stands_in_for_nobody) {
  expect_passes(bounds(3, 2), [] { gives_up(); });
}
TEST(futex_model, who_is_called_off_is_told) {
  expect_passes(model::exhaustively(), [] { called_off(); });
}
TEST(futex_model, one_moves) {
  expect_passes(bounds(3, 2), [] { moves(false); });
}
TEST(futex_model, one_moves_and_gives_up) {
  expect_passes(bounds(3, 2), [] { moves(true); });
}
TEST(futex_model, a_handler_owes) {
  expect_passes(bounds(3, 2), [] { owes(1, false); });
}
TEST(futex_model, a_handler_owes_twice) {
  expect_passes(bounds(3, 1), [] { owes(2, false); });
}
TEST(futex_model, a_handler_owes_what_is_owed) {
  expect_passes(bounds(3, 2), [] { owes_what_is_owed(); });
}
TEST(futex_model, a_handler_owes_at_two_addresses) {
  expect_passes(bounds(2, 1), [] { owes(2, true); });
}

// Tokens for two, of whom the second waits in the kernel: a wake for one goes to both kinds here, so that
// none is lost.
TEST(futex_model, tokens_for_both_kinds) {
  expect_passes(bounds(2, 1), [] { tokens(2, true); });
}

TEST(futex_weakened, bucket_and_list) {
  model::expect_every_weakening_is_found({{model::exactly(3, 3), [] { one_waits(1); }},
                                          {model::exactly(3, 3), [] { tokens(1, true); }},
                                          {model::exactly(3, 2), [] { called_off(); }},
                                          {model::exactly(3, 2), [] { moves(true); }},
                                          {model::exactly(3, 2), [] { owes(1, false); }},
                                          {model::exactly(2, 2), [] { owes(2, false); }},
                                          {model::exactly(3, 3), [] { owes_what_is_owed(); }}},
                                         {{"futex_bucket.hpp: futex_bucket::owe: cas -> acquire",
                                           "the full fence of look(), which comes before, releases too"}});
}

} // namespace
} // namespace weft
