// SPDX-License-Identifier: MIT
// ABT_tool_query_thread.
#include "tool.hpp"

namespace {

using namespace tool_test;

TEST(ABT_tool_query_thread, tells_the_pool) {
  const runtime rt;
  const listening tool;
  ABT_pool pool = make_pool();
  ABT_pool other = make_pool();
  body f = [&] {
    EXPECT_OK(ABT_self_set_associated_pool(other));
    EXPECT_OK(ABT_thread_yield());
    EXPECT_OK(ABT_self_suspend());
  };
  ABT_thread t = make_thread(pool, f);
  const ABT_thread handle = t;
  for (const ABT_pool from : {pool, other, other}) {
    ABT_thread next = ABT_THREAD_NULL;
    EXPECT_OK(ABT_pool_pop_thread(from, &next));
    ASSERT_EQ(next, t);
    EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
    ABT_thread_state state = ABT_THREAD_STATE_READY;
    EXPECT_OK(ABT_thread_get_state(t, &state));
    if (state == ABT_THREAD_STATE_BLOCKED) {
      EXPECT_OK(ABT_thread_resume(t));
    }
  }
  EXPECT_OK(ABT_thread_join(t));
  body quick = [] {};
  EXPECT_OK(ABT_thread_revive(self_pool(), run_function, &quick, &t));
  EXPECT_OK(ABT_thread_free(&t));
  const std::map<std::uint64_t, ABT_pool> expected = {{ABT_TOOL_EVENT_THREAD_CREATE, pool},
                                                      {ABT_TOOL_EVENT_THREAD_YIELD, other},
                                                      {ABT_TOOL_EVENT_THREAD_RESUME, other},
                                                      {ABT_TOOL_EVENT_THREAD_REVIVE, self_pool()}};
  std::map<std::uint64_t, ABT_pool> got;
  for (const heard& h : tool->of(handle)) {
    if ((h.event & has_pool) != 0)
      got[h.event] = h.pool;
  }
  EXPECT_EQ(got, expected);
  EXPECT_OK(ABT_pool_free(&pool));
  EXPECT_OK(ABT_pool_free(&other));
}

TEST(ABT_tool_query_thread, tells_how_deep_units_are_stacked) {
  const runtime rt;
  const listening tool;
  ABT_pool pool = make_pool();
  body inner = [] { EXPECT_OK(ABT_thread_yield()); };
  ABT_thread t = make_thread(pool, inner);
  const ABT_thread deep = t;
  ABT_thread flat = ABT_THREAD_NULL;
  in_thread([&] {
    flat = self();
    for (int i = 0; i < 2; ++i) {
      ABT_thread next = ABT_THREAD_NULL;
      EXPECT_OK(ABT_pool_pop_thread(pool, &next));
      EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
    }
  });
  const auto check_depth = [&tool](ABT_thread which, int depth) {
    int seen = 0;
    for (const heard& h : tool->of(which)) {
      if ((h.event & has_depth) == 0)
        continue;
      EXPECT_EQ(h.depth, depth) << letter_of(h.event);
      ++seen;
    }
    EXPECT_GE(seen, 2);
  };
  check_depth(flat, 1);
  check_depth(deep, 2);
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_tool_query_thread, tells_who_caused_it) {
  const runtime rt;
  const listening tool;
  body f = [] {};
  ABT_thread t = make_thread(self_pool(), f);
  const ABT_thread handle = t;
  EXPECT_OK(ABT_thread_free(&t));
  for (const heard& h : tool->of(handle)) {
    if (h.event == ABT_TOOL_EVENT_THREAD_FINISH)
      continue; // whether it is the thread itself is not said
    EXPECT_EQ(h.caller_type, ABT_EXEC_ENTITY_TYPE_THREAD) << letter_of(h.event);
    const bool by_us = (h.event & (ABT_TOOL_EVENT_THREAD_CREATE | ABT_TOOL_EVENT_THREAD_FREE)) != 0;
    if (by_us) {
      EXPECT_EQ(h.caller, self()) << letter_of(h.event);
    }
  }
}

// The events of a ULT that waits, by `wait`, for something until `release`; it must name the object.
void check_sync(const listening& tool, ABT_sync_event_type type, const void* object, body wait,
                const body& release) {
  SCOPED_TRACE(type);
  ABT_thread t = make_thread(self_pool(), wait);
  const ABT_thread handle = t;
  const auto waits = [&] {
    const std::vector<heard> story = tool->of(handle);
    return std::any_of(story.begin(), story.end(), [&](const heard& h) {
      return (h.event & has_sync) != 0 && h.sync == type && h.sync_object == object;
    });
  };
  for (int i = 0; i < 1000 && !waits(); ++i)
    EXPECT_OK(ABT_thread_yield());
  EXPECT_TRUE(waits());
  release();
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_tool_query_thread, tells_what_a_thread_waits_for) {
  const runtime rt;
  const listening tool;
  ABT_mutex mutex = ABT_MUTEX_NULL;
  ASSERT_OK(ABT_mutex_create(&mutex));
  EXPECT_OK(ABT_mutex_lock(mutex));
  check_sync(
      tool, ABT_SYNC_EVENT_TYPE_MUTEX, mutex,
      [mutex] {
        EXPECT_OK(ABT_mutex_lock(mutex));
        EXPECT_OK(ABT_mutex_unlock(mutex));
      },
      [mutex] { EXPECT_OK(ABT_mutex_unlock(mutex)); });

  ABT_cond cond = ABT_COND_NULL;
  ASSERT_OK(ABT_cond_create(&cond));
  check_sync(
      tool, ABT_SYNC_EVENT_TYPE_COND, cond,
      [&] {
        EXPECT_OK(ABT_mutex_lock(mutex));
        EXPECT_OK(ABT_cond_wait(cond, mutex));
        EXPECT_OK(ABT_mutex_unlock(mutex));
      },
      [&] {
        EXPECT_OK(ABT_mutex_lock(mutex));
        EXPECT_OK(ABT_cond_signal(cond));
        EXPECT_OK(ABT_mutex_unlock(mutex));
      });
  EXPECT_OK(ABT_cond_free(&cond));
  EXPECT_OK(ABT_mutex_free(&mutex));

  ABT_rwlock rwlock = ABT_RWLOCK_NULL;
  ASSERT_OK(ABT_rwlock_create(&rwlock));
  EXPECT_OK(ABT_rwlock_wrlock(rwlock));
  check_sync(
      tool, ABT_SYNC_EVENT_TYPE_RWLOCK, rwlock,
      [rwlock] {
        EXPECT_OK(ABT_rwlock_rdlock(rwlock));
        EXPECT_OK(ABT_rwlock_unlock(rwlock));
      },
      [rwlock] { EXPECT_OK(ABT_rwlock_unlock(rwlock)); });
  EXPECT_OK(ABT_rwlock_free(&rwlock));

  ABT_eventual eventual = ABT_EVENTUAL_NULL;
  ASSERT_OK(ABT_eventual_create(0, &eventual));
  check_sync(
      tool, ABT_SYNC_EVENT_TYPE_EVENTUAL, eventual,
      [eventual] { EXPECT_OK(ABT_eventual_wait(eventual, nullptr)); },
      [eventual] { EXPECT_OK(ABT_eventual_set(eventual, nullptr, 0)); });
  EXPECT_OK(ABT_eventual_free(&eventual));

  ABT_future future = ABT_FUTURE_NULL;
  ASSERT_OK(ABT_future_create(1, nullptr, &future));
  check_sync(
      tool, ABT_SYNC_EVENT_TYPE_FUTURE, future, [future] { EXPECT_OK(ABT_future_wait(future)); },
      [future] { EXPECT_OK(ABT_future_set(future, nullptr)); });
  EXPECT_OK(ABT_future_free(&future));

  ABT_barrier barrier = ABT_BARRIER_NULL;
  ASSERT_OK(ABT_barrier_create(2, &barrier));
  check_sync(
      tool, ABT_SYNC_EVENT_TYPE_BARRIER, barrier, [barrier] { EXPECT_OK(ABT_barrier_wait(barrier)); },
      [barrier] { EXPECT_OK(ABT_barrier_wait(barrier)); });
  EXPECT_OK(ABT_barrier_free(&barrier));
}

TEST(ABT_tool_query_thread, tells_that_a_thread_waits_for_another_or_for_nothing) {
  const runtime rt;
  const listening tool;
  bool stop = false;
  body waiting = [&stop] {
    while (!stop)
      EXPECT_OK(ABT_thread_yield());
  };
  ABT_thread target = make_thread(self_pool(), waiting);
  check_sync(
      tool, ABT_SYNC_EVENT_TYPE_THREAD_JOIN, target, [target] { EXPECT_OK(ABT_thread_join(target)); },
      [&stop] { stop = true; });
  EXPECT_OK(ABT_thread_free(&target));

  stop = false;
  check_sync(tool, ABT_SYNC_EVENT_TYPE_USER, nullptr, waiting, [&stop] { stop = true; });
}

// Its work keeps the stream from ending.
TEST(ABT_tool_query_thread, tells_that_a_thread_waits_for_a_stream) {
  const runtime rt;
  const listening tool;
  const streams es(1);
  std::atomic<bool> stop = false;
  body waiting = [&stop] {
    while (!stop)
      EXPECT_OK(ABT_thread_yield());
  };
  ABT_thread busy = make_thread(es.pool(0), waiting);
  check_sync(
      tool, ABT_SYNC_EVENT_TYPE_XSTREAM_JOIN, es[0], [&es] { EXPECT_OK(ABT_xstream_join(es[0])); },
      [&stop] { stop = true; });
  EXPECT_OK(ABT_thread_free(&busy));
}

std::atomic<int> wrong_kind;
std::atomic<int> wrong_event;
void ask_wrongly(ABT_thread, ABT_xstream, std::uint64_t event, ABT_tool_context context, void*) {
  std::uint64_t out[2] = {};
  wrong_kind = ABT_tool_query_thread(context, event, static_cast<ABT_tool_query_kind>(7), out);
  wrong_event = ABT_tool_query_thread(context, event,
                                      event == ABT_TOOL_EVENT_THREAD_CREATE ? ABT_TOOL_QUERY_KIND_STACK_DEPTH
                                                                            : ABT_TOOL_QUERY_KIND_POOL,
                                      out);
}

TEST(ABT_tool_query_thread, refuses_kinds_that_the_event_does_not_have) {
  const runtime rt;
  body f = [] {};
  for (const int event : {ABT_TOOL_EVENT_THREAD_CREATE, ABT_TOOL_EVENT_THREAD_FINISH}) {
    wrong_kind = -1;
    wrong_event = -1;
    EXPECT_OK(ABT_tool_register_thread_callback(ask_wrongly, static_cast<std::uint64_t>(event), nullptr));
    ABT_thread t = make_thread(self_pool(), f);
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_OK(ABT_tool_register_thread_callback(nullptr, 0, nullptr));
    EXPECT_ABT(ABT_ERR_INV_ARG, wrong_kind.load());
    EXPECT_ABT(ABT_ERR_INV_ARG, wrong_event.load());
  }
}

} // namespace
