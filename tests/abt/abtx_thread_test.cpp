// SPDX-License-Identifier: MIT
// What Weft adds for threads: joins with a limit, detached threads, the ways a thread is run.
#include "abtx.h"

#include "sync.hpp"
#include "units.hpp"

namespace abt_test {
namespace {

int timed(ABT_thread t, const timespec& limit) {
  return ABTX_thread_timedjoin(t, &limit);
}

TEST(ABTX_thread_timedjoin, waits_for_the_end) {
  const runtime rt;
  const streams es(1);
  for (const ABT_pool pool : {self_pool(), es.pool(0)}) {
    std::atomic<bool> ended = false;
    body f = [&] {
      for (int i = 0; i < 20; ++i)
        EXPECT_OK(ABT_thread_yield()); // nothing in a tasklet
      ended = true;
    };
    for (const bool tasklet : {false, true}) {
      ABT_thread t = tasklet ? static_cast<ABT_thread>(new_task(pool, f)) : new_thread(pool, f);
      EXPECT_OK(timed(t, far()));
      EXPECT_TRUE(ended);
      EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
      EXPECT_OK(ABT_thread_free(&t));
      ended = false;
    }
  }
}

TEST(ABTX_thread_timedjoin, from_a_thread_and_from_a_kernel_thread) {
  const runtime rt;
  const streams es(1);
  body f = [] { EXPECT_OK(ABT_thread_yield()); };
  ABT_thread t = new_thread(es.pool(0), f);
  in_thread([&] { EXPECT_OK(timed(t, far())); });
  EXPECT_OK(ABT_thread_free(&t));
  t = new_thread(es.pool(0), f);
  EXPECT_OK(from_kernel_thread([&] { return timed(t, far()); }));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABTX_thread_timedjoin, a_limit_that_has_passed_tries_once) {
  const runtime rt;
  ABT_thread t = ended_thread();
  EXPECT_OK(timed(t, long_ago));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABTX_thread_timedjoin, refuses_at_the_limit_and_may_be_tried_again) {
  const runtime rt;
  body f = [] { EXPECT_OK(ABT_self_suspend()); };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, timed(t, long_ago));
  const timespec soon = after(0.02);
  EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, timed(t, soon));
  EXPECT_TRUE(reached(soon));
  EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, from_kernel_thread([&] { return timed(t, after(0.02)); }));
  in_thread([&] { EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, timed(t, after(0.02))); });
  resume_when_blocked(t);
  EXPECT_OK(timed(t, far()));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABTX_thread_timedjoin, a_join_may_follow_a_time_out) {
  const runtime rt;
  const streams es(1);
  for (int i = 0; i < 100; ++i) { // the end and the limit come at about the same time
    std::atomic<bool> go = false;
    body f = [&] {
      while (!go)
        EXPECT_OK(ABT_self_yield());
    };
    ABT_thread t = new_thread(es.pool(0), f);
    body opener = [&] { go = true; };
    ABT_thread o = new_thread(es.pool(0), opener);
    const int code = timed(t, after(0.0001));
    EXPECT_TRUE(code == ABT_SUCCESS || code == ABT_ERR_COND_TIMEDOUT) << name_of(code);
    free_all({&o, &t});
  }
}

TEST(ABTX_thread_timedjoin, refuses_what_join_refuses) {
  const runtime rt;
  const timespec limit = far();
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, timed(null, limit));
  const ABT_thread primary = self();
  EXPECT_ABT(ABT_ERR_INV_THREAD, timed(primary, limit));
  in_thread([&] {
    EXPECT_ABT(ABT_ERR_INV_THREAD, timed(self(), limit));
    EXPECT_ABT(ABT_ERR_INV_THREAD, timed(primary, limit));
  });
  own_scheduler s;
  EXPECT_ABT(ABT_ERR_INV_THREAD, timed(s.thread(), limit));
}

TEST(ABTX_thread_detach, frees_the_thread_at_its_end) {
  const runtime rt;
  const streams es(1);
  for (const ABT_pool pool : {self_pool(), es.pool(0)}) {
    std::atomic<int> destroyed = 0;
    std::atomic<bool> go = false;
    const own_key key(count);
    body f = [&] {
      EXPECT_OK(ABT_self_set_specific(key, &destroyed));
      while (!go)
        EXPECT_OK(ABT_self_yield());
      ABT_bool unnamed = ABT_FALSE;
      EXPECT_OK(ABT_self_is_unnamed(&unnamed));
      EXPECT_EQ(unnamed, ABT_TRUE);
    };
    ABT_thread t = new_thread(pool, f);
    EXPECT_OK(ABTX_thread_detach(&t));
    EXPECT_EQ(t, ABT_THREAD_NULL);
    EXPECT_EQ(destroyed, 0);
    go = true;
    yield_until([&] { return destroyed == 1; });
  }
}

TEST(ABTX_thread_detach, a_thread_that_has_ended_goes_at_once) {
  const runtime rt;
  const own_key key(count);
  for (ABT_thread t : {ended_thread(), static_cast<ABT_thread>(ended_task())}) {
    std::atomic<int> destroyed = 0;
    EXPECT_OK(ABT_thread_set_specific(t, key, &destroyed));
    EXPECT_OK(ABTX_thread_detach(&t));
    EXPECT_EQ(t, ABT_THREAD_NULL);
    EXPECT_EQ(destroyed, 1);
  }
}

TEST(ABTX_thread_detach, oneself_and_from_a_kernel_thread) {
  const runtime rt;
  std::atomic<int> destroyed = 0;
  const own_key key(count);
  body f = [&] {
    EXPECT_OK(ABT_self_set_specific(key, &destroyed));
    ABT_thread own = self();
    EXPECT_OK(ABTX_thread_detach(&own));
    EXPECT_EQ(own, ABT_THREAD_NULL);
    EXPECT_OK(ABT_thread_yield());
  };
  new_thread(self_pool(), f);
  new_task(self_pool(), f);
  yield_until([&] { return destroyed == 2; });
  ABT_thread t = ended_thread();
  EXPECT_OK(ABT_thread_set_specific(t, key, &destroyed));
  EXPECT_OK(from_kernel_thread([&] { return ABTX_thread_detach(&t); }));
  EXPECT_EQ(destroyed, 3);
}

TEST(ABTX_thread_detach, while_the_thread_ends) {
  const runtime rt;
  const streams es(1);
  std::atomic<int> destroyed = 0;
  const own_key key(count);
  body f = [&] { EXPECT_OK(ABT_self_set_specific(key, &destroyed)); };
  for (int i = 0; i < 1000; ++i) {
    ABT_thread t = i % 2 == 0 ? new_thread(es.pool(0), f) : new_task(es.pool(0), f);
    EXPECT_OK(ABTX_thread_detach(&t)); // before, at or after its end
  }
  yield_until([&] { return destroyed == 1000; });
}

TEST(ABTX_thread_detach, a_blocked_thread) {
  const runtime rt;
  std::atomic<int> destroyed = 0;
  const own_key key(count);
  body f = [&] {
    EXPECT_OK(ABT_self_set_specific(key, &destroyed));
    EXPECT_OK(ABT_self_suspend());
  };
  ABT_thread t = new_thread(self_pool(), f);
  const ABT_thread same = t;
  yield_until([&] { return state_of(t) == ABT_THREAD_STATE_BLOCKED; });
  EXPECT_OK(ABTX_thread_detach(&t));
  EXPECT_OK(ABT_thread_resume(same)); // has not ended, so the handle that was kept is one
  yield_until([&] { return destroyed == 1; });
}

TEST(ABTX_thread_detach, refuses_null_primary_and_schedulers) {
  const runtime rt;
  for (ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABTX_thread_detach(&null));
  ABT_thread primary = self();
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABTX_thread_detach(&primary));
  EXPECT_EQ(primary, self());
  own_scheduler s;
  ABT_thread scheduler = s.thread();
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABTX_thread_detach(&scheduler));
}

ABTX_technique technique_of(ABT_thread t) {
  auto technique = static_cast<ABTX_technique>(77);
  EXPECT_OK(ABTX_thread_get_technique(t, &technique));
  return technique;
}

TEST(ABTX_thread_attr_set_technique, is_what_threads_get) {
  const runtime rt;
  for (const ABTX_technique wanted :
       {ABTX_TECHNIQUE_FULL_LAZY, ABTX_TECHNIQUE_RUN_TO_COMPLETION, ABTX_TECHNIQUE_INLINE_JOIN}) {
    const attributes attr;
    ASSERT_OK(ABTX_thread_attr_set_technique(attr, wanted));
    std::atomic<int> ran = 0;
    ABTX_technique inside = ABTX_TECHNIQUE_DEFAULT;
    body f = [&] {
      inside = technique_of(self());
      ++ran;
    };
    ABT_thread t = new_thread(self_pool(), f, attr);
    EXPECT_EQ(technique_of(t), wanted);
    EXPECT_OK(ABT_thread_join(t));
    EXPECT_EQ(inside, wanted);
    ASSERT_OK(ABT_thread_revive(self_pool(), count, &ran, &t));
    EXPECT_EQ(technique_of(t), wanted);
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_EQ(ran, 2);
  }
}

TEST(ABTX_thread_attr_set_technique, refuses_unknown_values) {
  const runtime rt;
  const attributes attr;
  ASSERT_OK(ABTX_thread_attr_set_technique(attr, ABTX_TECHNIQUE_FULL_LAZY));
  for (const int unknown : {-1, 14, 1000})
    EXPECT_ABT(ABT_ERR_INV_ARG, ABTX_thread_attr_set_technique(attr, static_cast<ABTX_technique>(unknown)));
  ABTX_technique still = ABTX_TECHNIQUE_DEFAULT;
  EXPECT_OK(ABTX_thread_attr_get_technique(attr, &still));
  EXPECT_EQ(still, ABTX_TECHNIQUE_FULL_LAZY);
}

TEST(ABTX_thread_attr_set_technique, refuses_null_attr) {
  const runtime rt;
  for (const ABT_thread_attr null : null_attrs)
    EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABTX_thread_attr_set_technique(null, ABTX_TECHNIQUE_DEFAULT));
}

TEST(ABTX_thread_attr_get_technique, default_and_as_set) {
  const runtime rt;
  const attributes attr;
  auto technique = static_cast<ABTX_technique>(77);
  EXPECT_OK(ABTX_thread_attr_get_technique(attr, &technique));
  EXPECT_EQ(technique, ABTX_TECHNIQUE_DEFAULT);
  for (const ABTX_technique wanted : {ABTX_TECHNIQUE_RUN_TO_COMPLETION, ABTX_TECHNIQUE_FULL_LAZY,
                                      ABTX_TECHNIQUE_INLINE_JOIN, ABTX_TECHNIQUE_DEFAULT}) {
    EXPECT_OK(ABTX_thread_attr_set_technique(attr, wanted));
    EXPECT_OK(ABTX_thread_attr_get_technique(attr, &technique));
    EXPECT_EQ(technique, wanted);
  }
}

TEST(ABTX_thread_attr_get_technique, refuses_null_attr) {
  const runtime rt;
  ABTX_technique technique = ABTX_TECHNIQUE_DEFAULT;
  for (const ABT_thread_attr null : null_attrs)
    EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABTX_thread_attr_get_technique(null, &technique));
}

TEST(ABTX_thread_attr_set_preemption, is_what_threads_get) {
  const runtime rt;
  const attributes attr;
  ASSERT_OK(ABTX_thread_attr_set_preemption(attr, ABTX_PREEMPTION_COOPERATIVE));
  body f = [] {};
  ABT_thread t = new_thread(self_pool(), f, attr);
  auto preemption = static_cast<ABTX_preemption>(77);
  EXPECT_OK(ABTX_thread_get_preemption(t, &preemption));
  EXPECT_EQ(preemption, ABTX_PREEMPTION_COOPERATIVE);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABTX_thread_attr_set_preemption, refuses_unknown_values) {
  const runtime rt;
  const attributes attr;
  for (const int unknown : {-1, 100, 1000})
    EXPECT_ABT(ABT_ERR_INV_ARG, ABTX_thread_attr_set_preemption(attr, static_cast<ABTX_preemption>(unknown)));
}

TEST(ABTX_thread_attr_set_preemption, refuses_null_attr) {
  const runtime rt;
  for (const ABT_thread_attr null : null_attrs)
    EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABTX_thread_attr_set_preemption(null, ABTX_PREEMPTION_COOPERATIVE));
}

TEST(ABTX_thread_attr_get_preemption, cooperative_at_first) {
  const runtime rt;
  const attributes attr;
  auto preemption = static_cast<ABTX_preemption>(77);
  EXPECT_OK(ABTX_thread_attr_get_preemption(attr, &preemption));
  EXPECT_EQ(preemption, ABTX_PREEMPTION_COOPERATIVE);
}

TEST(ABTX_thread_attr_get_preemption, refuses_null_attr) {
  const runtime rt;
  ABTX_preemption preemption = ABTX_PREEMPTION_COOPERATIVE;
  for (const ABT_thread_attr null : null_attrs)
    EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABTX_thread_attr_get_preemption(null, &preemption));
}

TEST(ABTX_thread_get_technique, never_default) {
  const runtime rt;
  ABT_thread t = ended_thread();
  ABT_task task = ended_task();
  EXPECT_NE(technique_of(t), ABTX_TECHNIQUE_DEFAULT);
  EXPECT_NE(technique_of(self()), ABTX_TECHNIQUE_DEFAULT);
  EXPECT_EQ(technique_of(task), ABTX_TECHNIQUE_RUN_TO_COMPLETION);
  free_all({&t, &task});
}

TEST(ABTX_thread_get_technique, refuses_null_thread) {
  const runtime rt;
  ABTX_technique technique = ABTX_TECHNIQUE_DEFAULT;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABTX_thread_get_technique(null, &technique));
}

TEST(ABTX_thread_get_preemption, of_every_kind_of_unit) {
  const runtime rt;
  ABT_thread t = ended_thread();
  ABT_task task = ended_task();
  for (const ABT_thread one : {t, static_cast<ABT_thread>(task), self()}) {
    auto preemption = static_cast<ABTX_preemption>(77);
    EXPECT_OK(ABTX_thread_get_preemption(one, &preemption));
    EXPECT_EQ(preemption, ABTX_PREEMPTION_COOPERATIVE);
  }
  free_all({&t, &task});
}

TEST(ABTX_thread_get_preemption, refuses_null_thread) {
  const runtime rt;
  ABTX_preemption preemption = ABTX_PREEMPTION_COOPERATIVE;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABTX_thread_get_preemption(null, &preemption));
}

} // namespace
} // namespace abt_test
