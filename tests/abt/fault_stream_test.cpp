// SPDX-License-Identifier: MIT
// Streams, schedulers and pools when memory, mappings or kernel threads run out.
#include "fault.hpp"

namespace {

using namespace abt_test;

// A scheduler of the user's that takes no memory.
void serve(ABT_sched sched) {
  ABT_pool pool = ABT_POOL_NULL;
  ABT_sched_get_pools(sched, 1, 0, &pool);
  for (ABT_bool stop = ABT_FALSE; stop != ABT_TRUE;) {
    ABT_thread t = ABT_THREAD_NULL;
    ABT_pool_pop_thread(pool, &t);
    if (t != ABT_THREAD_NULL) {
      ABT_self_schedule(t, ABT_POOL_NULL);
    } else {
      std::this_thread::yield();
    }
    ABT_xstream_check_events(sched);
    ABT_sched_has_to_stop(sched, &stop);
  }
}
ABT_sched users_scheduler() {
  ABT_sched_def def{};
  def.run = serve;
  ABT_pool pool = ABT_POOL_NULL;
  ABT_sched sched = ABT_SCHED_NULL;
  EXPECT_OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
  EXPECT_OK(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
  return sched;
}
ABT_sched basic_scheduler() {
  ABT_sched sched = ABT_SCHED_NULL;
  EXPECT_OK(ABT_sched_create_basic(ABT_SCHED_BASIC, 0, nullptr, ABT_SCHED_CONFIG_NULL, &sched));
  return sched;
}
ABT_sched main_sched_of(ABT_xstream es) {
  ABT_sched sched = ABT_SCHED_NULL;
  EXPECT_OK(ABT_xstream_get_main_sched(es, &sched));
  return sched;
}
int number_of_streams() {
  int number = -1;
  EXPECT_OK(ABT_xstream_get_num(&number));
  return number;
}
ABT_xstream_state state_of_stream(ABT_xstream es) {
  auto state = static_cast<ABT_xstream_state>(-1);
  EXPECT_OK(ABT_xstream_get_state(es, &state));
  return state;
}

// --- making streams ---

struct stream_creation : scenario {
  ABT_xstream es = untouched<ABT_xstream>();
  stream_creation() { whose = reach::everywhere; }
  int call() { return ABT_xstream_create(ABT_SCHED_NULL, &es); }
  void failed() {
    EXPECT_EQ(es, ABT_XSTREAM_NULL);
    EXPECT_EQ(number_of_streams(), 1);
  }
  void succeeded() {
    ABT_thread t = ABT_THREAD_NULL; // it works
    EXPECT_OK(ABT_thread_create_on_xstream(es, nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_OK(ABT_xstream_free(&es));
  }
};

TEST(ABT_fault_stream, xstream_create) {
  fails_cleanly<stream_creation>();
}

// To CPUs that its kernel thread is bound to.
TEST(ABT_fault_stream, xstream_create_with_affinity) {
  const environment cpus("ABT_SET_AFFINITY", "{0}");
  fails_cleanly<stream_creation>();
}

TEST(ABT_fault_stream, xstream_create_of_a_users_scheduler) {
  struct test : stream_creation {
    ABT_sched sched = users_scheduler();
    int call() { return ABT_xstream_create(sched, &es); }
    void succeeded() {
      stream_creation::succeeded();
      EXPECT_OK(ABT_sched_free(&sched));
    }
  };
  const environment cpus("ABT_SET_AFFINITY", "{0}");
  fails_cleanly<test>();
}

TEST(ABT_fault_stream, xstream_create_over_a_users_pool) {
  struct test : stream_creation {
    quiet_pool users;
    int call() {
      ABT_pool pool = users;
      return ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es);
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_stream, xstream_create_basic) {
  struct test : stream_creation {
    ABT_pool pools[3] = {ABT_POOL_NULL, ABT_POOL_NULL, ABT_POOL_NULL};
    test() { EXPECT_OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[1])); }
    int call() { return ABT_xstream_create_basic(ABT_SCHED_PRIO, 3, pools, ABT_SCHED_CONFIG_NULL, &es); }
    void failed() {
      stream_creation::failed();
      ABT_bool empty = ABT_FALSE; // the caller's pool is still there, though automatic
      EXPECT_OK(ABT_pool_is_empty(pools[1], &empty));
      EXPECT_EQ(empty, ABT_TRUE);
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_stream, xstream_create_with_rank) {
  struct test : stream_creation {
    int call() { return ABT_xstream_create_with_rank(ABT_SCHED_NULL, 7, &es); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_stream, xstream_create_while_a_tool_listens) {
  struct test : stream_creation {
    ABT_sched sched = users_scheduler();
    test() {
      EXPECT_OK(
          ABT_tool_register_thread_callback([](ABT_thread, ABT_xstream, uint64_t, ABT_tool_context, void*) {},
                                            ABT_TOOL_EVENT_THREAD_ALL, nullptr));
    }
    int call() { return ABT_xstream_create(sched, &es); }
    void succeeded() {
      stream_creation::succeeded();
      EXPECT_OK(ABT_sched_free(&sched));
      EXPECT_OK(ABT_tool_register_thread_callback(nullptr, 0, nullptr));
    }
  };
  fails_cleanly<test>();
}

// --- the life of streams ---

struct revival : scenario {
  ABT_xstream es = ABT_XSTREAM_NULL;
  explicit revival(ABT_sched sched = ABT_SCHED_NULL) {
    whose = reach::everywhere;
    EXPECT_OK(ABT_xstream_create(sched, &es));
    EXPECT_OK(ABT_xstream_join(es));
  }
  int call() { return ABT_xstream_revive(es); }
  void failed() { EXPECT_EQ(state_of_stream(es), ABT_XSTREAM_STATE_TERMINATED); }
  void succeeded() {
    EXPECT_EQ(state_of_stream(es), ABT_XSTREAM_STATE_RUNNING);
    ABT_thread t = ABT_THREAD_NULL;
    EXPECT_OK(ABT_thread_create_on_xstream(es, nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_OK(ABT_xstream_free(&es));
  }
};

TEST(ABT_fault_stream, xstream_revive) {
  fails_cleanly<revival>();
}

TEST(ABT_fault_stream, xstream_revive_of_a_users_scheduler) {
  struct test : revival {
    ABT_sched sched;
    test() : test(users_scheduler()) {}
    explicit test(ABT_sched s) : revival(s), sched(s) {}
    void succeeded() {
      revival::succeeded();
      EXPECT_OK(ABT_sched_free(&sched));
    }
  };
  fails_cleanly<test>();
}

// Nobody can be told there, so it has to come to an end all the same.
template <class Sched>
struct ending : scenario {
  ABT_sched sched = Sched::make();
  ABT_xstream es = ABT_XSTREAM_NULL;
  ending() {
    whose = reach::everywhere;
    can_fail = false;
    EXPECT_OK(ABT_xstream_create(sched, &es));
  }
  int call() {
    const int cancelled = ABT_xstream_cancel(es);
    const int joined = ABT_xstream_join(es);
    const int freed = ABT_xstream_free(&es);
    return cancelled != ABT_SUCCESS ? cancelled : joined != ABT_SUCCESS ? joined : freed;
  }
  void succeeded() {
    if (Sched::named) {
      EXPECT_OK(ABT_sched_free(&sched));
    }
  }
};
struct of_users {
  static constexpr bool named = true;
  static ABT_sched make() { return users_scheduler(); }
};
struct of_ours {
  static constexpr bool named = false;
  static ABT_sched make() { return basic_scheduler(); }
};

TEST(ABT_fault_stream, xstream_cancel_join_and_free) {
  fails_cleanly<ending<of_ours>>();
}
TEST(ABT_fault_stream, xstream_cancel_join_and_free_of_a_users_scheduler) {
  fails_cleanly<ending<of_users>>();
}

TEST(ABT_fault_stream, xstream_set_rank) {
  struct test : scenario {
    ABT_xstream es = ABT_XSTREAM_NULL;
    test() { EXPECT_OK(ABT_xstream_create_with_rank(ABT_SCHED_NULL, 3, &es)); }
    void expect_rank(int wanted) {
      int rank = -1;
      EXPECT_OK(ABT_xstream_get_rank(es, &rank));
      EXPECT_EQ(rank, wanted);
    }
    int call() { return ABT_xstream_set_rank(es, 9); }
    void failed() { expect_rank(3); }
    void succeeded() {
      expect_rank(9);
      EXPECT_OK(ABT_xstream_free(&es));
    }
  };
  const environment cpus("ABT_SET_AFFINITY", "{0}");
  fails_cleanly<test>();
}

struct binding : scenario {
  ABT_xstream es = self_xstream();
  void failed() {
    int number = -1;
    EXPECT_ABT(ABT_ERR_FEATURE_NA, ABT_xstream_get_affinity(es, 0, nullptr, &number));
    EXPECT_EQ(number, 0);
  }
  void succeeded() { EXPECT_OK(ABT_xstream_set_affinity(es, 0, nullptr)); }
};

TEST(ABT_fault_stream, xstream_set_cpubind) {
  struct test : binding {
    int call() { return ABT_xstream_set_cpubind(es, 0); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_stream, xstream_set_affinity) {
  struct test : binding {
    int cpus[2] = {0, 1};
    int call() { return ABT_xstream_set_affinity(es, 2, cpus); }
  };
  fails_cleanly<test>();
}

// --- another main scheduler ---

struct replacement : scenario {
  ABT_xstream es = self_xstream();
  ABT_sched before = main_sched_of(es);
  ABT_pool pool = self_pool();
  replacement() { whose = reach::everywhere; }
  int call() { return ABT_xstream_set_main_sched(es, ABT_SCHED_NULL); }
  void failed() {
    EXPECT_EQ(main_sched_of(es), before);
    EXPECT_EQ(last_pool_of(self()), pool);
    in_thread([] {}); // it goes on
    ABT_thread_yield();
  }
  void succeeded() {
    in_thread([] {});
    ABT_thread_yield();
  }
};

TEST(ABT_fault_stream, xstream_set_main_sched) {
  fails_cleanly<replacement>();
}

TEST(ABT_fault_stream, xstream_set_main_sched_basic) {
  struct test : replacement {
    int call() { return ABT_xstream_set_main_sched_basic(es, ABT_SCHED_PRIO, 0, nullptr); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_stream, xstream_set_main_sched_basic_over_a_users_pool) {
  struct test : replacement {
    quiet_pool users;
    int call() {
      ABT_pool own = users;
      return ABT_xstream_set_main_sched_basic(es, ABT_SCHED_BASIC, 1, &own);
    }
    void failed() {
      replacement::failed();
      EXPECT_EQ(quiet_pool::units(), 0);
    }
    void succeeded() {
      replacement::succeeded();
      EXPECT_OK(ABT_xstream_set_main_sched(es, ABT_SCHED_NULL));
    }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_stream, xstream_set_main_sched_of_a_stream_that_has_ended) {
  struct test : revival {
    ABT_sched before = main_sched_of(es);
    ABT_sched sched = users_scheduler();
    int call() { return ABT_xstream_set_main_sched(es, ABT_SCHED_NULL); }
    void failed() { EXPECT_EQ(main_sched_of(es), before); }
    void succeeded() {
      EXPECT_OK(ABT_xstream_set_main_sched(es, sched));
      EXPECT_OK(ABT_xstream_free(&es));
      EXPECT_OK(ABT_sched_free(&sched));
    }
  };
  fails_cleanly<test>();
}

// From the stream itself, and between schedulers of either kind. `helper` keeps a ULT running there.
template <class From, class To>
struct replacement_elsewhere : scenario {
  ABT_sched from = From::make();
  ABT_sched to = To::make();
  ABT_xstream es = ABT_XSTREAM_NULL;
  std::optional<helper> ult;
  replacement_elsewhere() {
    whose = reach::everywhere;
    can_fail = !From::named; // a loop of the user's returns first, and then nobody can be told
    EXPECT_OK(ABT_xstream_create(from, &es));
    ult.emplace(first_pool_of(es));
  }
  int call() {
    return ult->run(
        [](void* p) {
          auto& self = *static_cast<replacement_elsewhere*>(p);
          return ABT_xstream_set_main_sched(self.es, self.to);
        },
        this);
  }
  void failed() { EXPECT_EQ(main_sched_of(es), from); }
  void succeeded() {
    EXPECT_EQ(main_sched_of(es), to);
    ult.reset();
    if (From::named) {
      EXPECT_OK(ABT_sched_free(&from));
    }
    EXPECT_OK(ABT_xstream_free(&es));
    if (To::named) {
      EXPECT_OK(ABT_sched_free(&to));
    }
  }
};

TEST(ABT_fault_stream, xstream_set_main_sched_users_by_ours) {
  fails_cleanly<replacement_elsewhere<of_users, of_ours>>();
}
TEST(ABT_fault_stream, xstream_set_main_sched_ours_by_users) {
  fails_cleanly<replacement_elsewhere<of_ours, of_users>>();
}
TEST(ABT_fault_stream, xstream_set_main_sched_users_by_users) {
  fails_cleanly<replacement_elsewhere<of_users, of_users>>();
}

// --- schedulers ---

TEST(ABT_fault_stream, sched_create) {
  struct test : scenario {
    ABT_sched_def def{};
    ABT_pool pools[2] = {ABT_POOL_NULL, ABT_POOL_NULL};
    ABT_sched sched = untouched<ABT_sched>();
    test() {
      def.run = serve;
      def.init = [](ABT_sched, ABT_sched_config) { return ABT_SUCCESS; };
    }
    int call() { return ABT_sched_create(&def, 2, pools, ABT_SCHED_CONFIG_NULL, &sched); }
    void failed() { EXPECT_EQ(sched, ABT_SCHED_NULL); }
    void succeeded() { EXPECT_OK(ABT_sched_free(&sched)); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_stream, sched_create_basic) {
  for (const ABT_sched_predef predef : {ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT}) {
    static ABT_sched_predef which;
    which = predef;
    creates(
        ABT_SCHED_NULL,
        +[](ABT_sched* s) { return ABT_sched_create_basic(which, 0, nullptr, ABT_SCHED_CONFIG_NULL, s); },
        ABT_sched_free);
  }
}

struct addition : scenario {
  ABT_sched sched = basic_scheduler();
  quiet_pool users;
  own_pool pool;
  int call() { return ABT_pool_add_sched(pool, sched); }
  void failed() { EXPECT_EQ(pool.size(), 0U); }
  void succeeded() { pool.run_all(); } // and so ends
};

TEST(ABT_fault_stream, pool_add_sched) {
  fails_cleanly<addition>();
}

TEST(ABT_fault_stream, pool_add_sched_to_a_users_pool) {
  struct test : addition {
    int call() { return ABT_pool_add_sched(users, sched); }
    void failed() { EXPECT_EQ(quiet_pool::units(), 0); }
    void succeeded() { users.run_all(); }
  };
  fails_cleanly<test>();
}

// --- pools ---

TEST(ABT_fault_stream, pool_create_basic) {
  for (const ABT_pool_kind kind : {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS}) {
    static ABT_pool_kind which;
    which = kind;
    creates(
        ABT_POOL_NULL,
        +[](ABT_pool* p) { return ABT_pool_create_basic(which, ABT_POOL_ACCESS_MPMC, ABT_FALSE, p); },
        ABT_pool_free);
  }
}

int alive = 0; // pools, by their callbacks

TEST(ABT_fault_stream, pool_create) {
  struct test : scenario {
    ABT_pool_user_def def = quiet_definition(true);
    ABT_pool_config config = ABT_POOL_CONFIG_NULL;
    ABT_pool pool = untouched<ABT_pool>();
    test() {
      EXPECT_OK(ABT_pool_config_create(&config));
      EXPECT_OK(ABT_pool_user_def_set_init(def, [](ABT_pool, ABT_pool_config) {
        ++alive;
        return ABT_SUCCESS;
      }));
      EXPECT_OK(ABT_pool_user_def_set_free(def, [](ABT_pool) { --alive; }));
    }
    ~test() {
      EXPECT_OK(ABT_pool_config_free(&config));
      EXPECT_OK(ABT_pool_user_def_free(&def));
      EXPECT_EQ(alive, 0);
    }
    int call() { return ABT_pool_create(def, config, &pool); }
    void failed() {
      EXPECT_EQ(pool, ABT_POOL_NULL);
      EXPECT_EQ(alive, 0);
    }
    void succeeded() { EXPECT_OK(ABT_pool_free(&pool)); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_stream, pool_create_of_an_old_definition) {
  struct test : scenario {
    ABT_pool_def def{};
    ABT_pool pool = untouched<ABT_pool>();
    test() {
      def.access = ABT_POOL_ACCESS_MPMC;
      def.u_create_from_thread = [](ABT_thread) { return ABT_UNIT_NULL; };
      def.u_free = [](ABT_unit*) {};
      def.p_get_size = [](ABT_pool) { return std::size_t{0}; };
      def.p_push = [](ABT_pool, ABT_unit) {};
      def.p_pop = [](ABT_pool) { return ABT_UNIT_NULL; };
    }
    int call() {
      return ABT_pool_create(reinterpret_cast<ABT_pool_user_def>(&def), ABT_POOL_CONFIG_NULL, &pool);
    }
    void failed() { EXPECT_EQ(pool, ABT_POOL_NULL); }
    void succeeded() { EXPECT_OK(ABT_pool_free(&pool)); }
  };
  fails_cleanly<test>();
}

TEST(ABT_fault_stream, pool_user_def_create) {
  creates(
      untouched<ABT_pool_user_def>(),
      +[](ABT_pool_user_def* d) {
        return ABT_pool_user_def_create([](ABT_pool, ABT_thread) { return ABT_UNIT_NULL; },
                                        [](ABT_pool, ABT_unit) {}, [](ABT_pool) { return ABT_TRUE; },
                                        [](ABT_pool, ABT_pool_context) { return ABT_THREAD_NULL; },
                                        [](ABT_pool, ABT_unit, ABT_pool_context) {}, d);
      },
      ABT_pool_user_def_free);
}

} // namespace
