// SPDX-License-Identifier: MIT
#include "sync.hpp"

using namespace abt_test;

namespace {

// An eventual of so many bytes, freed at the end of the scope.
class eventual {
 public:
  explicit eventual(int bytes) { EXPECT_OK(ABT_eventual_create(bytes, &handle_)); }
  ~eventual() { EXPECT_OK(ABT_eventual_free(&handle_)); }
  eventual(const eventual&) = delete;
  eventual& operator=(const eventual&) = delete;
  operator ABT_eventual() const { return handle_; }

  void set(int value) const { EXPECT_OK(ABT_eventual_set(handle_, &value, sizeof value)); }
  bool ready() const {
    ABT_bool is = ABT_TRUE;
    EXPECT_OK(ABT_eventual_test(handle_, nullptr, &is));
    return is != ABT_FALSE;
  }

 private:
  ABT_eventual handle_ = ABT_EVENTUAL_NULL;
};

using wait_function = int (*)(ABT_eventual, void**);
int wait_long(ABT_eventual e, void** value) {
  const timespec at = far();
  return ABT_eventual_timedwait(e, value, &at);
}

int value_at(void* p) {
  return p == nullptr ? -1 : *static_cast<int*>(p);
}

// All that wait get the value, those who come later too.
void expect_waits(wait_function wait) {
  const runtime rt;
  const streams es(1);
  const eventual e(sizeof(int));
  std::atomic<int> entered = 0;
  std::atomic<int> got = 0;
  const body f = [&] {
    void* value = nullptr;
    ++entered;
    EXPECT_OK(wait(e, &value));
    EXPECT_EQ(value_at(value), 17);
    ++got;
  };
  crowd c;
  c.ults(3, f);
  c.ults(3, f, es.pool(0));
  c.kernel_threads(2, f);
  yield_until([&] { return entered == 8; });
  yield_often();
  EXPECT_EQ(got, 0);
  e.set(17);
  c.join();
  EXPECT_EQ(got, 8);
  f();
}

void expect_refuses_null(wait_function wait) {
  const runtime rt;
  void* value = nullptr;
  for (const ABT_eventual null : nulls(ABT_EVENTUAL_NULL)) {
    EXPECT_ABT(ABT_ERR_INV_EVENTUAL, wait(null, &value));
    in_kernel_thread([&] { EXPECT_ABT(ABT_ERR_INV_EVENTUAL, wait(null, &value)); });
  }
}

void expect_refuses_tasklet(wait_function wait) {
  const runtime rt;
  const eventual e(sizeof(int));
  const body f = [&] {
    void* value = nullptr;
    EXPECT_ABT(ABT_ERR_EVENTUAL, wait(e, &value));
  };
  in_tasklet(f);
  e.set(1);
  in_tasklet(f); // it would not have to wait now
}

TEST(ABT_eventual_create, is_not_ready) {
  const runtime rt;
  for (const int bytes : {0, 1, 4, 4096}) {
    const eventual e(bytes);
    EXPECT_NE(e, ABT_EVENTUAL_NULL);
    EXPECT_FALSE(e.ready());
  }
}

TEST(ABT_eventual_create, refuses_negative_size) {
  const runtime rt;
  int something = 0;
  const auto untouched = reinterpret_cast<ABT_eventual>(&something);
  ABT_eventual e = untouched;
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_eventual_create(-1, &e));
  EXPECT_EQ(e, untouched);
}

TEST(ABT_eventual_free, takes_the_handle_away) {
  const runtime rt;
  for (const bool ready : {false, true}) {
    ABT_eventual e = ABT_EVENTUAL_NULL;
    ASSERT_OK(ABT_eventual_create(0, &e));
    if (ready) {
      EXPECT_OK(ABT_eventual_set(e, nullptr, 0));
    }
    EXPECT_OK(ABT_eventual_free(&e));
    EXPECT_EQ(e, ABT_EVENTUAL_NULL);
  }
}

TEST(ABT_eventual_free, refuses_null_handle) {
  const runtime rt;
  for (ABT_eventual null : nulls(ABT_EVENTUAL_NULL))
    EXPECT_ABT(ABT_ERR_INV_EVENTUAL, ABT_eventual_free(&null));
}

TEST(ABT_eventual_wait, gets_the_value) {
  expect_waits(ABT_eventual_wait);
}
TEST(ABT_eventual_wait, refuses_null_handle) {
  expect_refuses_null(ABT_eventual_wait);
}
TEST(ABT_eventual_wait, refuses_tasklet) {
  expect_refuses_tasklet(ABT_eventual_wait);
}

TEST(ABT_eventual_wait, blocks_the_ult) {
  const runtime rt;
  const eventual e(0);
  bool got = false;
  crowd c;
  c.ults(1, [&] {
    EXPECT_OK(ABT_eventual_wait(e, nullptr));
    got = true;
  });
  until_blocked(c.ult(0));
  EXPECT_FALSE(got);
  EXPECT_OK(ABT_eventual_set(e, nullptr, 0));
  c.join();
  EXPECT_TRUE(got);
}

TEST(ABT_eventual_wait, has_no_value_without_a_buffer) {
  const runtime rt;
  const eventual e(0);
  int something = 0;
  void* value = &something;
  EXPECT_OK(ABT_eventual_set(e, nullptr, 0));
  EXPECT_OK(ABT_eventual_wait(e, &value));
  EXPECT_EQ(value, nullptr);
  EXPECT_OK(ABT_eventual_wait(e, nullptr));
}

ABT_eventual_memory static_memory = ABT_EVENTUAL_INITIALIZER;

void wait_for_static() {
  const ABT_eventual e = ABT_EVENTUAL_MEMORY_GET_HANDLE(&static_memory);
  std::thread other([&] { EXPECT_OK(ABT_eventual_set(e, nullptr, 0)); });
  EXPECT_OK(ABT_eventual_wait(e, nullptr));
  other.join();
  EXPECT_ABT(ABT_ERR_EVENTUAL, ABT_eventual_set(e, nullptr, 0));
  ABT_bool ready = ABT_FALSE;
  EXPECT_OK(ABT_eventual_test(e, nullptr, &ready));
  EXPECT_TRUE(ready);
  EXPECT_OK(ABT_eventual_reset(e));
  EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABT_eventual_timedwait(e, nullptr, &long_ago));
}

TEST(ABT_eventual_wait, takes_static_ones_at_any_time) {
  wait_for_static();
  {
    const runtime rt;
    wait_for_static();
    in_thread(wait_for_static);
  }
  wait_for_static();
}

TEST(ABT_eventual_timedwait, gets_the_value) {
  expect_waits(wait_long);
}
TEST(ABT_eventual_timedwait, refuses_null_handle) {
  expect_refuses_null(wait_long);
}
TEST(ABT_eventual_timedwait, refuses_tasklet) {
  expect_refuses_tasklet(wait_long);
}

TEST(ABT_eventual_timedwait, takes_what_is_ready_whatever_the_time) {
  const runtime rt;
  const eventual e(sizeof(int));
  e.set(4);
  const body wait = [&] {
    void* value = nullptr;
    EXPECT_OK(ABT_eventual_timedwait(e, &value, &long_ago));
    EXPECT_EQ(value_at(value), 4);
  };
  wait();
  in_kernel_thread(wait);
}

TEST(ABT_eventual_timedwait, refuses_to_wait_longer) {
  const runtime rt;
  const eventual e(sizeof(int));
  const body wait = [&] {
    const timespec at = after(0.02);
    void* value = nullptr;
    EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABT_eventual_timedwait(e, &value, &at));
    EXPECT_TRUE(reached(at));
    EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABT_eventual_timedwait(e, &value, &long_ago));
  };
  wait();
  in_thread(wait);
  in_kernel_thread(wait);
  e.set(1); // those who gave up have left nothing behind
  EXPECT_TRUE(e.ready());
}

// Waits that give up next to ones that are served: whoever is told "ready" finds it ready.
TEST(ABT_eventual_timedwait, gives_up_while_it_is_set) {
  const runtime rt;
  const streams es(1);
  for (int round = 0; round < 50; ++round) {
    const eventual e(sizeof(int));
    crowd c;
    const body wait = [&] {
      const timespec at = after(round * 1e-5);
      void* value = nullptr;
      const int code = ABT_eventual_timedwait(e, &value, &at);
      EXPECT_TRUE(code == ABT_ERR_COND_TIMEDOUT ? reached(at) : value_at(value) == 9) << name_of(code);
    };
    c.ults(2, wait);
    c.ults(2, wait, es.pool(0));
    c.kernel_threads(1, wait);
    c.ults(1, [&] { e.set(9); }, es.pool(0));
  }
}

TEST(ABT_eventual_test, tells_whether_it_is_ready) {
  const runtime rt;
  const eventual e(sizeof(int));
  int something = 0;
  const auto look = [&](ABT_bool expected) {
    void* value = &something;
    ABT_bool ready = !expected;
    EXPECT_OK(ABT_eventual_test(e, &value, &ready));
    EXPECT_EQ(ready, expected);
    if (expected == ABT_FALSE) {
      EXPECT_EQ(value, &something); // nothing there, nothing touched
    } else {
      EXPECT_EQ(value_at(value), 5);
    }
  };
  look(ABT_FALSE);
  e.set(5);
  look(ABT_TRUE);
  const body again = [&] { look(ABT_TRUE); };
  in_thread(again);
  in_tasklet(again);
  in_kernel_thread(again);
}

TEST(ABT_eventual_test, refuses_null_handle) {
  const runtime rt;
  void* value = nullptr;
  ABT_bool ready = ABT_FALSE;
  for (const ABT_eventual null : nulls(ABT_EVENTUAL_NULL))
    EXPECT_ABT(ABT_ERR_INV_EVENTUAL, ABT_eventual_test(null, &value, &ready));
}

TEST(ABT_eventual_set, copies_the_value) {
  const runtime rt;
  const eventual e(8);
  char text[9] = "original";
  EXPECT_OK(ABT_eventual_set(e, text, 8));
  text[0] = 'X';
  void* value = nullptr;
  EXPECT_OK(ABT_eventual_wait(e, &value));
  ASSERT_NE(value, nullptr);
  EXPECT_NE(value, text);
  EXPECT_EQ(std::string(static_cast<char*>(value), 8), "original");
}

TEST(ABT_eventual_set, may_set_less_than_there_is_room_for) {
  const runtime rt;
  const eventual e(8);
  const int number = 6;
  EXPECT_OK(ABT_eventual_set(e, const_cast<int*>(&number), sizeof number));
  void* value = nullptr;
  EXPECT_OK(ABT_eventual_wait(e, &value));
  EXPECT_EQ(value_at(value), 6);
  EXPECT_OK(ABT_eventual_reset(e));
  EXPECT_OK(ABT_eventual_set(e, nullptr, 0)); // no value at all
  EXPECT_TRUE(e.ready());
}

TEST(ABT_eventual_set, comes_from_anywhere) {
  const runtime rt;
  const eventual e(sizeof(int));
  const body set = [&] { e.set(3); };
  for (auto* in : {+[](body f) { in_thread(std::move(f)); }, +[](body f) { in_tasklet(std::move(f)); },
                   +[](body f) { in_kernel_thread(std::move(f)); }}) {
    void* value = nullptr;
    crowd c;
    c.ults(1, [&] { EXPECT_OK(ABT_eventual_wait(e, &value)); });
    until_blocked(c.ult(0));
    in(set);
    c.join();
    EXPECT_EQ(value_at(value), 3);
    EXPECT_OK(ABT_eventual_reset(e));
  }
}

TEST(ABT_eventual_set, refuses_null_handle) {
  const runtime rt;
  for (const ABT_eventual null : nulls(ABT_EVENTUAL_NULL))
    EXPECT_ABT(ABT_ERR_INV_EVENTUAL, ABT_eventual_set(null, nullptr, 0));
}

TEST(ABT_eventual_set, refuses_the_second_value) {
  const runtime rt;
  const eventual e(sizeof(int));
  e.set(1);
  int second = 2;
  const body f = [&] { EXPECT_ABT(ABT_ERR_EVENTUAL, ABT_eventual_set(e, &second, sizeof second)); };
  f();
  in_kernel_thread(f);
  void* value = nullptr;
  EXPECT_OK(ABT_eventual_wait(e, &value));
  EXPECT_EQ(value_at(value), 1);
}

TEST(ABT_eventual_set, refuses_a_wrong_size) {
  const runtime rt;
  const eventual e(sizeof(int));
  int values[2] = {1, 2};
  EXPECT_ABT(ABT_ERR_INV_EVENTUAL, ABT_eventual_set(e, values, sizeof values));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_eventual_set(e, values, -1));
  EXPECT_FALSE(e.ready());
  const eventual none(0);
  EXPECT_ABT(ABT_ERR_INV_EVENTUAL, ABT_eventual_set(none, values, 1));
  EXPECT_FALSE(none.ready());
}

TEST(ABT_eventual_reset, makes_it_new) {
  const runtime rt;
  const eventual e(sizeof(int));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(e.ready());
    void* value = nullptr;
    crowd c;
    c.ults(1, [&] { EXPECT_OK(ABT_eventual_wait(e, &value)); });
    until_blocked(c.ult(0)); // it does not get the value of the round before
    e.set(i);
    c.join();
    EXPECT_EQ(value_at(value), i);
    EXPECT_TRUE(e.ready());
    EXPECT_OK(ABT_eventual_reset(e));
  }
  EXPECT_OK(ABT_eventual_reset(e)); // nothing to take back
  EXPECT_FALSE(e.ready());
}

TEST(ABT_eventual_reset, refuses_null_handle) {
  const runtime rt;
  for (const ABT_eventual null : nulls(ABT_EVENTUAL_NULL))
    EXPECT_ABT(ABT_ERR_INV_EVENTUAL, ABT_eventual_reset(null));
}

} // namespace
