// SPDX-License-Identifier: MIT
// Units that come to another pool when memory runs out: they stay where they were.
#include "fault.hpp"

namespace {

using namespace abt_test;

// --- another pool ---

struct moved : scenario {
  quiet_pool users;
  ABT_pool pool = self_pool();
  own_pool from;
  ABT_thread t = ABT_THREAD_NULL;
  moved() {
    EXPECT_OK(ABT_thread_create(from, nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
    EXPECT_EQ(from.pop(), t);
  }
  void failed() {
    EXPECT_EQ(last_pool_of(t), from);
    EXPECT_EQ(quiet_pool::units(), 0);
  }
  void succeeded() {
    EXPECT_EQ(last_pool_of(t), users);
    users.run_all();
    EXPECT_OK(ABT_thread_free(&t));
  }
};

TEST(ABT_fault_move, thread_set_associated_pool) {
  struct test : moved {
    int call() { return ABT_thread_set_associated_pool(t, users); }
    void succeeded() {
      EXPECT_OK(ABT_pool_push_thread(users, t));
      moved::succeeded();
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_move, self_set_associated_pool) {
  struct test : scenario {
    quiet_pool users;
    ABT_pool before = self_pool();
    int call() { return ABT_self_set_associated_pool(users); }
    void failed() { EXPECT_EQ(last_pool_of(self()), before); }
    void succeeded() { EXPECT_OK(ABT_self_set_associated_pool(before)); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_move, pool_push_thread) {
  struct test : moved {
    int call() { return ABT_pool_push_thread(users, t); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_move, pool_push_thread_ex) {
  struct test : moved {
    int call() { return ABT_pool_push_thread_ex(users, t, ABT_POOL_CONTEXT_OP_POOL_OTHER); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_move, pool_push) {
  struct test : moved {
    ABT_unit unit = ABT_UNIT_NULL;
    test() { EXPECT_OK(ABT_thread_get_unit(t, &unit)); }
    int call() { return ABT_pool_push(users, unit); }
  };
  fails_cleanly<test>();
}

struct several_moved : scenario {
  quiet_pool users{true};
  own_pool from;
  ABT_thread threads[3];
  several_moved() {
    for (ABT_thread& t : threads) {
      EXPECT_OK(ABT_thread_create(from, nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
      EXPECT_EQ(from.pop(), t);
    }
  }
  // Which of them belong to the pool already is not said; none is in it.
  void failed() { EXPECT_EQ(users.pop(), ABT_THREAD_NULL); }
  void succeeded() {
    users.run_all();
    EXPECT_OK(ABT_thread_free_many(3, threads));
  }
};

TEST(ABT_fault_move, pool_push_threads) {
  struct test : several_moved {
    int call() { return ABT_pool_push_threads(users, threads, 3); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_move, pool_push_threads_ex) {
  struct test : several_moved {
    int call() { return ABT_pool_push_threads_ex(users, threads, 3, ABT_POOL_CONTEXT_OP_POOL_OTHER); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_move, self_schedule) {
  struct test : moved {
    int call() { return ABT_self_schedule(t, users); }
    void failed() {
      moved::failed();
      EXPECT_EQ(state_of(t), ABT_THREAD_STATE_READY);
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_move, xstream_run_unit) {
  struct test : moved {
    ABT_unit unit = ABT_UNIT_NULL;
    test() { EXPECT_OK(ABT_thread_get_unit(t, &unit)); }
    int call() { return ABT_xstream_run_unit(unit, users); }
  };
  fails_cleanly<test>();
}

// --- migration ---

struct migration : scenario {
  quiet_pool users;
  waiting_unit w;
  void failed() {
    EXPECT_EQ(last_pool_of(w.t), w.pool);
    EXPECT_EQ(w.pool.size(), 1U);
    EXPECT_EQ(quiet_pool::units(), 0);
  }
  void succeeded() {
    w.pool.run_all(); // where it is picked, and so moves
    users.run_all();
    EXPECT_EQ(state_of(w.t), ABT_THREAD_STATE_TERMINATED);
  }
};

TEST(ABT_fault_move, thread_migrate_to_pool) {
  struct test : migration {
    int call() { return ABT_thread_migrate_to_pool(w.t, users); }
  };
  fails_cleanly<test>();
}

// The earlier request is met if the later one cannot be made.
TEST(ABT_fault_move, thread_migrate_to_pool_after_another_request) {
  struct test : scenario {
    quiet_pool first;
    quiet_pool second;
    own_pool from;
    ABT_thread t = ABT_THREAD_NULL;
    test() {
      EXPECT_OK(ABT_thread_create(from, nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
      EXPECT_EQ(from.pop(), t); // so that requests wait
      EXPECT_OK(ABT_thread_migrate_to_pool(t, first));
    }
    int call() { return ABT_thread_migrate_to_pool(t, second); }
    void failed() { EXPECT_EQ(quiet_pool::units(), 1); }
    void succeeded() {
      EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
      EXPECT_EQ(first.pop(), ABT_THREAD_NULL);
      second.run_all();
      EXPECT_OK(ABT_thread_free(&t));
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_move, thread_migrate_to_sched) {
  struct test : migration {
    ABT_sched sched = ABT_SCHED_NULL;
    test() {
      ABT_pool pool = users;
      EXPECT_OK(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    }
    int call() { return ABT_thread_migrate_to_sched(w.t, sched); }
    void succeeded() {
      migration::succeeded();
      EXPECT_OK(ABT_sched_free(&sched));
    }
  };
  fails_cleanly<test>();
}

struct migration_to_self : scenario {
  waiting_unit w;
  void failed() { EXPECT_EQ(last_pool_of(w.t), w.pool); }
  void succeeded() {
    w.pool.run_all();
    EXPECT_OK(ABT_thread_join(w.t));
    EXPECT_EQ(last_pool_of(w.t), self_pool());
  }
};

TEST(ABT_fault_move, thread_migrate_to_xstream) {
  struct test : migration_to_self {
    ABT_xstream es = self_xstream();
    int call() { return ABT_thread_migrate_to_xstream(w.t, es); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_move, thread_migrate) {
  struct test : migration_to_self {
    int call() { return ABT_thread_migrate(w.t); }
  };
  fails_cleanly<test>();
}

} // namespace
