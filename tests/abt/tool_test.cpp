// SPDX-License-Identifier: MIT
// ABT_tool_register_thread_callback.
#include "tool.hpp"

namespace {

using namespace tool_test;

TEST(ABT_tool_register_thread_callback, hears_of_a_thread_from_creation_to_free) {
  const runtime rt;
  const listening tool;
  body f = [] { EXPECT_OK(ABT_thread_yield()); };
  ABT_thread t = make_thread(self_pool(), f);
  const ABT_thread handle = t;
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(tool->story(handle), "cryrejf");
  for (const heard& h : tool->of(handle))
    EXPECT_EQ(h.es, self_xstream());
}

// A thread that has not started runs on the stack of who joins it: to the tool the joiner waits meanwhile.
TEST(ABT_tool_register_thread_callback, hears_that_a_joiner_waits) {
  const runtime rt;
  const listening tool;
  for (const bool tasklet : {false, true}) {
    ABT_thread joiner = ABT_THREAD_NULL;
    ABT_thread inner = ABT_THREAD_NULL;
    body f = [] {};
    body joins = [&] {
      ABT_thread t = ABT_THREAD_NULL;
      if (tasklet) {
        EXPECT_OK(ABT_task_create(self_pool(), run_function, &f, &t));
      } else {
        t = make_thread(self_pool(), f);
      }
      inner = t;
      EXPECT_OK(ABT_thread_free(&t));
    };
    ABT_thread t = make_thread(self_pool(), joins);
    joiner = t;
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_EQ(tool->story(inner), "crejf") << tasklet;
    EXPECT_EQ(tool->story(joiner), "crswrejf") << tasklet;
    std::vector<heard> waits = tool->of(joiner);
    std::erase_if(waits, [](const heard& h) { return h.event != ABT_TOOL_EVENT_THREAD_SUSPEND; });
    ASSERT_EQ(waits.size(), 1U);
    EXPECT_EQ(waits[0].sync, ABT_SYNC_EVENT_TYPE_THREAD_JOIN);
    EXPECT_EQ(waits[0].sync_object, inner);
    tool->clear();
  }
}

TEST(ABT_tool_register_thread_callback, hears_how_a_joined_thread_ends) {
  const runtime rt;
  const listening tool;
  const auto story_of = [&](body f) {
    tool->clear();
    ABT_thread t = make_thread(self_pool(), f);
    const ABT_thread handle = t;
    EXPECT_OK(ABT_thread_free(&t));
    return tool->story(handle);
  };
  EXPECT_EQ(story_of([] { EXPECT_OK(ABT_self_exit()); }), "crejf");
  EXPECT_EQ(story_of([] {
              EXPECT_OK(ABT_thread_yield());
              EXPECT_OK(ABT_self_exit());
            }),
            "cryrejf");
  EXPECT_EQ(story_of([] {
              EXPECT_OK(ABT_thread_cancel(self()));
              EXPECT_OK(ABT_thread_yield());
              FAIL() << "goes on";
            }),
            "cryxjf");
}

TEST(ABT_tool_register_thread_callback, hears_nothing_of_events_that_there_are_not) {
  const runtime rt;
  const listening tool(~ABT_TOOL_EVENT_THREAD_ALL);
  EXPECT_EQ(run_many(self_pool(), 5), 10);
  EXPECT_TRUE(tool->all().empty());
}

TEST(ABT_tool_register_thread_callback, hears_of_suspend_and_resume) {
  const runtime rt;
  const listening tool;
  body f = [] { EXPECT_OK(ABT_self_suspend()); };
  ABT_thread t = make_thread(self_pool(), f);
  const ABT_thread handle = t;
  until_blocked(t);
  EXPECT_OK(ABT_thread_resume(t));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(tool->story(handle), "crswrejf");
}

TEST(ABT_tool_register_thread_callback, hears_of_cancel) {
  const runtime rt;
  const listening tool;
  body f = [] { FAIL() << "has run"; };
  ABT_thread t = make_thread(self_pool(), f);
  const ABT_thread handle = t;
  EXPECT_OK(ABT_thread_cancel(t));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(tool->story(handle), "cxjf");
}

TEST(ABT_tool_register_thread_callback, hears_of_revive) {
  const runtime rt;
  const listening tool;
  body f = [] {};
  ABT_thread t = make_thread(self_pool(), f);
  const ABT_thread handle = t;
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_OK(ABT_thread_revive(self_pool(), run_function, &f, &t));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(tool->story(handle), "crejvrejf");
}

TEST(ABT_tool_register_thread_callback, hears_of_tasklets) {
  const runtime rt;
  const listening tool;
  body f = [] {};
  ABT_task t = ABT_TASK_NULL;
  ASSERT_OK(ABT_task_create(self_pool(), run_function, &f, &t));
  const ABT_thread handle = t;
  EXPECT_OK(ABT_task_free(&t));
  EXPECT_EQ(tool->story(handle), "crejf");
}

TEST(ABT_tool_register_thread_callback, hears_of_threads_without_a_name) {
  const runtime rt;
  const listening tool;
  ABT_thread handle = ABT_THREAD_NULL;
  body f = [&handle] { handle = self(); };
  EXPECT_OK(ABT_thread_create(self_pool(), run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
  yield_until([&] { return handle != ABT_THREAD_NULL && tool->story(handle).ends_with('f'); });
  EXPECT_EQ(tool->story(handle), "cref"); // nobody can join it
}

TEST(ABT_tool_register_thread_callback, tells_the_stream) {
  const runtime rt;
  const streams es(1);
  const listening tool;
  std::vector<ABT_thread> made;
  body f = [] { EXPECT_OK(ABT_thread_yield()); };
  ABT_thread t = make_thread(es.pool(0), f);
  const ABT_thread handle = t;
  EXPECT_OK(ABT_thread_free(&t));
  for (const heard& h : tool->of(handle)) {
    const bool there = (h.event & has_depth) != 0;
    EXPECT_EQ(h.es, there ? es[0] : self_xstream()) << letter_of(h.event);
  }
  in_kernel_thread([&] {
    ABT_thread other = make_thread(es.pool(0), f);
    made.push_back(other);
    EXPECT_OK(ABT_thread_free(&other));
  });
  const std::vector<heard> story = tool->of(made[0]);
  ASSERT_FALSE(story.empty());
  const heard& last_creation = *std::find_if(
      story.rbegin(), story.rend(), [](const heard& h) { return h.event == ABT_TOOL_EVENT_THREAD_CREATE; });
  EXPECT_EQ(last_creation.es, ABT_XSTREAM_NULL);
  EXPECT_EQ(last_creation.caller_type, ABT_EXEC_ENTITY_TYPE_EXT);
  EXPECT_EQ(last_creation.caller, nullptr);
}

TEST(ABT_tool_register_thread_callback, hears_only_what_the_mask_has) {
  const runtime rt;
  const listening tool(ABT_TOOL_EVENT_THREAD_CREATE | ABT_TOOL_EVENT_THREAD_FREE);
  EXPECT_EQ(run_many(self_pool(), 5), 10);
  for (const heard& h : tool->all())
    EXPECT_TRUE(h.event == ABT_TOOL_EVENT_THREAD_CREATE || h.event == ABT_TOOL_EVENT_THREAD_FREE);
  EXPECT_EQ(tool->all().size(), 20U);
}

TEST(ABT_tool_register_thread_callback, hears_nothing_with_an_empty_mask) {
  const runtime rt;
  const listening tool(ABT_TOOL_EVENT_THREAD_NONE);
  EXPECT_EQ(run_many(self_pool(), 5), 10);
  EXPECT_TRUE(tool->all().empty());
}

TEST(ABT_tool_register_thread_callback, replaces_and_removes_the_old_one) {
  const runtime rt;
  recorder& second = second_recorder();
  second.clear();
  {
    const listening tool;
    EXPECT_EQ(run_many(self_pool(), 1), 2);
    const std::size_t before = tool->all().size();
    EXPECT_GT(before, 0U);
    EXPECT_OK(ABT_tool_register_thread_callback(listen, ABT_TOOL_EVENT_THREAD_ALL, &second));
    EXPECT_EQ(run_many(self_pool(), 1), 2);
    EXPECT_EQ(tool->all().size(), before);
    EXPECT_GT(second.all().size(), 0U);
  }
  const std::size_t before = second.all().size();
  EXPECT_EQ(run_many(self_pool(), 5), 10);
  EXPECT_EQ(second.all().size(), before);
}

// The rules for each unit. Schedulers and the primary thread began before anybody listened.
class checker {
 public:
  void check(const heard& h) {
    ABT_bool unnamed = ABT_FALSE;
    EXPECT_OK(ABT_thread_is_unnamed(h.thread, &unnamed));
    const std::lock_guard guard(lock_);
    auto& [state, es] = units_[h.thread];
    const auto expect = [&, was = state](std::string_view allowed) {
      EXPECT_NE(allowed.find(was), allowed.npos) << letter_of(h.event) << " in state " << was;
    };
    // '?': unknown, 'r': ready, 'R': runs, 'b': blocked, 'f': finished, 'j': joined
    switch (h.event) {
    case ABT_TOOL_EVENT_THREAD_CREATE:
      expect("?");
      state = 'r';
      break;
    case ABT_TOOL_EVENT_THREAD_RUN:
      expect("?r");
      state = 'R';
      es = h.es;
      break;
    case ABT_TOOL_EVENT_THREAD_YIELD:
    case ABT_TOOL_EVENT_THREAD_SUSPEND:
    case ABT_TOOL_EVENT_THREAD_FINISH:
      expect("?R");
      if (state == 'R') {
        EXPECT_EQ(es, h.es) << letter_of(h.event);
      }
      state = h.event == ABT_TOOL_EVENT_THREAD_YIELD     ? 'r'
              : h.event == ABT_TOOL_EVENT_THREAD_SUSPEND ? 'b'
                                                         : 'f';
      break;
    case ABT_TOOL_EVENT_THREAD_RESUME:
      expect("?b");
      state = 'r';
      break;
    case ABT_TOOL_EVENT_THREAD_CANCEL:
      expect("?r");
      state = 'f';
      break;
    case ABT_TOOL_EVENT_THREAD_JOIN:
      EXPECT_EQ(unnamed, ABT_FALSE);
      expect("?fj");
      state = 'j';
      break;
    case ABT_TOOL_EVENT_THREAD_REVIVE:
      expect("?j");
      state = 'r';
      break;
    case ABT_TOOL_EVENT_THREAD_FREE:
      expect(unnamed == ABT_TRUE ? "?rf" : "?j");
      units_.erase(h.thread);
      break;
    default:
      ADD_FAILURE() << "event " << h.event;
    }
    seen_ |= h.event;
  }
  void start() {
    const std::lock_guard guard(lock_);
    units_.clear();
    seen_ = 0;
  }
  std::uint64_t seen() {
    const std::lock_guard guard(lock_);
    return seen_;
  }

 private:
  struct unit {
    char state = '?';
    ABT_xstream es = nullptr;
  };
  std::mutex lock_;
  std::map<ABT_thread, unit> units_;
  std::uint64_t seen_ = 0;
};

checker& the_checker() {
  static checker& one = *new checker;
  return one;
}
void check(ABT_thread t, ABT_xstream es, std::uint64_t event, ABT_tool_context, void* arg) {
  static_cast<checker*>(arg)->check({t, es, event});
}

TEST(ABT_tool_register_thread_callback, hears_events_in_the_order_of_their_states) {
  const runtime rt;
  the_checker().start();
  ASSERT_OK(ABT_tool_register_thread_callback(check, ABT_TOOL_EVENT_THREAD_ALL, &the_checker()));
  {
    const streams es(2);
    ABT_mutex mutex = ABT_MUTEX_NULL;
    ASSERT_OK(ABT_mutex_create(&mutex));
    ABT_barrier barrier = ABT_BARRIER_NULL;
    ASSERT_OK(ABT_barrier_create(8, &barrier));
    std::atomic<int> ran = 0;
    body f = [&] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_OK(ABT_mutex_lock(mutex));
        EXPECT_OK(ABT_thread_yield());
        EXPECT_OK(ABT_mutex_unlock(mutex));
        EXPECT_OK(ABT_barrier_wait(barrier));
      }
      ++ran;
    };
    std::vector<ABT_thread> all;
    for (std::size_t i = 0; i < 8; ++i)
      all.push_back(make_thread(i % 3 == 2 ? self_pool() : es.pool(i % 3), f));
    for (const ABT_thread t : all)
      EXPECT_OK(ABT_thread_join(t));
    for (ABT_thread& t : all)
      EXPECT_OK(ABT_thread_revive(es.pool(0), run_function, &f, &t));
    for (ABT_thread& t : all)
      EXPECT_OK(ABT_thread_free(&t));
    EXPECT_EQ(ran, 16);
    body cancelled = [] {};
    ABT_thread t = make_thread(self_pool(), cancelled);
    EXPECT_OK(ABT_thread_cancel(t));
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_EQ(run_many(es.pool(1), 50), 100);
    ABT_pool inner = make_pool(ABT_TRUE);
    EXPECT_OK(ABT_thread_create(inner, run_function, &cancelled, ABT_THREAD_ATTR_NULL, nullptr));
    ABT_sched sched = ABT_SCHED_NULL;
    ASSERT_OK(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &inner, ABT_SCHED_CONFIG_NULL, &sched));
    EXPECT_OK(ABT_pool_add_sched(es.pool(0), sched));
    EXPECT_OK(ABT_xstream_join(es[0]));
    EXPECT_OK(ABT_xstream_revive(es[0]));
    EXPECT_EQ(run_many(es.pool(0), 5), 10);
    EXPECT_OK(ABT_mutex_free(&mutex));
    EXPECT_OK(ABT_barrier_free(&barrier));
  }
  EXPECT_OK(ABT_tool_register_thread_callback(nullptr, ABT_TOOL_EVENT_THREAD_NONE, nullptr));
  EXPECT_EQ(the_checker().seen(), every_event);
}

} // namespace
