// SPDX-License-Identifier: MIT
// A context suspended on one kernel thread and resumed on another, also while the first is still inside
// `arrive`.
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/unit/arch/fixture.hpp"
#include "weft/arch/exception_state.hpp"

extern "C" {
// Read by WEFT_READ_TLS, hence a name the assembler can spell.
__thread void* weft_arch_test_here __attribute__((tls_model("initial-exec"))) = nullptr;
}

namespace {

using namespace weft::arch;
using weft::arch::test::native_context;
using weft::arch::test::partner;

[[gnu::always_inline]] inline void* here_by_tls() {
  void* value = nullptr;
  WEFT_READ_TLS(value, weft_arch_test_here);
  return value;
}

// Opaque: pthread_self() is declared `const`, so a compiler may keep its value across a switch.
[[gnu::noinline]] std::thread::id kernel_thread_now() {
  asm volatile("" ::: "memory");
  return std::this_thread::get_id();
}

// Two kernel threads resume one partner in turn.
TEST(migration, ping_pong_between_two_kernel_threads) {
  constexpr int rounds = 2000;
  std::atomic<int> turn{0};
  int mismatches = 0;
  std::uint64_t value = 1;
  static char marks[2];
  partner other{[&](partner& self) {
    std::uint64_t local = 1;
    for (int i = 0; i < rounds; ++i) {
      mismatches += here_by_tls() != &marks[i % 2];
      local = local * 6364136223846793005U + 1442695040888963407U;
      value = local;
      self.leave(); // SWITCH: resumes on the other kernel thread
    }
  }};
  const auto drive = [&](int parity) {
    native_context here;
    weft_arch_test_here = &marks[parity];
    for (int i = parity; i < rounds; i += 2) {
      while (turn.load(std::memory_order_acquire) != i) {
        std::this_thread::yield();
      }
      other.resume(here);
      turn.store(i + 1, std::memory_order_release);
    }
  };
  std::thread second{drive, 1};
  drive(0);
  second.join();
  native_context here;
  other.resume(here);
  std::uint64_t expected = 1;
  for (int i = 0; i < rounds; ++i) {
    expected = expected * 6364136223846793005U + 1442695040888963407U;
  }
  EXPECT_EQ(value, expected);
  EXPECT_EQ(mismatches, 0);
}

// `arrive` publishes the context that was left and stays until another kernel thread has resumed it and has
// it running.
struct publication {
  std::atomic<partner*> published{nullptr};
  std::atomic<bool> ran_elsewhere{false};
  partner* leaving = nullptr;
};

void publish_and_wait(publication& p) {
  p.published.store(p.leaving, std::memory_order_release);
  while (!p.ran_elsewhere.load(std::memory_order_acquire)) {
    std::this_thread::yield();
  }
}

template <class Leave>
void check_arrival(Leave leave) {
  native_context here;
  publication p;
  bool target_finished_late = false;
  std::thread::id first, second;
  partner target{[&](partner& self) {
    self.leave();
    target_finished_late = p.ran_elsewhere.load();
  }};
  target.resume(here);
  partner leaving{[&](partner& self) {
    std::uint64_t live = 41;
    asm volatile("" : "+r"(live));
    first = kernel_thread_now();
    leave(self.own, target.own, p);
    second = kernel_thread_now(); // by now on the other kernel thread
    EXPECT_EQ(live, 41U);
    p.ran_elsewhere.store(true, std::memory_order_release);
  }};
  p.leaving = &leaving;
  std::thread resumer{[&] {
    native_context there;
    partner* who = nullptr;
    while ((who = p.published.load(std::memory_order_acquire)) == nullptr) {
      std::this_thread::yield();
    }
    who->resume(there);
  }};
  leaving.back = target.back = &here;
  swap(here, leaving.own); // comes back when the target ends
  resumer.join();
  EXPECT_TRUE(target_finished_late);
  EXPECT_TRUE(leaving.finished);
  EXPECT_NE(first, second);
}

TEST(migration, from_is_complete_when_swap_with_arrives) {
  check_arrival([](context& from, context& to, publication& p) {
    swap_with(from, to, [](void* q) { publish_and_wait(*static_cast<publication*>(q)); }, &p);
  });
}

TEST(migration, from_is_complete_when_cond_swap_arrives) {
  check_arrival([](context& from, context& to, publication& p) {
    const bool switched = cond_swap(
        from, to,
        [](void* q) {
          publish_and_wait(*static_cast<publication*>(q));
          return true;
        },
        &p);
    EXPECT_TRUE(switched);
  });
}

// An exception caught on one kernel thread and rethrown on another.
TEST(migration, exception_state_moves_along) {
  std::string seen;
  partner other{[&](partner& self) {
    try {
      throw std::runtime_error("carried");
    } catch (...) {
      exception_globals* globals = globals_of_this_kernel_thread();
      exception_globals* const before = globals;
      const exception_state saved = save_and_clear(*globals);
      self.leave(); // SWITCH: resumes on the other kernel thread
      globals = globals_of_this_kernel_thread();
      EXPECT_NE(globals, before);
      weft::arch::restore(*globals, saved);
      try {
        throw;
      } catch (const std::runtime_error& e) {
        seen = e.what();
      }
    }
  }};
  native_context here;
  other.resume(here);
  EXPECT_FALSE(any(*globals_of_this_kernel_thread()));
  std::thread{[&] {
    native_context there;
    other.resume(there);
    EXPECT_FALSE(any(*globals_of_this_kernel_thread()));
  }}.join();
  EXPECT_EQ(seen, "carried");
}

} // namespace
