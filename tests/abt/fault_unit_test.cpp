// SPDX-License-Identifier: MIT
// Units and keys when memory runs out: the code, the handle, and that nothing is left.
#include "fault.hpp"

namespace {

using namespace abt_test;

// --- making units ---

struct thread_creation : scenario {
  ABT_pool pool = self_pool();
  ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
  ABT_thread t = untouched<ABT_thread>();
  int call() { return ABT_thread_create(pool, nothing, nullptr, attr, &t); }
  void failed() { EXPECT_EQ(t, ABT_THREAD_NULL); }
  void succeeded() { EXPECT_OK(ABT_thread_free(&t)); }
};

TEST(ABT_fault_unit, thread_create) {
  fails_cleanly<thread_creation>();
}

TEST(ABT_fault_unit, thread_create_in_a_pool_that_nobody_serves) {
  struct test : thread_creation {
    own_pool unserved;
    test() { pool = unserved; }
    void succeeded() {
      unserved.run_all();
      thread_creation::succeeded();
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, thread_create_in_a_users_pool) {
  struct test : thread_creation {
    quiet_pool users;
    test() { pool = users; }
    void failed() {
      thread_creation::failed();
      EXPECT_EQ(quiet_pool::units(), 0);
    }
    void succeeded() {
      users.run_all();
      thread_creation::succeeded();
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, thread_create_with_a_callback) {
  struct test : thread_creation {
    attributes with;
    test() {
      EXPECT_OK(ABT_thread_attr_set_callback(with, [](ABT_thread, void*) {}, nullptr));
      attr = with;
    }
  };
  fails_cleanly<test>();
}

struct stack_of_the_users : attributes {
  void* stack = std::aligned_alloc(64, 1 << 16);
  stack_of_the_users() { EXPECT_OK(ABT_thread_attr_set_stack(*this, stack, 1 << 16)); }
  ~stack_of_the_users() { std::free(stack); }
};

TEST(ABT_fault_unit, thread_create_with_a_stack_in_a_users_pool) {
  struct test : thread_creation {
    quiet_pool users;
    stack_of_the_users with;
    test() {
      pool = users;
      attr = with;
    }
    void succeeded() {
      users.run_all();
      thread_creation::succeeded();
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, thread_create_unnamed) {
  struct test : scenario {
    quiet_pool users;
    int call() { return ABT_thread_create(users, nothing, nullptr, ABT_THREAD_ATTR_NULL, nullptr); }
    void failed() { EXPECT_EQ(quiet_pool::units(), 0); }
    void succeeded() { users.run_all(); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, thread_create_from_a_kernel_thread) {
  struct test : thread_creation {
    helper other;
    test() { whose = reach::everywhere; }
    int call() {
      return other.run([](void* self) { return static_cast<test*>(self)->thread_creation::call(); }, this);
    }
  };
  struct in_users_pool : test {
    quiet_pool users;
    in_users_pool() { pool = users; }
    void succeeded() {
      users.run_all();
      test::succeeded();
    }
  };
  fails_cleanly<in_users_pool>();
}

TEST(ABT_fault_unit, thread_create_to) {
  struct test : scenario {
    ABT_pool pool = self_pool();
    ABT_thread t = untouched<ABT_thread>();
    int call() { return ABT_thread_create_to(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, &t); }
    void failed() { EXPECT_EQ(t, untouched<ABT_thread>()); }
    void succeeded() { EXPECT_OK(ABT_thread_free(&t)); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, thread_create_on_xstream) {
  struct test : scenario {
    ABT_xstream es = self_xstream();
    ABT_thread t = untouched<ABT_thread>();
    int call() { return ABT_thread_create_on_xstream(es, nothing, nullptr, ABT_THREAD_ATTR_NULL, &t); }
    void failed() { EXPECT_EQ(t, ABT_THREAD_NULL); }
    void succeeded() { EXPECT_OK(ABT_thread_free(&t)); }
  };
  fails_cleanly<test>();
}

// Three at once.
struct many : scenario {
  static constexpr int count = 3;
  ABT_pool pools[count];
  void (*functions[count])(void*) = {nothing, nothing, nothing};
  ABT_thread threads[count];
  many() {
    for (int i = 0; i < count; ++i) {
      pools[i] = self_pool();
      threads[i] = untouched<ABT_thread>();
    }
  }
  int call() {
    return ABT_thread_create_many(count, pools, functions, nullptr, ABT_THREAD_ATTR_NULL, threads);
  }
  void failed() {
    for (const ABT_thread t : threads)
      EXPECT_EQ(t, ABT_THREAD_NULL);
    EXPECT_EQ(quiet_pool::units(), 0);
  }
  void succeeded() { EXPECT_OK(ABT_thread_free_many(count, threads)); }
};

TEST(ABT_fault_unit, thread_create_many) {
  fails_cleanly<many>();
}

TEST(ABT_fault_unit, thread_create_many_for_two_of_which_there_is_memory) {
  struct test : many {
    test() { units = 2; }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, thread_create_many_in_a_users_pool) {
  struct test : many {
    quiet_pool users;
    test() {
      units = 2;
      pools[1] = pools[2] = users;
    }
    void succeeded() {
      users.run_all();
      many::succeeded();
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, thread_create_many_unnamed) {
  struct test : many {
    quiet_pool users;
    test() { pools[2] = users; }
    int call() {
      return ABT_thread_create_many(count, pools, functions, nullptr, ABT_THREAD_ATTR_NULL, nullptr);
    }
    void failed() { EXPECT_EQ(quiet_pool::units(), 0); }
    void succeeded() {
      users.run_all();
      ABT_thread_yield();
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, task_create) {
  struct test : scenario {
    ABT_pool pool = self_pool();
    ABT_task t = untouched<ABT_task>();
    int call() { return ABT_task_create(pool, nothing, nullptr, &t); }
    void failed() { EXPECT_EQ(t, ABT_TASK_NULL); }
    void succeeded() { EXPECT_OK(ABT_task_free(&t)); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, task_create_in_a_users_pool) {
  struct test : scenario {
    quiet_pool users;
    ABT_task t = untouched<ABT_task>();
    int call() { return ABT_task_create(users, nothing, nullptr, &t); }
    void failed() { EXPECT_EQ(t, ABT_TASK_NULL); }
    void succeeded() {
      users.run_all();
      EXPECT_OK(ABT_task_free(&t));
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, task_create_on_xstream) {
  struct test : scenario {
    ABT_xstream es = self_xstream();
    ABT_task t = untouched<ABT_task>();
    int call() { return ABT_task_create_on_xstream(es, nothing, nullptr, &t); }
    void failed() { EXPECT_EQ(t, ABT_TASK_NULL); }
    void succeeded() { EXPECT_OK(ABT_task_free(&t)); }
  };
  fails_cleanly<test>();
}

// --- a new life ---

struct revival : scenario {
  quiet_pool users;
  ABT_pool before = self_pool();
  ABT_thread t = ended_thread();
  int call() { return ABT_thread_revive(users, nothing, nullptr, &t); }
  void failed() {
    EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
    EXPECT_EQ(last_pool_of(t), before);
    EXPECT_EQ(quiet_pool::units(), 0);
  }
  void succeeded() {
    users.run_all();
    EXPECT_OK(ABT_thread_free(&t));
  }
};

TEST(ABT_fault_unit, thread_revive) {
  fails_cleanly<revival>();
}

TEST(ABT_fault_unit, thread_revive_with_a_stack) {
  struct test : revival {
    stack_of_the_users with;
    test() {
      EXPECT_OK(ABT_thread_free(&t));
      EXPECT_OK(ABT_thread_create(before, nothing, nullptr, with, &t));
      EXPECT_OK(ABT_thread_join(t));
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, thread_revive_to) {
  struct test : revival {
    int call() { return ABT_thread_revive_to(users, nothing, nullptr, &t); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, task_revive) {
  struct test : revival {
    ABT_task task = ended_task();
    int call() { return ABT_task_revive(users, nothing, nullptr, &task); }
    void succeeded() {
      revival::succeeded();
      EXPECT_OK(ABT_task_free(&task));
    }
  };
  fails_cleanly<test>();
}

// --- what is noted of a unit ---

TEST(ABT_fault_unit, thread_set_callback) {
  struct test : scenario {
    waiting_unit w;
    int call() {
      return ABT_thread_set_callback(w.t, [](ABT_thread, void*) {}, nullptr);
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, thread_set_migratable) {
  struct test : scenario {
    waiting_unit w;
    void expect(ABT_bool wanted) {
      ABT_bool is = -1;
      EXPECT_OK(ABT_thread_is_migratable(w.t, &is));
      EXPECT_EQ(is, wanted);
    }
    int call() { return ABT_thread_set_migratable(w.t, ABT_FALSE); }
    void failed() { expect(ABT_TRUE); }
    void succeeded() { expect(ABT_FALSE); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, task_set_migratable) {
  struct test : scenario {
    ABT_task t = ended_task();
    int call() { return ABT_task_set_migratable(t, ABT_FALSE); }
    void succeeded() { EXPECT_OK(ABT_task_free(&t)); }
  };
  fails_cleanly<test>();
}

struct identity : scenario {
  ABT_unit_id id = 4711;
  void failed() { EXPECT_EQ(id, 4711U); }
};

TEST(ABT_fault_unit, thread_get_id) {
  struct test : identity {
    waiting_unit w;
    int call() { return ABT_thread_get_id(w.t, &id); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, task_get_id) {
  struct test : identity {
    ABT_task t = ended_task();
    int call() { return ABT_task_get_id(t, &id); }
    void succeeded() { EXPECT_OK(ABT_task_free(&t)); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, self_get_thread_id) {
  struct test : identity {
    int call() { return ABT_self_get_thread_id(&id); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, thread_self_id) {
  struct test : identity {
    int call() { return ABT_thread_self_id(&id); }
  };
  fails_cleanly<test>();
}

struct local_value : scenario {
  own_key key;
  int data = 0;
  void failed() {
    void* value = &data;
    EXPECT_OK(ABT_key_get(key, &value));
    EXPECT_EQ(value, nullptr);
  }
};

TEST(ABT_fault_unit, key_set) {
  struct test : local_value {
    int call() { return ABT_key_set(key, &data); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, self_set_specific) {
  struct test : local_value {
    int call() { return ABT_self_set_specific(key, &data); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, thread_set_specific) {
  struct test : scenario {
    own_key key;
    waiting_unit w;
    int data = 0;
    int call() { return ABT_thread_set_specific(w.t, key, &data); }
    void failed() {
      void* value = &data;
      EXPECT_OK(ABT_thread_get_specific(w.t, key, &value));
      EXPECT_EQ(value, nullptr);
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_unit, key_create) {
  creates(untouched<ABT_key>(), +[](ABT_key* k) { return ABT_key_create(nullptr, k); }, ABT_key_free);
}

TEST(ABT_fault_unit, thread_attr_create) {
  creates(ABT_THREAD_ATTR_NULL, ABT_thread_attr_create, ABT_thread_attr_free);
}

TEST(ABT_fault_unit, thread_get_attr) {
  creates(
      untouched<ABT_thread_attr>(),
      +[](ABT_thread_attr* a) {
        ABT_thread self = ABT_THREAD_NULL;
        ABT_self_get_thread(&self);
        return ABT_thread_get_attr(self, a);
      },
      ABT_thread_attr_free);
}

// --- what has to do without memory ---

TEST(ABT_fault_unit, thread_join_and_free) {
  struct test : scenario {
    own_key key{[](void*) {}};
    ABT_thread t = ABT_THREAD_NULL;
    test() {
      can_fail = false;
      EXPECT_OK(ABT_thread_create(self_pool(), nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
      EXPECT_OK(ABT_thread_set_specific(t, key, this));
    }
    int call() {
      const int joined = ABT_thread_join(t);
      return joined == ABT_SUCCESS ? ABT_thread_free(&t) : joined;
    }
  };
  fails_cleanly<test>();
}

} // namespace
