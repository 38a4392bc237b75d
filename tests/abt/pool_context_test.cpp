// SPDX-License-Identifier: MIT
// Where a push puts a unit: each context, by each way that leads to it, for each kind of pool. The table is
// the one in docs/guide/abt/pool.md.
#include <algorithm>
#include <functional>
#include <string>

#include "units.hpp"

namespace {

using namespace abt_test;

constexpr ABT_pool_kind kinds[] = {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS};

// A pool that nobody serves, with a ULT in it, and what comes before or after that one.
class stage {
 public:
  explicit stage(ABT_pool_kind kind) {
    EXPECT_OK(ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool_));
    resident_ = new_thread(pool_, nothing_);
  }
  ~stage() {
    for (ABT_thread t = pop(); t != ABT_THREAD_NULL; t = pop())
      EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
    EXPECT_OK(ABT_thread_free(&resident_));
    EXPECT_OK(ABT_pool_free(&pool_));
  }
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  operator ABT_pool() const { return pool_; }
  ABT_thread resident() const { return resident_; }
  ABT_thread pop() const {
    ABT_thread t = ABT_THREAD_NULL;
    EXPECT_OK(ABT_pool_pop_thread(pool_, &t));
    return t;
  }
  // Runs `f` in a ULT of this pool, as a child of the caller, until that ULT first leaves or ends; then
  // `meanwhile`, and then sees where the ULT is and lets all end.
  void run(body& f, const std::function<void(ABT_thread)>& meanwhile = [](ABT_thread) {}) {
    ABT_thread actor = new_thread(pool_, f);
    take(actor);
    EXPECT_OK(ABT_self_schedule(actor, ABT_POOL_NULL));
    meanwhile(actor);
    came_first_ = pop_front_is_not_resident();
    while (state_of(actor) != ABT_THREAD_STATE_TERMINATED) {
      ABT_thread t = pop();
      ASSERT_NE(t, ABT_THREAD_NULL);
      EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
    }
    EXPECT_OK(ABT_thread_free(&actor));
  }
  // Whether what came stands before the resident. Both stay.
  bool pop_front_is_not_resident() const {
    const ABT_thread first = pop();
    const ABT_thread second = pop();
    EXPECT_TRUE(first == resident_ || second == resident_);
    const ABT_thread both[] = {first, second};
    for (const ABT_thread t : both) { // in that order again, whatever the kind
      if (t != ABT_THREAD_NULL) {
        EXPECT_OK(ABT_pool_push_thread(pool_, t));
      }
    }
    return first != resident_;
  }
  bool came_first() const { return came_first_; }

 private:
  // Out of the pool, which holds it and the resident.
  void take(ABT_thread wanted) const {
    const ABT_thread first = pop();
    const ABT_thread second = pop();
    EXPECT_TRUE(first == wanted || second == wanted);
    EXPECT_OK(ABT_pool_push_thread(pool_, resident_));
  }

  body nothing_ = [] {};
  ABT_pool pool_ = ABT_POOL_NULL;
  ABT_thread resident_ = ABT_THREAD_NULL;
  bool came_first_ = false;
};

enum class ends : bool { last, first };
void expect_in_randws(ends where, const char* what, const std::function<bool(stage&)>& came_first) {
  for (const ABT_pool_kind kind : kinds) {
    SCOPED_TRACE(std::string(what) + ", kind " + std::to_string(kind));
    stage s(kind);
    EXPECT_EQ(came_first(s), kind == ABT_POOL_RANDWS && where == ends::first);
  }
}

// What the caller of `f`, a ULT of the pool, does to its own place.
void expect_of_caller(
    ends where, const char* what, const std::function<void(stage&)>& f,
    const std::function<void(ABT_thread)>& meanwhile = [](ABT_thread) {}) {
  expect_in_randws(where, what, [&](stage& s) {
    body act = [&] { f(s); };
    s.run(act, meanwhile);
    return s.came_first();
  });
}

TEST(ABT_pool_contexts, new_units_go_first_in_a_randws_pool) {
  const runtime rt;
  body nothing_at_all = [] {};
  expect_in_randws(ends::first, "thread_create", [&](stage& s) {
    EXPECT_OK(ABT_thread_create(s, run_function, &nothing_at_all, ABT_THREAD_ATTR_NULL, nullptr));
    return s.pop_front_is_not_resident();
  });
  expect_in_randws(ends::first, "task_create", [&](stage& s) {
    EXPECT_OK(ABT_task_create(s, run_function, &nothing_at_all, nullptr));
    return s.pop_front_is_not_resident();
  });
  expect_in_randws(ends::first, "thread_create_many", [&](stage& s) {
    ABT_pool pool = s;
    void (*function)(void*) = run_function;
    void* argument = &nothing_at_all;
    EXPECT_OK(ABT_thread_create_many(1, &pool, &function, &argument, ABT_THREAD_ATTR_NULL, nullptr));
    return s.pop_front_is_not_resident();
  });
}

TEST(ABT_pool_contexts, revived_units_go_first_in_a_randws_pool) {
  const runtime rt;
  body nothing_at_all = [] {};
  for (ABT_thread ended : {ended_thread(), ended_task()}) {
    expect_in_randws(ends::first, "revive", [&](stage& s) {
      EXPECT_OK(ABT_thread_revive(s, run_function, &nothing_at_all, &ended));
      return s.pop_front_is_not_resident();
    });
    EXPECT_OK(ABT_thread_free(&ended));
  }
}

TEST(ABT_pool_contexts, creators_that_make_way_go_first_in_a_randws_pool) {
  const runtime rt;
  body nothing_at_all = [] {};
  expect_of_caller(ends::first, "thread_create_to", [&](stage& s) {
    EXPECT_OK(ABT_thread_create_to(s, run_function, &nothing_at_all, ABT_THREAD_ATTR_NULL, nullptr));
  });
  ABT_thread ended = ended_thread();
  expect_of_caller(ends::first, "thread_revive_to", [&](stage& s) {
    EXPECT_OK(ABT_thread_revive_to(s, run_function, &nothing_at_all, &ended));
  });
  EXPECT_OK(ABT_thread_free(&ended));
}

TEST(ABT_pool_contexts, others_go_last) {
  const runtime rt;
  expect_of_caller(ends::last, "yield", [](stage&) { EXPECT_OK(ABT_self_yield()); });
  expect_of_caller(ends::last, "thread_yield", [](stage&) { EXPECT_OK(ABT_thread_yield()); });
  expect_of_caller(
      ends::last, "resume", [](stage&) { EXPECT_OK(ABT_self_suspend()); },
      [](ABT_thread t) { EXPECT_OK(ABT_thread_resume(t)); });
  // Once more, for one that went first before.
  body nothing_at_all = [] {};
  expect_in_randws(ends::last, "yield after create_to", [&](stage& s) {
    bool first = true;
    body act = [&] {
      EXPECT_OK(ABT_thread_create_to(s, run_function, &nothing_at_all, ABT_THREAD_ATTR_NULL, nullptr));
      EXPECT_OK(ABT_self_yield());
      first = false;
    };
    s.run(act, [&](ABT_thread actor) {
      ABT_thread next = s.pop();
      if (next == s.resident()) {
        EXPECT_EQ(s.pop(), actor);
        EXPECT_OK(ABT_pool_push_thread(s, next));
      }
      EXPECT_OK(ABT_self_schedule(actor, ABT_POOL_NULL));
      EXPECT_TRUE(first);
    });
    return s.came_first();
  });
}

TEST(ABT_pool_contexts, words_of_the_user_are_heeded) {
  const runtime rt;
  for (const ABT_pool_context context :
       {ABT_POOL_CONTEXT_OP_THREAD_CREATE, ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO,
        ABT_POOL_CONTEXT_OP_THREAD_REVIVE, ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO,
        ABT_POOL_CONTEXT_OP_POOL_OTHER, ABT_POOL_CONTEXT_OP_THREAD_YIELD, ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO,
        ABT_POOL_CONTEXT_OP_THREAD_RESUME_YIELD_TO, ABT_POOL_CONTEXT_OP_THREAD_YIELD_LOOP,
        ABT_POOL_CONTEXT_OP_THREAD_RESUME, ABT_POOL_CONTEXT_OP_THREAD_MIGRATE}) {
    const bool is_new =
        context >= ABT_POOL_CONTEXT_OP_THREAD_CREATE && context <= ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO;
    body nothing_at_all = [] {};
    for (const bool many : {false, true}) {
      expect_in_randws(is_new ? ends::first : ends::last, "push_ex", [&](stage& s) {
        const own_pool elsewhere;
        EXPECT_OK(ABT_thread_create(elsewhere, run_function, &nothing_at_all, ABT_THREAD_ATTR_NULL, nullptr));
        const ABT_thread t = elsewhere.pop();
        EXPECT_OK(many ? ABT_pool_push_threads_ex(s, &t, 1, context)
                       : ABT_pool_push_thread_ex(s, t, context));
        return s.pop_front_is_not_resident();
      });
    }
  }
}

// Depth first: as few ULTs have begun at any time as the recursion is deep, so few have stacks.
void fib(void* argument);
struct fib_call {
  ABT_pool pool;
  int n;
  long result;
};
int begun = 0;
int most_begun = 0;
void fib(void* argument) {
  auto& c = *static_cast<fib_call*>(argument);
  most_begun = std::max(most_begun, ++begun);
  if (c.n < 2) {
    c.result = c.n;
  } else {
    fib_call a{c.pool, c.n - 1, 0};
    fib_call b{c.pool, c.n - 2, 0};
    ABT_thread t = ABT_THREAD_NULL;
    EXPECT_OK(ABT_thread_create_to(c.pool, fib, &a, ABT_THREAD_ATTR_NULL, &t));
    fib(&b);
    EXPECT_OK(ABT_thread_free(&t));
    c.result = a.result + b.result;
  }
  --begun;
}
TEST(ABT_pool_contexts, a_recursion_by_create_to_is_depth_first_in_a_randws_pool) {
  constexpr int n = 16; // 1,597 calls
  const runtime rt;
  ABT_pool pool = ABT_POOL_NULL;
  ABT_xstream es = ABT_XSTREAM_NULL;
  EXPECT_OK(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
  EXPECT_OK(ABT_xstream_create_basic(ABT_SCHED_RANDWS, 1, &pool, ABT_SCHED_CONFIG_NULL, &es));
  fib_call all{pool, n, 0};
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_OK(ABT_thread_create(pool, fib, &all, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(all.result, 987);
  EXPECT_LE(most_begun, n * n);
  EXPECT_OK(ABT_xstream_free(&es));
}

} // namespace
