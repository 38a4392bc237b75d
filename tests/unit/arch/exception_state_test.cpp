// SPDX-License-Identifier: MIT
// Exceptions inside a fresh stack, and threads that switch inside `catch` and during unwinding: with
// exception_state around the switch, as the runtime does it, each keeps its own.
#include <exception>
#include <stdexcept>
#include <string>

#include "tests/unit/arch/fixture.hpp"
#include "weft/arch/exception_state.hpp"

namespace {

using namespace weft::arch;
using weft::arch::test::native_context;
using weft::arch::test::partner;

// What a runtime does around each switch.
template <class Switch>
void switch_with_exceptions(Switch to_other) {
  exception_globals* globals = globals_of_this_kernel_thread();
  exception_state saved;
  if (any(*globals)) {
    saved = save_and_clear(*globals);
  }
  to_other();
  globals = globals_of_this_kernel_thread();
  EXPECT_FALSE(any(*globals)) << "the other side left something behind";
  weft::arch::restore(*globals, saved);
}

[[gnu::noinline]] int throw_from(int depth) {
  if (depth == 0) {
    throw std::runtime_error("bottom");
  }
  return throw_from(depth - 1) + 1;
}

std::string message_of_current() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  }
}

TEST(exceptions, are_thrown_and_caught_inside_a_fresh_stack) {
  native_context here;
  std::string caught;
  partner other{[&](partner& self) {
    for (int i = 0; i < 2; ++i) {
      try {
        throw_from(20);
      } catch (const std::runtime_error& e) {
        caught += e.what();
      }
      self.leave();
    }
  }};
  other.resume(here);
  EXPECT_EQ(caught, "bottom");
  other.resume(here);
  EXPECT_EQ(caught, "bottombottom");
  other.resume(here);
}

TEST(exceptions, any_tells_when_there_is_something_to_save) {
  exception_globals* globals = globals_of_this_kernel_thread();
  EXPECT_FALSE(any(*globals));
  EXPECT_EQ(globals, globals_of_this_kernel_thread());
  struct probe {
    bool* seen;
    ~probe() { *seen = any(*globals_of_this_kernel_thread()); }
  };
  bool during_unwinding = false;
  try {
    const probe p{&during_unwinding};
    throw_from(1);
  } catch (...) {
    EXPECT_TRUE(any(*globals));
    EXPECT_NE(globals->caught, nullptr);
    EXPECT_EQ(globals->uncaught, 0U);
  }
  EXPECT_TRUE(during_unwinding);
  EXPECT_FALSE(any(*globals));
}

TEST(exceptions, save_and_clear_then_restore) {
  try {
    throw std::runtime_error("kept");
  } catch (...) {
    exception_globals* globals = globals_of_this_kernel_thread();
    const exception_state saved = save_and_clear(*globals);
    EXPECT_FALSE(any(*globals));
    EXPECT_EQ(std::current_exception(), nullptr);
    weft::arch::restore(*globals, saved);
    EXPECT_EQ(message_of_current(), "kept");
  }
}

// Both inside `catch` at once, leaving in an order that is not that of a stack.
TEST(exceptions, interleave_in_catch) {
  native_context here;
  std::string seen;
  partner other{[&](partner& self) {
    const auto leave = [&] { switch_with_exceptions([&] { self.leave(); }); };
    try {
      throw std::runtime_error("B");
    } catch (...) {
      leave();
      seen += message_of_current();
      try {
        throw std::logic_error("C");
      } catch (...) {
        leave();
        seen += message_of_current();
      }
      seen += message_of_current();
    }
    seen += std::current_exception() ? "!" : ".";
  }};
  const auto resume = [&] { switch_with_exceptions([&] { other.resume(here); }); };
  try {
    throw std::runtime_error("A");
  } catch (...) {
    resume();
    seen += message_of_current();
    resume();
    seen += message_of_current();
  }
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  resume();
  EXPECT_EQ(seen, "ABACB.");
  EXPECT_FALSE(any(*globals_of_this_kernel_thread()));
}

// A destructor that switches while an exception unwinds its frame; the other side sees none in flight.
TEST(exceptions, interleave_during_unwinding) {
  native_context here;
  std::string seen;
  partner other{[&](partner& self) {
    seen += std::to_string(std::uncaught_exceptions());
    try {
      throw_from(3);
    } catch (const std::exception& e) {
      seen += e.what();
      switch_with_exceptions([&] { self.leave(); });
    }
    seen += std::to_string(std::uncaught_exceptions());
  }};
  struct switches_in_destructor {
    native_context& here;
    partner& other;
    std::string& seen;
    ~switches_in_destructor() {
      switch_with_exceptions([&] { other.resume(here); });
      seen += std::to_string(std::uncaught_exceptions());
    }
  };
  try {
    const switches_in_destructor s{here, other, seen};
    throw std::runtime_error("mine");
  } catch (const std::exception& e) {
    seen += e.what();
  }
  EXPECT_EQ(seen, "0bottom1mine");
  other.resume(here);
  EXPECT_EQ(seen, "0bottom1mine0");
}

} // namespace
