// SPDX-License-Identifier: MIT
// Conformance: how units begin and end. create, join, detach, nested creation, exit, names, local storage,
// tasklets.
#include <cctype>
#include <cstdlib>

#include "tests/conformance/cell.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/thread_specific.hpp"

namespace weft::conformance {
namespace {

WEFT_CONFORMANCE(life);

TEST_P(life, create_and_join) {
  const int count = scaled(60);
  std::atomic<int> sum{0};
  for_each_thread(count, [&sum](int i) { sum += i; });
  EXPECT_EQ(sum, count * (count - 1) / 2);
  sum = 0;
  inside([&sum, count] {
    std::vector<thread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&sum, i] { sum += i; });
    for (auto& t : threads)
      t.join();
  });
  EXPECT_EQ(sum, count * (count - 1) / 2);
}

// As WEFT_TECHNIQUE spells it.
std::string word_of(technique_id t) {
  std::string word = to_string(t);
  for (char& c : word)
    c = c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(c));
  return word + (word.ends_with("_l") ? "azy" : word.ends_with("_e") ? "ager_release" : "");
}

TEST_P(life, of_the_technique_and_kind_that_the_run_asks_for) {
  const char* const asked = std::getenv("WEFT_TECHNIQUE");
  EXPECT_EQ(word_of(default_technique()), asked != nullptr ? asked : "automatic");
  const auto technique_here = [] { return sched::here().current->technique(); };
  for_each_thread(8, [&](int) {
    EXPECT_EQ(technique_here(), default_technique());
    const sched::user_mode* const preempted = sched::user_mode::of(*sched::here().current);
    EXPECT_EQ(preempted != nullptr ? preempted->kind() : preemption::none, kind_of_preemption());
    thread child([&] { EXPECT_EQ(technique_here(), default_technique()); }); // by the inlined way
    child.join();
  });
}

TEST_P(life, a_closure_of_any_size_is_destroyed_once) {
  auto token = std::make_shared<int>(7);
  inside([token, this] {
    struct large {
      std::shared_ptr<int> token;
      char filling[200];
      void operator()() const { EXPECT_EQ(*token, 7); }
    };
    thread a(large{token, {}});
    thread b(in_pool(1), large{token, {}});
    thread c([token] { EXPECT_EQ(*token, 7); });
    thread never_started(in_pool(0), [token] { EXPECT_EQ(*token, 7); });
    never_started.cancel();
    a.join(), b.join(), c.join(), never_started.join();
  });
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(life, detach) {
  const int count = scaled(40);
  std::atomic<int> ended{0};
  inside([&] {
    for (int i = 0; i < count; ++i) {
      thread t(in_pool(static_cast<unsigned>(i)), [&ended, i] {
        if (i % 2 == 0)
          this_thread::yield();
        ++ended;
      });
      if (i % 3 == 0)
        this_thread::yield();
      t.detach();
    }
  });
  EXPECT_TRUE(eventually([&] { return ended == count; })) << ended;
}

int tree(int depth) {
  if (depth == 0)
    return 1;
  int left = 0;
  int right = 0;
  thread a([&left, depth] { left = tree(depth - 1); });
  thread b([&right, depth] { right = tree(depth - 1); });
  a.join();
  b.join();
  return left + right;
}

TEST_P(life, nested_creation) {
  int leaves = 0;
  inside([&leaves] { leaves = tree(5); });
  EXPECT_EQ(leaves, 32);
}

void exit_now() {
  this_thread::exit();
}
void exit_deep(const std::shared_ptr<int>& held, void (*deeper)()) {
  const auto copy = held;
  deeper();
}

TEST_P(life, exit_unwinds) {
  auto held = std::make_shared<int>(0);
  for_each_thread(8, [&held](int i) {
    if (i % 2 != 0)
      this_thread::yield();
    exit_deep(held, &exit_now);
    ADD_FAILURE() << "came back from exit()";
  });
  EXPECT_EQ(held.use_count(), 1);
}

TEST_P(life, names) {
  inside([this] {
    EXPECT_STREQ(this_thread::name(), "");
    this_thread::set_name("the root of this test, a name of more than thirty-one characters");
    EXPECT_STREQ(this_thread::name(), "the root of this test, a name o");
    thread_attributes a = in_pool(1);
    a.name = "child";
    std::string seen;
    thread t(a, [&seen] {
      this_thread::yield();
      seen = this_thread::name();
    });
    const std::string name = t.name(); // it may have ended
    EXPECT_TRUE(name == "child" || name.empty()) << name;
    t.join();
    EXPECT_EQ(seen, "child");
    EXPECT_EQ(std::string(this_thread::name()).size(), 31U);
  });
}

TEST_P(life, local_storage_and_its_destructors) {
  static std::atomic<int> alive;
  alive = 0;
  struct counted_value {
    explicit counted_value(int v) : value(v) { ++alive; }
    ~counted_value() { --alive; }
    int value;
  };
  thread_specific<counted_value> mine;
  for_each_thread(scaled(20), [&mine](int i) {
    EXPECT_EQ(mine.get(), nullptr);
    mine.reset(new counted_value(i));
    this_thread::yield();
    ASSERT_NE(mine.get(), nullptr);
    EXPECT_EQ(mine->value, i);
    thread child([&mine] { EXPECT_EQ(mine.get(), nullptr); });
    child.join();
    EXPECT_EQ(mine->value, i);
    if (i % 3 == 0)
      this_thread::exit();
  });
  EXPECT_EQ(alive, 0);
  inside([&mine] {
    tasklet t([&mine] { mine.reset(new counted_value(1)); });
    t.join();
    EXPECT_EQ(mine.get(), nullptr);
  });
  EXPECT_EQ(alive, 0);
}

TEST_P(life, a_destructor_of_local_storage_may_switch) {
  static std::atomic<int> destroyed;
  destroyed = 0;
  thread_specific<int> mine([](void* value) {
    this_thread::yield();
    delete static_cast<int*>(value);
    ++destroyed;
  });
  for_each_thread(8, [&mine](int i) { mine.reset(new int(i)); });
  EXPECT_EQ(destroyed, 8);
}

TEST_P(life, tasklets) {
  const int count = scaled(40);
  std::atomic<int> sum{0};
  inside([&] {
    std::vector<tasklet> here;
    std::vector<tasklet> elsewhere;
    for (int i = 0; i < count; ++i) {
      here.emplace_back([&sum] { ++sum; });
      elsewhere.emplace_back(tasklet_in_pool(static_cast<unsigned>(i)), [&sum] { ++sum; });
    }
    for (auto it = here.rbegin(); it != here.rend(); ++it)
      it->join(); // by a call, if this worker may
    for (auto& t : elsewhere)
      t.join(); // by the loops, most of them
    tasklet(tasklet_in_pool(0), [&sum] { ++sum; }).detach();
    tasklet leaves([&sum] {
      ++sum;
      this_thread::exit();
    });
    leaves.join();
  });
  EXPECT_TRUE(eventually([&] { return sum == 2 * count + 2; })) << sum;
}

template <class F>
bool refused(F wait) {
  try {
    wait();
  } catch (const std::system_error& e) {
    return e.code() == std::errc::operation_not_permitted;
  }
  return false;
}

TEST_P(life, waiting_in_a_tasklet_is_refused) {
  std::atomic<int> ended{0};
  const auto body = [this, &ended] {
    EXPECT_TRUE(refused([] { this_thread::yield(); }));
    EXPECT_TRUE(refused([] { this_thread::suspend(); }));
    thread t(in_pool(1), [&ended] { ++ended; });
    tasklet inner([&ended] { ++ended; });
    // Either may have ended by now: there is nothing to wait for then.
    const bool joined = !refused([&] { t.join(); });
    EXPECT_EQ(joined, !t.joinable());
    if (!joined)
      t.detach();
    const bool ran = !refused([&] { inner.join(); });
    EXPECT_EQ(ran, !inner.joinable());
    if (!ran)
      inner.detach();
  };
  inside([&] {
    tasklet inline_call(body);
    inline_call.join();
    tasklet by_the_loop(tasklet_in_pool(workers() - 1), body);
    by_the_loop.join();
  });
  EXPECT_TRUE(eventually([&] { return ended == 4; })) << ended;
}

TEST_P(life, thousands_alive_at_once) {
  const int count = scaled(300);
  std::atomic<int> arrived{0};
  std::vector<thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back(in_pool(static_cast<unsigned>(i)), [&arrived] {
      ++arrived;
      this_thread::suspend();
      --arrived;
    });
  }
  EXPECT_TRUE(eventually([&] { return arrived == count; }));
  for (auto& t : threads)
    t.resume();
  for (auto& t : threads)
    t.join();
  EXPECT_EQ(arrived, 0);
}

} // namespace
} // namespace weft::conformance
