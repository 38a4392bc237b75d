// SPDX-License-Identifier: MIT
// Pools: creating and asking them, pushing and popping threads. Users' pools have files of their own.
#include <set>

#include "abt_test.hpp"
#include "user_defs.hpp"

namespace {

using namespace abt_test;

constexpr ABT_pool_kind kinds[] = {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS};
constexpr ABT_pool_access accesses[] = {ABT_POOL_ACCESS_PRIV, ABT_POOL_ACCESS_SPSC, ABT_POOL_ACCESS_MPSC,
                                        ABT_POOL_ACCESS_SPMC, ABT_POOL_ACCESS_MPMC};

std::size_t size_of(ABT_pool pool) {
  std::size_t size = 99;
  EXPECT_OK(ABT_pool_get_size(pool, &size));
  return size;
}
std::size_t total_size_of(ABT_pool pool) {
  std::size_t size = 99;
  EXPECT_OK(ABT_pool_get_total_size(pool, &size));
  return size;
}
ABT_thread pop(ABT_pool pool) {
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_OK(ABT_pool_pop_thread(pool, &t));
  return t;
}

// Threads that do nothing, in a pool that nobody serves; runs them by hand at the end.
class idle_threads {
 public:
  explicit idle_threads(int count, ABT_pool_kind kind = ABT_POOL_FIFO) : pool_(make_pool(ABT_FALSE, kind)) {
    for (int i = 0; i < count; ++i)
      all_.push_back(make_thread(pool_, nothing_));
  }
  ~idle_threads() {
    for (ABT_thread t = pop(pool_); t != ABT_THREAD_NULL; t = pop(pool_))
      EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
    for (ABT_thread& t : all_)
      EXPECT_OK(ABT_thread_free(&t));
    EXPECT_OK(ABT_pool_free(&pool_));
  }
  idle_threads(const idle_threads&) = delete;
  idle_threads& operator=(const idle_threads&) = delete;

  ABT_pool pool() const { return pool_; }
  ABT_thread operator[](std::size_t i) const { return all_[i]; }
  std::vector<ABT_thread> all() const { return all_; }

 private:
  body nothing_ = [] {};
  ABT_pool pool_;
  std::vector<ABT_thread> all_;
};

// Everything runs on the primary stream, which alone uses the pool, so that each access mode may be used.
TEST(ABT_pool_create_basic, works_with_all_schedulers_in_all_access_modes) {
  for (const ABT_pool_kind kind : kinds) {
    for (const ABT_pool_access access : accesses) {
      for (const ABT_sched_predef predef : every_predef) {
        SCOPED_TRACE(testing::Message()
                     << "kind " << kind << ", access " << access << ", scheduler " << predef);
        const runtime rt;
        ABT_pool pool = make_pool(ABT_TRUE, kind, access);
        ASSERT_OK(ABT_xstream_set_main_sched_basic(self_xstream(), predef, 1, &pool));
        EXPECT_EQ(run_many(pool, 100), 200);
      }
    }
  }
}

// The primary pushes, another stream pops; only PRIV forbids that. A yield would push from the other one.
TEST(ABT_pool_create_basic, works_between_streams) {
  for (const ABT_pool_kind kind : kinds) {
    for (const ABT_pool_access access : accesses) {
      if (access == ABT_POOL_ACCESS_PRIV)
        continue;
      for (const ABT_sched_predef predef : every_predef) {
        SCOPED_TRACE(testing::Message()
                     << "kind " << kind << ", access " << access << ", scheduler " << predef);
        const runtime rt;
        ABT_pool pool = make_pool(ABT_TRUE, kind, access);
        ABT_xstream es = ABT_XSTREAM_NULL;
        ASSERT_OK(ABT_xstream_create_basic(predef, 1, &pool, ABT_SCHED_CONFIG_NULL, &es));
        const bool many_push = access == ABT_POOL_ACCESS_MPSC || access == ABT_POOL_ACCESS_MPMC;
        EXPECT_EQ(run_many(pool, 100, many_push), 200);
        EXPECT_OK(ABT_xstream_free(&es));
      }
    }
  }
}

TEST(ABT_pool_create_basic, shares_a_pool_between_streams) {
  const runtime rt;
  for (const ABT_pool_kind kind : kinds) {
    ABT_pool pool = make_pool(ABT_TRUE, kind);
    ABT_xstream es[3];
    for (ABT_xstream& one : es)
      ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &one));
    EXPECT_EQ(run_many(pool, 100), 200);
    for (ABT_xstream& one : es)
      EXPECT_OK(ABT_xstream_free(&one));
  }
}

TEST(ABT_pool_create_basic, refuses_unknown_kinds_and_access_modes) {
  const runtime rt;
  ABT_pool pool = self_pool();
  EXPECT_ABT(ABT_ERR_INV_POOL_KIND,
             ABT_pool_create_basic(static_cast<ABT_pool_kind>(3), ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
  EXPECT_EQ(pool, ABT_POOL_NULL);
  pool = self_pool();
  EXPECT_ABT(ABT_ERR_INV_POOL_ACCESS,
             ABT_pool_create_basic(ABT_POOL_FIFO, static_cast<ABT_pool_access>(7), ABT_FALSE, &pool));
  EXPECT_EQ(pool, ABT_POOL_NULL);
}

TEST(ABT_pool_free, sets_the_handle_to_null) {
  const runtime rt;
  for (const ABT_pool_kind kind : kinds) {
    for (const ABT_bool automatic : {ABT_FALSE, ABT_TRUE}) { // without a scheduler both are the user's
      ABT_pool pool = make_pool(automatic, kind);
      EXPECT_OK(ABT_pool_free(&pool));
      EXPECT_EQ(pool, ABT_POOL_NULL);
    }
  }
}

TEST(ABT_pool_free, refuses_no_pool) {
  const runtime rt;
  ABT_pool pool = ABT_POOL_NULL;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_free(&pool));
  pool = nullptr;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_free(&pool));
}

TEST(ABT_pool_get_access, is_as_it_was_made) {
  const runtime rt;
  for (const ABT_pool_kind kind : kinds) {
    for (const ABT_pool_access access : accesses) {
      ABT_pool pool = make_pool(ABT_FALSE, kind, access);
      ABT_pool_access got = ABT_POOL_ACCESS_PRIV;
      EXPECT_OK(ABT_pool_get_access(pool, &got));
      EXPECT_EQ(got, access);
      EXPECT_OK(ABT_pool_free(&pool));
    }
  }
}

TEST(ABT_pool_get_access, refuses_no_pool) {
  const runtime rt;
  ABT_pool_access access = ABT_POOL_ACCESS_PRIV;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_get_access(ABT_POOL_NULL, &access));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_get_access(nullptr, &access));
}

TEST(ABT_pool_is_empty, follows_pushes_and_pops) {
  const runtime rt;
  for (const ABT_pool_kind kind : kinds) {
    const idle_threads t(1, kind);
    ABT_bool empty = ABT_TRUE;
    EXPECT_OK(ABT_pool_is_empty(t.pool(), &empty));
    EXPECT_EQ(empty, ABT_FALSE);
    EXPECT_EQ(pop(t.pool()), t[0]);
    EXPECT_OK(ABT_pool_is_empty(t.pool(), &empty));
    EXPECT_EQ(empty, ABT_TRUE);
    EXPECT_OK(ABT_pool_push_thread(t.pool(), t[0]));
  }
}

TEST(ABT_pool_is_empty, refuses_no_pool) {
  const runtime rt;
  ABT_bool empty = ABT_TRUE;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_is_empty(ABT_POOL_NULL, &empty));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_is_empty(nullptr, &empty));
}

TEST(ABT_pool_get_size, counts_what_is_in_it) {
  const runtime rt;
  for (const ABT_pool_kind kind : kinds) {
    const idle_threads t(3, kind);
    EXPECT_EQ(size_of(t.pool()), 3U);
    const ABT_thread first = pop(t.pool());
    EXPECT_EQ(size_of(t.pool()), 2U);
    EXPECT_OK(ABT_pool_push_thread(t.pool(), first));
    in_kernel_thread([&t] { EXPECT_EQ(size_of(t.pool()), 3U); });
  }
}

TEST(ABT_pool_get_size, refuses_no_pool) {
  const runtime rt;
  std::size_t size = 0;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_get_size(ABT_POOL_NULL, &size));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_get_size(nullptr, &size));
}

TEST(ABT_pool_get_total_size, counts_blocked_units_too) {
  const runtime rt;
  for (const ABT_pool_kind kind : kinds) {
    ABT_pool pool = make_pool(ABT_FALSE, kind);
    body f = [] { EXPECT_OK(ABT_self_suspend()); };
    ABT_thread t = make_thread(pool, f);
    EXPECT_EQ(total_size_of(pool), 1U);
    EXPECT_OK(ABT_self_schedule(pop(pool), ABT_POOL_NULL));
    EXPECT_EQ(size_of(pool), 0U);
    EXPECT_EQ(total_size_of(pool), 1U);
    EXPECT_OK(ABT_thread_resume(t));
    EXPECT_EQ(size_of(pool), 1U);
    EXPECT_EQ(total_size_of(pool), 1U);
    EXPECT_OK(ABT_self_schedule(pop(pool), ABT_POOL_NULL));
    EXPECT_EQ(total_size_of(pool), 0U);
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_OK(ABT_pool_free(&pool));
  }
}

TEST(ABT_pool_get_total_size, refuses_no_pool) {
  const runtime rt;
  std::size_t size = 0;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_get_total_size(ABT_POOL_NULL, &size));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_get_total_size(nullptr, &size));
}

TEST(ABT_pool_pop_thread, takes_the_oldest_first) {
  const runtime rt;
  for (const ABT_pool_kind kind : {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT}) {
    const idle_threads t(3, kind);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(pop(t.pool()), t[i]);
    EXPECT_EQ(pop(t.pool()), ABT_THREAD_NULL);
    in_kernel_thread([&t] { EXPECT_EQ(pop(t.pool()), ABT_THREAD_NULL); });
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_OK(ABT_pool_push_thread(t.pool(), t[i]));
  }
}

TEST(ABT_pool_pop_thread, refuses_no_pool) {
  const runtime rt;
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_thread(ABT_POOL_NULL, &t));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_thread(nullptr, &t));
}

// New threads are at the head of a RANDWS pool; a secondary owner takes from the tail.
TEST(ABT_pool_pop_thread_ex, takes_from_both_ends_of_a_randws_pool) {
  const runtime rt;
  const idle_threads t(3, ABT_POOL_RANDWS);
  const auto pop_as = [&t](ABT_pool_context context) {
    ABT_thread got = ABT_THREAD_NULL;
    EXPECT_OK(ABT_pool_pop_thread_ex(t.pool(), &got, context));
    return got;
  };
  EXPECT_EQ(pop_as(ABT_POOL_CONTEXT_OWNER_PRIMARY), t[2]);
  EXPECT_EQ(pop_as(ABT_POOL_CONTEXT_OWNER_SECONDARY), t[0]);
  EXPECT_OK(ABT_pool_push_thread_ex(t.pool(), t[0], ABT_POOL_CONTEXT_OP_THREAD_YIELD)); // to the tail
  EXPECT_EQ(pop_as(ABT_POOL_CONTEXT_OWNER_SECONDARY), t[0]);
  EXPECT_EQ(pop_as(ABT_POOL_CONTEXT_OP_POOL_OTHER), t[1]);
  EXPECT_EQ(pop_as(ABT_POOL_CONTEXT_OP_POOL_OTHER), ABT_THREAD_NULL);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_OK(ABT_pool_push_thread(t.pool(), t[i]));
}

TEST(ABT_pool_pop_thread_ex, refuses_no_pool) {
  const runtime rt;
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_thread_ex(ABT_POOL_NULL, &t, ABT_POOL_CONTEXT_OP_POOL_OTHER));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_thread_ex(nullptr, &t, ABT_POOL_CONTEXT_OP_POOL_OTHER));
}

TEST(ABT_pool_pop_threads, takes_as_many_as_there_are) {
  const runtime rt;
  for (const ABT_pool_kind kind : kinds) {
    const idle_threads t(5, kind);
    ABT_thread got[8] = {};
    std::size_t count = 99;
    EXPECT_OK(ABT_pool_pop_threads(t.pool(), got, 2, &count));
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(got[2], nullptr);
    EXPECT_OK(ABT_pool_pop_threads_ex(t.pool(), got + 2, 6, &count, ABT_POOL_CONTEXT_OP_POOL_OTHER));
    EXPECT_EQ(count, 3U);
    EXPECT_EQ(got[5], nullptr);
    const std::vector<ABT_thread> all = t.all();
    EXPECT_EQ(std::set<ABT_thread>(got, got + 5), std::set<ABT_thread>(all.begin(), all.end()));
    EXPECT_OK(ABT_pool_pop_threads(t.pool(), got, 8, &count));
    EXPECT_EQ(count, 0U);
    EXPECT_OK(ABT_pool_push_threads(t.pool(), all.data(), all.size()));
    EXPECT_OK(ABT_pool_pop_threads(t.pool(), got, 0, &count));
    EXPECT_EQ(count, 0U);
  }
}

TEST(ABT_pool_pop_threads, refuses_no_pool) {
  const runtime rt;
  ABT_thread t = ABT_THREAD_NULL;
  std::size_t count = 0;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_threads(ABT_POOL_NULL, &t, 1, &count));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_threads(nullptr, &t, 1, &count));
}

TEST(ABT_pool_pop_threads_ex, takes_the_tail_of_a_randws_pool_for_a_secondary_owner) {
  const runtime rt;
  const idle_threads t(4, ABT_POOL_RANDWS);
  ABT_thread got[2] = {};
  std::size_t count = 0;
  EXPECT_OK(ABT_pool_pop_threads_ex(t.pool(), got, 2, &count, ABT_POOL_CONTEXT_OWNER_SECONDARY));
  ASSERT_EQ(count, 2U);
  EXPECT_EQ(got[0], t[0]);
  EXPECT_EQ(got[1], t[1]);
  EXPECT_OK(ABT_pool_push_threads(t.pool(), got, 2));
}

TEST(ABT_pool_pop_threads_ex, refuses_no_pool) {
  const runtime rt;
  ABT_thread t = ABT_THREAD_NULL;
  std::size_t count = 0;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_threads_ex(ABT_POOL_NULL, &t, 1, &count, 0));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_threads_ex(nullptr, &t, 1, &count, 0));
}

TEST(ABT_pool_push_thread, moves_a_thread_to_another_pool) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool mine = make_user_pool(fifo, callbacks::all);
  const idle_threads t(1);
  EXPECT_EQ(pop(t.pool()), t[0]);
  EXPECT_OK(ABT_pool_push_thread(mine, t[0]));
  ABT_pool now = ABT_POOL_NULL;
  EXPECT_OK(ABT_thread_get_last_pool(t[0], &now));
  EXPECT_EQ(now, mine);
  EXPECT_EQ(fifo.units, 1);
  EXPECT_EQ(pop(mine), t[0]);
  EXPECT_OK(ABT_pool_push_thread(t.pool(), t[0]));
  EXPECT_EQ(fifo.units, 0);
  EXPECT_OK(ABT_pool_free(&mine));
}

TEST(ABT_pool_push_thread, ignores_no_thread) {
  const runtime rt;
  ABT_pool pool = make_pool();
  EXPECT_OK(ABT_pool_push_thread(pool, ABT_THREAD_NULL));
  EXPECT_OK(ABT_pool_push_thread(pool, ABT_TASK_NULL));
  EXPECT_OK(ABT_pool_push_thread_ex(pool, ABT_THREAD_NULL, ABT_POOL_CONTEXT_OP_POOL_OTHER));
  const ABT_thread none[] = {ABT_THREAD_NULL, ABT_THREAD_NULL};
  EXPECT_OK(ABT_pool_push_threads(pool, none, 2));
  EXPECT_OK(ABT_pool_push_threads(pool, none, 0));
  EXPECT_EQ(size_of(pool), 0U);
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_pool_push_thread, refuses_no_pool_and_a_pool_that_makes_no_unit) {
  const runtime rt;
  user_fifo fifo;
  fifo.refuse_units = true;
  ABT_pool mine = make_user_pool(fifo, callbacks::all);
  const idle_threads t(1);
  EXPECT_EQ(pop(t.pool()), t[0]);
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_push_thread(ABT_POOL_NULL, t[0]));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_push_thread(nullptr, t[0]));
  EXPECT_ABT(ABT_ERR_UNIT, ABT_pool_push_thread(mine, t[0]));
  EXPECT_EQ(size_of(mine), 0U);
  EXPECT_OK(ABT_pool_push_thread(t.pool(), t[0]));
  EXPECT_OK(ABT_pool_free(&mine));
}

TEST(ABT_pool_push_thread_ex, pushes_to_either_end_of_a_randws_pool) {
  const runtime rt;
  const idle_threads t(3, ABT_POOL_RANDWS);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NE(pop(t.pool()), ABT_THREAD_NULL);
  EXPECT_OK(ABT_pool_push_thread_ex(t.pool(), t[0], ABT_POOL_CONTEXT_OP_THREAD_CREATE));
  EXPECT_OK(ABT_pool_push_thread_ex(t.pool(), t[1], ABT_POOL_CONTEXT_OP_THREAD_YIELD));
  EXPECT_OK(ABT_pool_push_thread_ex(t.pool(), t[2], ABT_POOL_CONTEXT_OP_THREAD_REVIVE));
  EXPECT_EQ(pop(t.pool()), t[2]);
  EXPECT_EQ(pop(t.pool()), t[0]);
  EXPECT_EQ(pop(t.pool()), t[1]);
  EXPECT_OK(ABT_pool_push_threads(t.pool(), t.all().data(), 3));
}

TEST(ABT_pool_push_thread_ex, refuses_no_pool) {
  const runtime rt;
  const idle_threads t(1);
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_push_thread_ex(ABT_POOL_NULL, t[0], 0));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_push_thread_ex(nullptr, t[0], 0));
}

TEST(ABT_pool_push_threads, keeps_their_order) {
  const runtime rt;
  for (const ABT_pool_kind kind : {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT}) {
    const idle_threads t(3, kind);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NE(pop(t.pool()), ABT_THREAD_NULL);
    const ABT_thread list[] = {t[2], ABT_THREAD_NULL, t[0], t[1]};
    EXPECT_OK(ABT_pool_push_threads(t.pool(), list, 4));
    EXPECT_EQ(size_of(t.pool()), 3U);
    EXPECT_EQ(pop(t.pool()), t[2]);
    EXPECT_EQ(pop(t.pool()), t[0]);
    EXPECT_EQ(pop(t.pool()), t[1]);
    EXPECT_OK(ABT_pool_push_threads_ex(t.pool(), t.all().data(), 3, ABT_POOL_CONTEXT_OP_POOL_OTHER));
  }
}

TEST(ABT_pool_push_threads, refuses_no_pool) {
  const runtime rt;
  const idle_threads t(1);
  const ABT_thread one = t[0];
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_push_threads(ABT_POOL_NULL, &one, 1));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_push_threads(nullptr, &one, 1));
}

TEST(ABT_pool_push_threads_ex, wakes_a_stream) {
  const runtime rt;
  const streams es(1);
  const idle_threads t(3);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NE(pop(t.pool()), ABT_THREAD_NULL);
  EXPECT_OK(ABT_pool_push_threads_ex(es.pool(0), t.all().data(), 3, ABT_POOL_CONTEXT_OP_THREAD_RESUME));
  for (const ABT_thread one : t.all())
    EXPECT_OK(ABT_thread_join(one));
}

TEST(ABT_pool_push_threads_ex, refuses_no_pool) {
  const runtime rt;
  const idle_threads t(1);
  const ABT_thread one = t[0];
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_push_threads_ex(ABT_POOL_NULL, &one, 1, 0));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_push_threads_ex(nullptr, &one, 1, 0));
}

TEST(ABT_pool_pop_wait_thread, gives_up_when_nothing_comes) {
  const runtime rt;
  for (const ABT_pool_kind kind : kinds) {
    ABT_pool pool = make_pool(ABT_FALSE, kind);
    ABT_thread t = nullptr;
    EXPECT_OK(ABT_pool_pop_wait_thread(pool, &t, 0.001));
    EXPECT_EQ(t, ABT_THREAD_NULL);
    t = nullptr;
    EXPECT_OK(ABT_pool_pop_wait_thread_ex(pool, &t, 0.0, ABT_POOL_CONTEXT_OP_POOL_OTHER));
    EXPECT_EQ(t, ABT_THREAD_NULL);
    EXPECT_OK(ABT_pool_free(&pool));
  }
}

// Somebody else pushes while the caller waits, without a limit that matters.
TEST(ABT_pool_pop_wait_thread, waits_for_a_push) {
  const runtime rt;
  for (const ABT_pool_kind kind : kinds) {
    const idle_threads t(1, kind);
    EXPECT_EQ(pop(t.pool()), t[0]);
    const streams es(1);
    body push = [&t] { EXPECT_OK(ABT_pool_push_thread(t.pool(), t[0])); };
    ABT_thread pusher = make_thread(es.pool(0), push);
    ABT_thread got = ABT_THREAD_NULL;
    EXPECT_OK(ABT_pool_pop_wait_thread(t.pool(), &got, 60.0));
    EXPECT_EQ(got, t[0]);
    EXPECT_OK(ABT_thread_free(&pusher));
    EXPECT_OK(ABT_pool_push_thread(t.pool(), t[0]));
  }
}

TEST(ABT_pool_pop_wait_thread, refuses_no_pool) {
  const runtime rt;
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_wait_thread(ABT_POOL_NULL, &t, 0.0));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_wait_thread(nullptr, &t, 0.0));
}

TEST(ABT_pool_pop_wait_thread_ex, takes_what_is_there_at_once) {
  const runtime rt;
  for (const ABT_pool_kind kind : kinds) {
    const idle_threads t(1, kind);
    ABT_thread got = ABT_THREAD_NULL;
    EXPECT_OK(ABT_pool_pop_wait_thread_ex(t.pool(), &got, 60.0, ABT_POOL_CONTEXT_OWNER_SECONDARY));
    EXPECT_EQ(got, t[0]);
    EXPECT_OK(ABT_pool_push_thread(t.pool(), t[0]));
  }
}

TEST(ABT_pool_pop_wait_thread_ex, refuses_no_pool) {
  const runtime rt;
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_wait_thread_ex(ABT_POOL_NULL, &t, 0.0, 0));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_wait_thread_ex(nullptr, &t, 0.0, 0));
}

void collect(void* set, ABT_thread t) {
  static_cast<std::set<ABT_thread>*>(set)->insert(t);
}

TEST(ABT_pool_print_all_threads, visits_each_once) {
  const runtime rt;
  for (const ABT_pool_kind kind : kinds) {
    const idle_threads t(3, kind);
    std::set<ABT_thread> seen;
    EXPECT_OK(ABT_pool_print_all_threads(t.pool(), &seen, collect));
    const std::vector<ABT_thread> all = t.all();
    EXPECT_EQ(seen, std::set<ABT_thread>(all.begin(), all.end()));
    EXPECT_EQ(size_of(t.pool()), 3U);
  }
}

TEST(ABT_pool_print_all_threads, refuses_no_pool) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_print_all_threads(ABT_POOL_NULL, nullptr, collect));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_print_all_threads(nullptr, nullptr, collect));
}

TEST(ABT_pool_get_id, differs_between_pools) {
  const runtime rt;
  std::set<int> ids;
  std::vector<ABT_pool> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(make_pool());
    int id = -1;
    EXPECT_OK(ABT_pool_get_id(all.back(), &id));
    EXPECT_GE(id, 0);
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 10U);
  for (ABT_pool& pool : all)
    EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_pool_get_id, refuses_no_pool) {
  const runtime rt;
  int id = 0;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_get_id(ABT_POOL_NULL, &id));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_get_id(nullptr, &id));
}

} // namespace
