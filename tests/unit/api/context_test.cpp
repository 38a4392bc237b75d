// SPDX-License-Identifier: MIT
// Calls and contexts on stacks of the test's own, from main, other kernel threads and threads of Weft.
#include "weft/context.hpp"

#include "tests/unit/api/fixture.hpp"
#include "weft/thread.hpp"

#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, high) 0
#define VALGRIND_STACK_DEREGISTER(id) (void)(id)
#endif

namespace weft::test {
namespace {

WEFT_API_SUITE(contexts_in_threads);

/// 64 KiB of the heap. Memcheck is told: else it takes the jump of the stack pointer for a huge frame.
class memory {
 public:
  memory() : valgrind_id_(VALGRIND_STACK_REGISTER(bytes_.data(), bytes_.data() + bytes_.size())) {}
  memory(const memory&) = delete;
  ~memory() { VALGRIND_STACK_DEREGISTER(valgrind_id_); }
  operator std::span<std::byte>() { return bytes_; }
  bool contains(const void* p) const { return p >= bytes_.data() && p < bytes_.data() + bytes_.size(); }

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(65536, std::byte{0xa5});
  unsigned long valgrind_id_;
};

/// Not a frame of a sanitizer's.
[[gnu::noinline]] const void* here() {
  return __builtin_frame_address(0);
}

template <class F>
std::errc code_of(F f) {
  try {
    f();
  } catch (const std::system_error& e) {
    return static_cast<std::errc>(e.code().value());
  }
  return {};
}

// --- call_on ---

TEST(context_test, a_call_runs_on_the_given_stack) {
  memory stack;
  EXPECT_FALSE(stack.contains(here()));
  EXPECT_TRUE(call_on(stack, [&] { return stack.contains(here()); }));
  EXPECT_FALSE(stack.contains(here()));
}

TEST(context_test, a_call_gives_values_references_and_nothing) {
  memory stack;
  int number = 1;
  EXPECT_EQ(call_on(stack, [] { return std::string(100, 'x'); }), std::string(100, 'x'));
  EXPECT_EQ(*call_on(stack, [] { return std::make_unique<int>(7); }), 7);
  EXPECT_EQ(&call_on(stack, [&]() -> int& { return number; }), &number);
  call_on(stack, [&] { number = 2; });
  EXPECT_EQ(number, 2);
  struct callable {
    int& n;
    void operator()() { n = 3; }
  } lvalue{number};
  call_on(stack, lvalue);
  EXPECT_EQ(number, 3);
}

TEST(context_test, an_exception_passes_out_of_a_call) {
  memory stack;
  bool unwound = false;
  struct at_end {
    bool& flag;
    ~at_end() { flag = true; }
  };
  try {
    call_on(stack, [&]() -> int {
      const at_end mark{unwound};
      throw std::runtime_error("from below");
    });
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "from below");
    EXPECT_TRUE(unwound);
    EXPECT_EQ(call_on(stack, [] { return 5; }), 5); // within a handler, on the same stack again
  }
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

TEST(context_test, calls_nest_on_different_stacks) {
  memory first, second;
  const int sum = call_on(first, [&] {
    return 1 + call_on(second, [&] { return second.contains(here()) && !first.contains(here()) ? 2 : 0; });
  });
  EXPECT_EQ(sum, 3);
}

TEST(context_test, bad_stacks_are_refused) {
  memory stack;
  const std::span<std::byte> whole = stack;
  bool ran = false;
  const auto f = [&] { ran = true; };
  EXPECT_EQ(code_of([&] { call_on({}, f); }), std::errc::invalid_argument);
  EXPECT_EQ(code_of([&] { call_on(whole.first(least_stack - 1), f); }), std::errc::invalid_argument);
  EXPECT_EQ(code_of([&] { context c(std::span<std::byte>(), [](context&) {}); }),
            std::errc::invalid_argument);
  EXPECT_EQ(code_of([&] { context c(whole.first(64), [](context&) {}); }), std::errc::invalid_argument);
  struct large {
    std::array<char, 62000> bytes{};
    void operator()(context&) {}
  };
  EXPECT_EQ(code_of([&] { context c(stack, large()); }), std::errc::invalid_argument);
  EXPECT_EQ(code_of([&] { call_on(stack, [&] { call_on(stack, f); }); }), std::errc::device_or_resource_busy);
  EXPECT_FALSE(ran);
  call_on(whole.first(least_stack), f);
  EXPECT_TRUE(ran);
}

// --- resume and suspend ---

TEST(context_test, a_context_goes_on_where_it_stopped) {
  memory stack;
  std::vector<int> seen;
  context numbers(stack, [&](context& self) {
    EXPECT_TRUE(stack.contains(here()));
    for (int i = 0; i < 3; ++i) {
      seen.push_back(i);
      self.suspend();
    }
  });
  EXPECT_TRUE(seen.empty());
  for (int i = 0; i < 3; ++i) {
    numbers.resume();
    EXPECT_EQ(seen.size(), i + 1U);
    EXPECT_FALSE(numbers.has_ended());
  }
  numbers.resume();
  EXPECT_TRUE(numbers.has_ended());
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
}

TEST(context_test, a_stack_serves_one_context_after_the_other) {
  memory stack;
  for (int i = 0; i < 100; ++i) {
    int steps = 0;
    context c(stack, [&](context& self) {
      ++steps;
      self.suspend();
      ++steps;
    });
    c.resume();
    if (i % 2 == 0) {
      c.resume();
    }
    EXPECT_EQ(steps, i % 2 == 0 ? 2 : 1);
  }
}

TEST(context_test, contexts_resume_each_other) {
  memory outer_stack, inner_stack;
  std::string order;
  context inner(inner_stack, [&](context& self) {
    order += 'b';
    self.suspend();
    order += 'd';
  });
  context outer(outer_stack, [&](context& self) {
    order += 'a';
    inner.resume();
    order += 'c';
    self.suspend();
    inner.resume();
    order += 'e';
  });
  outer.resume();
  outer.resume();
  EXPECT_EQ(order, "abcde");
  EXPECT_TRUE(inner.has_ended() && outer.has_ended());
}

TEST(context_test, an_exception_reaches_who_resumed) {
  memory stack;
  context c(stack, [](context& self) {
    self.suspend();
    throw std::runtime_error("late");
  });
  c.resume();
  EXPECT_THROW(c.resume(), std::runtime_error);
  EXPECT_TRUE(c.has_ended());
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

// Both are in handlers at once: each must find its own exception again.
TEST(context_test, exceptions_being_handled_stay_apart) {
  memory stack;
  const auto caught_now = [] {
    try {
      throw;
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
  };
  context c(stack, [&](context& self) {
    try {
      throw std::runtime_error("inner");
    } catch (const std::runtime_error&) {
      self.suspend();
      EXPECT_EQ(caught_now(), "inner");
    }
    self.suspend();
  });
  try {
    throw std::runtime_error("outer");
  } catch (const std::runtime_error&) {
    c.resume();
    EXPECT_EQ(caught_now(), "outer");
    c.resume();
    EXPECT_EQ(caught_now(), "outer");
  }
  EXPECT_EQ(std::current_exception(), nullptr);
  c.resume();
}

TEST(context_test, misuse_is_refused_and_changes_nothing) {
  memory stack, other_stack;
  int errors = 0;
  const auto expect = [&](std::errc wanted, auto f) { errors += code_of(f) == wanted ? 1 : 100; };
  context c(stack, [&](context& self) {
    expect(std::errc::resource_deadlock_would_occur, [&] { self.resume(); }); // itself
    expect(std::errc::resource_deadlock_would_occur, [&] { self.switch_to(self); });
    context other(other_stack, [&](context&) {
      expect(std::errc::resource_deadlock_would_occur, [&] { self.resume(); }); // who waits for it
      expect(std::errc::operation_not_permitted, [&] { self.suspend(); });      // from another's stack
    });
    expect(std::errc::operation_not_permitted, [&] { other.suspend(); }); // has not begun
    other.resume();
    expect(std::errc::operation_not_permitted, [&] { other.resume(); }); // has ended
    expect(std::errc::operation_not_permitted, [&] { self.switch_to(other); });
    self.suspend();
  });
  expect(std::errc::operation_not_permitted, [&] { c.suspend(); });
  c.resume();
  expect(std::errc::operation_not_permitted, [&] { c.suspend(); });
  c.resume();
  expect(std::errc::operation_not_permitted, [&] { c.resume(); });
  EXPECT_EQ(errors, 10);
}

// --- switch_to ---

TEST(context_test, contexts_switch_to_each_other) {
  std::array<memory, 3> stacks;
  std::array<std::optional<context>, 3> ring;
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < ring.size(); ++k) {
    ring[k].emplace(stacks[k], [&, k](context& self) {
      for (int i = 0; i < 2; ++i) {
        order.push_back(k);
        self.switch_to(*ring[(k + 1) % ring.size()]);
      }
    });
  }
  ring[0]->resume(); // comes back when the first one of them ends
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_TRUE(ring[0]->has_ended());
  EXPECT_FALSE(ring[1]->has_ended() || ring[2]->has_ended());
}

TEST(context_test, the_resumer_stays_the_same_over_switches) {
  memory a_stack, b_stack;
  std::string order;
  std::optional<context> b;
  context a(a_stack, [&](context& self) {
    order += 'a';
    self.switch_to(*b);
    order += 'c';
  });
  b.emplace(b_stack, [&](context& self) {
    order += 'b';
    self.suspend(); // to who resumed a
    order += 'd';
    throw std::runtime_error("from b");
  });
  a.resume();
  EXPECT_EQ(order, "ab");
  a.resume();
  EXPECT_EQ(order, "abc");
  EXPECT_TRUE(a.has_ended());
  EXPECT_THROW(b->resume(), std::runtime_error);
}

// --- ends ---

TEST(context_test, a_suspended_context_is_unwound) {
  memory stack, other_stack;
  auto token = std::make_shared<int>(0);
  {
    context never(other_stack, [token](context&) { FAIL(); });
    context c(stack, [token](context& self) {
      const auto local = token;
      for (;;) {
        self.suspend();
      }
    });
    c.resume();
    EXPECT_EQ(token.use_count(), 4);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(context_test, an_unwound_context_may_resume_others) {
  memory stack, other_stack;
  bool other_ran = false;
  context other(other_stack, [&](context&) { other_ran = true; });
  struct at_end {
    context& c;
    ~at_end() { c.resume(); }
  };
  {
    context c(stack, [&](context& self) {
      const at_end last{other};
      self.suspend();
    });
    c.resume();
  }
  EXPECT_TRUE(other_ran);
}

TEST(context_death, an_overflow_ends_the_process) {
  memory stack;
  const std::span<std::byte> bytes = stack;
  EXPECT_DEATH(call_on(stack, [&] { bytes[0] ^= std::byte{1}; }), "has overflowed");
}

// --- where it is called from ---

TEST(context_test, a_context_moves_between_kernel_threads) {
  memory stack;
  std::vector<std::thread::id> ids;
  context c(stack, [&](context& self) {
    for (int i = 0; i < 3; ++i) {
      try {
        throw i;
      } catch (int) {
        ids.push_back(std::this_thread::get_id());
        self.suspend();
      }
    }
  });
  for (int i = 0; i < 3; ++i) {
    std::thread([&] {
      c.resume();
      EXPECT_EQ(ids.back(), std::this_thread::get_id());
    }).join();
  }
  c.resume();
  EXPECT_TRUE(c.has_ended());
}

TEST_P(contexts_in_threads, are_resumed_between_yields) {
  std::vector<thread> threads;
  std::array<int, 8> sums{};
  for (int& sum : sums) {
    threads.emplace_back([&sum] {
      memory stack;
      context c(stack, [&](context& self) {
        for (int i = 1; i <= 4; ++i) {
          sum += i;
          self.suspend();
        }
      });
      while (!c.has_ended()) {
        c.resume();
        this_thread::yield(); // may go on on another worker
      }
      sum += call_on(stack, [] { return 100; });
    });
  }
  for (thread& t : threads) {
    t.join();
  }
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0), 8 * 110);
}

} // namespace
} // namespace weft::test
