// SPDX-License-Identifier: MIT
// Migration is a request: the unit moves when it is next picked, or has just yielded.
#include "units.hpp"

namespace abt_test {
namespace {

// What a migration callback was called with.
struct calls {
  std::atomic<int> count = 0;
  std::atomic<ABT_thread> last = ABT_THREAD_NULL;
};
void note_call(ABT_thread t, void* arg) {
  auto* noted = static_cast<calls*>(arg);
  noted->last = t;
  ++noted->count;
}

// A ULT of the caller's stream that `ask` moves before it starts; where it then ran.
struct moved {
  ABT_xstream xstream = ABT_XSTREAM_NULL;
  ABT_pool pool = ABT_POOL_NULL;
  calls noted;

  explicit moved(const std::function<int(ABT_thread)>& ask) {
    body f = [this] {
      xstream = self_xstream();
      pool = last_pool_of(self());
    };
    ABT_thread t = new_thread(self_pool(), f);
    EXPECT_OK(ABT_thread_set_callback(t, note_call, &noted));
    EXPECT_OK(ask(t));
    EXPECT_OK(ABT_thread_join(t));
    EXPECT_EQ(noted.count, 1);
    EXPECT_EQ(noted.last, t);
    EXPECT_OK(ABT_thread_free(&t));
  }
};

// Nulls, the primary thread, a scheduler and a ULT that may not migrate: `ask` must turn all of them down.
void expect_refusals(const std::function<int(ABT_thread)>& ask) {
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ask(null));
  EXPECT_ABT(ABT_ERR_INV_THREAD, ask(self())); // the primary thread
  own_scheduler s;
  EXPECT_ABT(ABT_ERR_INV_THREAD, ask(s.thread()));
  body f = [] {};
  ABT_thread fixed = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_set_migratable(fixed, ABT_FALSE));
  EXPECT_ABT(ABT_ERR_INV_THREAD, ask(fixed));
  EXPECT_OK(ABT_thread_free(&fixed));
}

TEST(ABT_thread_migrate_to_xstream, before_the_start) {
  const runtime rt;
  const streams es(1);
  const moved m([&](ABT_thread t) { return ABT_thread_migrate_to_xstream(t, es[0]); });
  EXPECT_EQ(m.xstream, es[0]);
  EXPECT_EQ(m.pool, es.pool(0));
}

TEST(ABT_thread_migrate_to_xstream, oneself_at_a_yield) {
  const runtime rt;
  const streams es(2);
  const ABT_xstream home = self_xstream();
  in_thread([&] {
    for (int i = 0; i < 20; ++i) {
      const ABT_xstream targets[] = {es[0], es[1], home};
      const ABT_xstream target = targets[i % 3];
      EXPECT_OK(ABT_thread_migrate_to_xstream(self(), target));
      EXPECT_NE(self_xstream(), target); // a request only
      EXPECT_OK(ABT_thread_yield());
      EXPECT_EQ(self_xstream(), target);
    }
  });
}

TEST(ABT_thread_migrate_to_xstream, while_blocked) {
  const runtime rt;
  const streams es(1);
  ABT_xstream where = ABT_XSTREAM_NULL;
  body f = [&] {
    EXPECT_OK(ABT_self_suspend());
    where = self_xstream();
  };
  ABT_thread t = new_thread(self_pool(), f);
  yield_until([&] { return state_of(t) == ABT_THREAD_STATE_BLOCKED; });
  EXPECT_OK(ABT_thread_migrate_to_xstream(t, es[0]));
  EXPECT_OK(ABT_thread_resume(t));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(where, es[0]);
}

TEST(ABT_thread_migrate_to_xstream, refuses_what_cannot_migrate) {
  const runtime rt;
  const streams es(1);
  expect_refusals([&](ABT_thread t) { return ABT_thread_migrate_to_xstream(t, es[0]); });
}

TEST(ABT_thread_migrate_to_xstream, refuses_null_xstream) {
  const runtime rt;
  body f = [] {};
  ABT_thread t = new_thread(self_pool(), f);
  for (const ABT_xstream null : null_xstreams)
    EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_thread_migrate_to_xstream(t, null));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_migrate_to_xstream, refuses_where_the_thread_is) {
  const runtime rt;
  body f = [] {
    EXPECT_ABT(ABT_ERR_MIGRATION_TARGET, ABT_thread_migrate_to_xstream(self(), self_xstream()));
  };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_ABT(ABT_ERR_MIGRATION_TARGET, ABT_thread_migrate_to_xstream(t, self_xstream()));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_migrate_to_sched, to_its_first_pool) {
  const runtime rt;
  const streams es(1);
  ABT_sched sched = ABT_SCHED_NULL;
  ASSERT_OK(ABT_xstream_get_main_sched(es[0], &sched));
  const moved m([&](ABT_thread t) { return ABT_thread_migrate_to_sched(t, sched); });
  EXPECT_EQ(m.xstream, es[0]);
  EXPECT_EQ(m.pool, es.pool(0));
}

TEST(ABT_thread_migrate_to_sched, to_the_pool_that_the_scheduler_picks) {
  const runtime rt;
  ABT_sched_def def = {};
  def.type = ABT_SCHED_TYPE_ULT;
  def.init = [](ABT_sched, ABT_sched_config) { return ABT_SUCCESS; };
  def.run = [](ABT_sched) {};
  def.free = [](ABT_sched) { return ABT_SUCCESS; };
  def.get_migr_pool = [](ABT_sched sched) {
    ABT_pool second = ABT_POOL_NULL;
    EXPECT_OK(ABT_sched_get_pools(sched, 1, 1, &second));
    return second;
  };
  const own_pool a;
  const own_pool b;
  ABT_pool pools[] = {a, b};
  ABT_sched sched = ABT_SCHED_NULL;
  ASSERT_OK(ABT_sched_create(&def, 2, pools, ABT_SCHED_CONFIG_NULL, &sched));
  body f = [] { EXPECT_OK(ABT_thread_yield()); };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_migrate_to_sched(t, sched));
  yield_until([&] { return b.size() == 1; });
  EXPECT_EQ(a.size(), 0U);
  b.run_all();
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_sched_free(&sched));
}

TEST(ABT_thread_migrate_to_sched, refuses_what_cannot_migrate) {
  const runtime rt;
  const streams es(1);
  ABT_sched sched = ABT_SCHED_NULL;
  ASSERT_OK(ABT_xstream_get_main_sched(es[0], &sched));
  expect_refusals([&](ABT_thread t) { return ABT_thread_migrate_to_sched(t, sched); });
}

TEST(ABT_thread_migrate_to_sched, refuses_null_sched) {
  const runtime rt;
  body f = [] {};
  ABT_thread t = new_thread(self_pool(), f);
  for (const ABT_sched null : null_scheds)
    EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_thread_migrate_to_sched(t, null));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_migrate_to_sched, refuses_where_the_thread_is) {
  const runtime rt;
  ABT_sched sched = ABT_SCHED_NULL;
  ASSERT_OK(ABT_xstream_get_main_sched(self_xstream(), &sched));
  body f = [] {};
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_ABT(ABT_ERR_MIGRATION_TARGET, ABT_thread_migrate_to_sched(t, sched));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_migrate_to_pool, before_the_start) {
  const runtime rt;
  const streams es(1);
  const moved m([&](ABT_thread t) { return ABT_thread_migrate_to_pool(t, es.pool(0)); });
  EXPECT_EQ(m.xstream, es[0]);
  EXPECT_EQ(m.pool, es.pool(0));
}

TEST(ABT_thread_migrate_to_pool, the_last_request_wins) {
  const runtime rt;
  const streams es(2);
  const moved m([&](ABT_thread t) {
    EXPECT_OK(ABT_thread_migrate_to_pool(t, es.pool(0)));
    return ABT_thread_migrate_to_pool(t, es.pool(1));
  });
  EXPECT_EQ(m.pool, es.pool(1));
}

TEST(ABT_thread_migrate_to_pool, a_tasklet) {
  const runtime rt;
  const streams es(1);
  calls noted;
  ABT_xstream where = ABT_XSTREAM_NULL;
  body f = [&] { where = self_xstream(); };
  ABT_task t = new_task(self_pool(), f);
  EXPECT_OK(ABT_thread_set_callback(t, note_call, &noted));
  EXPECT_OK(ABT_thread_migrate_to_pool(t, es.pool(0)));
  yield_until([&] { return noted.count == 1; });
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(where, es[0]);
}

TEST(ABT_thread_migrate_to_pool, a_request_dies_with_the_run) {
  const runtime rt;
  const streams es(1);
  calls noted;
  body f = [&] {
    EXPECT_OK(ABT_thread_set_callback(self(), note_call, &noted));
    EXPECT_OK(ABT_thread_migrate_to_pool(self(), es.pool(0)));
  }; // ends without a yield
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_EQ(noted.count, 0);
  EXPECT_EQ(last_pool_of(t), self_pool());
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_migrate_to_pool, from_every_context) {
  const runtime rt;
  const streams es(1);
  for (const auto& from : {from_tasklet, from_kernel_thread}) {
    ABT_xstream where = ABT_XSTREAM_NULL;
    std::atomic<bool> asked = false;
    body f = [&] {
      while (!asked)
        EXPECT_OK(ABT_thread_yield());
      EXPECT_OK(ABT_thread_yield());
      where = self_xstream();
    };
    ABT_thread t = new_thread(self_pool(), f);
    EXPECT_OK(from([&] { return ABT_thread_migrate_to_pool(t, es.pool(0)); }));
    asked = true;
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_EQ(where, es[0]);
  }
}

TEST(ABT_thread_migrate_to_pool, between_user_pools_takes_the_unit_along) {
  const runtime rt;
  const user_pool a;
  const user_pool b;
  body f = [] { EXPECT_OK(ABT_thread_yield()); };
  ABT_thread t = new_thread(a, f);
  EXPECT_OK(ABT_self_schedule(a.pop(), ABT_POOL_NULL)); // to its yield
  EXPECT_OK(ABT_thread_migrate_to_pool(t, b));
  EXPECT_OK(ABT_self_schedule(a.pop(), ABT_POOL_NULL)); // picked: it moves and does not run
  EXPECT_EQ(a.size(), 0U);
  EXPECT_EQ(a.units(), 0);
  EXPECT_EQ(b.size(), 1U);
  EXPECT_EQ(b.units(), 1);
  EXPECT_EQ(last_pool_of(t), b);
  EXPECT_NE(state_of(t), ABT_THREAD_STATE_TERMINATED);
  EXPECT_OK(ABT_self_schedule(b.pop(), ABT_POOL_NULL));
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_migrate_to_pool, refuses_what_cannot_migrate) {
  const runtime rt;
  const streams es(1);
  expect_refusals([&](ABT_thread t) { return ABT_thread_migrate_to_pool(t, es.pool(0)); });
}

TEST(ABT_thread_migrate_to_pool, refuses_null_pool) {
  const runtime rt;
  body f = [] {};
  ABT_thread t = new_thread(self_pool(), f);
  for (const ABT_pool null : null_pools)
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_thread_migrate_to_pool(t, null));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_migrate_to_pool, refuses_where_the_thread_is) {
  const runtime rt;
  body f = [] {};
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_ABT(ABT_ERR_MIGRATION_TARGET, ABT_thread_migrate_to_pool(t, self_pool()));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_migrate, goes_to_the_other_stream) { // upstream finds none
  const runtime rt;
  const streams es(1);
  const moved m([](ABT_thread t) { return ABT_thread_migrate(t); });
  EXPECT_EQ(m.xstream, es[0]);
  EXPECT_EQ(m.pool, es.pool(0));
}

TEST(ABT_thread_migrate, refuses_what_cannot_migrate) {
  const runtime rt;
  const streams es(1);
  expect_refusals([](ABT_thread t) { return ABT_thread_migrate(t); });
}

TEST(ABT_thread_migrate, refuses_when_there_is_no_other_stream) {
  const runtime rt;
  body f = [] { EXPECT_ABT(ABT_ERR_MIGRATION_NA, ABT_thread_migrate(self())); };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_ABT(ABT_ERR_MIGRATION_NA, ABT_thread_migrate(t));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_set_callback, called_at_each_migration) {
  const runtime rt;
  const streams es(1);
  const ABT_xstream home = self_xstream();
  calls noted;
  body f = [&] {
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(noted.count, i);
      EXPECT_OK(ABT_thread_migrate_to_xstream(self(), i % 2 == 0 ? es[0] : home));
      EXPECT_OK(ABT_thread_yield());
      EXPECT_OK(ABT_thread_yield()); // does not move it
    }
  };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_set_callback(t, note_call, &noted));
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_EQ(noted.count, 10);
  EXPECT_EQ(noted.last, t);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_set_callback, replaced_and_removed) {
  const runtime rt;
  const streams es(1);
  const ABT_xstream home = self_xstream();
  calls first;
  calls second;
  in_thread([&] {
    EXPECT_OK(ABT_thread_set_callback(self(), note_call, &first));
    EXPECT_OK(ABT_thread_set_callback(self(), note_call, &second));
    EXPECT_OK(ABT_thread_migrate_to_xstream(self(), es[0]));
    EXPECT_OK(ABT_thread_yield());
    EXPECT_OK(ABT_thread_set_callback(self(), nullptr, nullptr));
    EXPECT_OK(ABT_thread_migrate_to_xstream(self(), home));
    EXPECT_OK(ABT_thread_yield());
    EXPECT_EQ(self_xstream(), home);
  });
  EXPECT_EQ(first.count, 0);
  EXPECT_EQ(second.count, 1);
}

TEST(ABT_thread_set_callback, refuses_null_thread) {
  const runtime rt;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_set_callback(null, note_call, nullptr));
}

TEST(ABT_thread_set_migratable, holds_a_thread_back_and_lets_it_go) {
  const runtime rt;
  const streams es(1);
  ABT_xstream where = ABT_XSTREAM_NULL;
  body f = [&] { where = self_xstream(); };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_set_migratable(t, ABT_FALSE));
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_migrate_to_pool(t, es.pool(0)));
  EXPECT_OK(ABT_thread_set_migratable(t, ABT_TRUE));
  EXPECT_OK(ABT_thread_migrate_to_pool(t, es.pool(0)));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(where, es[0]);
}

TEST(ABT_thread_set_migratable, ignored_for_the_primary_thread_and_schedulers) {
  const runtime rt;
  own_scheduler s;
  for (const ABT_thread t : {self(), s.thread()}) {
    EXPECT_OK(ABT_thread_set_migratable(t, ABT_TRUE));
    ABT_bool flag = ABT_TRUE;
    EXPECT_OK(ABT_thread_is_migratable(t, &flag));
    EXPECT_EQ(flag, ABT_FALSE);
  }
}

TEST(ABT_thread_set_migratable, refuses_null_thread) {
  const runtime rt;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_set_migratable(null, ABT_TRUE));
}

TEST(ABT_thread_is_migratable, true_unless_said_otherwise) {
  const runtime rt;
  body f = [] {};
  for (ABT_thread t : {new_thread(self_pool(), f), new_task(self_pool(), f)}) {
    ABT_bool flag = ABT_FALSE;
    EXPECT_OK(ABT_thread_is_migratable(t, &flag));
    EXPECT_EQ(flag, ABT_TRUE);
    EXPECT_OK(ABT_thread_set_migratable(t, ABT_FALSE));
    EXPECT_OK(ABT_thread_is_migratable(t, &flag));
    EXPECT_EQ(flag, ABT_FALSE);
    EXPECT_OK(ABT_thread_free(&t));
  }
}

TEST(ABT_thread_is_migratable, refuses_null_thread) {
  const runtime rt;
  ABT_bool flag = ABT_FALSE;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_is_migratable(null, &flag));
}

} // namespace
} // namespace abt_test
