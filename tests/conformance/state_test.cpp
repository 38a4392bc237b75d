// SPDX-License-Identifier: MIT
// Conformance: what belongs to a thread goes with it. C++ exceptions in flight and caught, the rounding mode,
// its stack.
#include <cfenv>
#include <stdexcept>

#include "tests/conformance/cell.hpp"

namespace weft::conformance {
namespace {

WEFT_CONFORMANCE(state);

[[gnu::noinline]] void use_128_kib() {
  volatile char on_stack[128 << 10];
  for (std::size_t i = 0; i < sizeof on_stack; i += 4096)
    on_stack[i] = static_cast<char>(i >> 12);
  this_thread::yield();
  for (std::size_t i = 0; i < sizeof on_stack; i += 4096)
    EXPECT_EQ(on_stack[i], static_cast<char>(i >> 12));
}

TEST_P(state, throw_and_catch_across_yields) {
  for_each_thread(8, [](int i) {
    for (int k = 0; k < scaled(10); ++k) {
      try {
        this_thread::yield();
        throw i * 1000 + k;
      } catch (int caught) {
        this_thread::yield();
        EXPECT_EQ(caught, i * 1000 + k);
      }
    }
  });
}

// Catch blocks of several threads open and close in any order; each rethrows its own.
TEST_P(state, interleaved_catch_blocks) {
  for_each_thread(8, [](int i) {
    for (int k = 0; k < scaled(6); ++k) {
      try {
        try {
          throw std::runtime_error(std::to_string(i));
        } catch (const std::runtime_error&) {
          for (int y = 0; y <= i % 3; ++y)
            this_thread::yield();
          try {
            throw std::logic_error("inner " + std::to_string(i));
          } catch (const std::logic_error& e) {
            this_thread::yield();
            EXPECT_EQ(e.what(), "inner " + std::to_string(i));
          }
          this_thread::yield();
          throw;
        }
      } catch (const std::exception& e) {
        EXPECT_EQ(e.what(), std::to_string(i));
      }
      EXPECT_EQ(std::current_exception(), nullptr);
    }
  });
}

TEST_P(state, every_way_to_leave_keeps_the_caught_exception) {
  for_each_thread(4, [this](int i) {
    const std::string mine = "exception of " + std::to_string(i);
    try {
      throw std::runtime_error(mine);
    } catch (const std::exception&) {
      thread child = thread::create_to({}, [] {
        EXPECT_EQ(std::current_exception(), nullptr);
        this_thread::yield();
      });
      this_thread::yield_to(child);
      child.join();
      sched::resume(*sched::here().current);
      this_thread::suspend();
      thread far(in_pool(static_cast<unsigned>(i) + 1), [] { EXPECT_EQ(std::current_exception(), nullptr); });
      far.join();
      try {
        throw;
      } catch (const std::exception& e) {
        EXPECT_EQ(e.what(), mine);
      }
    }
  });
}

TEST_P(state, rethrow_after_migration) {
  for_each_thread(6, [this](int i) {
    try {
      try {
        throw i;
      } catch (int) {
        this_thread::migrate_to(main_pool(static_cast<unsigned>(i) + 1));
        this_thread::yield();
        throw;
      }
    } catch (int caught) {
      EXPECT_EQ(caught, i);
    }
  });
}

TEST_P(state, uncaught_exceptions) {
  struct yields_while_unwinding {
    int expected;
    ~yields_while_unwinding() {
      EXPECT_EQ(std::uncaught_exceptions(), expected);
      this_thread::yield();
      thread other([] { EXPECT_EQ(std::uncaught_exceptions(), 0); });
      other.join();
      EXPECT_EQ(std::uncaught_exceptions(), expected);
    }
  };
  for_each_thread(8, [](int i) {
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    try {
      const yields_while_unwinding guard{i % 2};
      if (i % 2 == 1)
        throw i;
    } catch (int) {
    }
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
}

TEST_P(state, rounding_mode) {
  static constexpr int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for_each_thread(8, [this](int i) {
    const int mine = modes[i % 4];
    std::fesetround(mine);
    for (int k = 0; k < scaled(8); ++k) {
      this_thread::yield();
      EXPECT_EQ(std::fegetround(), mine);
      volatile double third = 1.0;
      third = third / 3.0;
      volatile double product = third * 3.0;
      static_cast<void>(product);
      if (k == 3)
        this_thread::migrate_to(main_pool(static_cast<unsigned>(i) + 1));
      EXPECT_EQ(std::fegetround(), mine);
    }
    thread child([] {});
    child.join();
    EXPECT_EQ(std::fegetround(), mine);
    std::fesetround(FE_TONEAREST);
  });
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST_P(state, stacks_are_as_large_as_asked_and_kept) {
  inside([this] {
    thread_attributes a = in_pool(1);
    a.stack_size = 256 << 10;
    thread t(a, [] {
      EXPECT_GT(this_thread::stack_left(), std::size_t{200} << 10);
      use_128_kib();
    });
    t.join();
    a.stack_size = (std::size_t{1} << 30) + 1;
    EXPECT_THROW(thread(a, [] {}), std::system_error);
    a.stack_size = 0;
    a.level = 32;
    EXPECT_THROW(thread(a, [] {}), std::system_error);
  });
}

} // namespace
} // namespace weft::conformance
