// SPDX-License-Identifier: MIT
// What the tests of ULTs on the stack of whoever joins or frees them share. Where a sanitizer watches stacks
// none runs so, and the rest must hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "units.hpp"
#include "weft/arch/arch.hpp"

namespace abt_test {

inline constexpr bool may_inline = weft::arch::has_marks;

// Whether a ULT runs on the stack of the caller, by the distance of their frames: stacks are further apart.
class stack_watch {
 public:
  stack_watch() : joiner_(frame()) {}
  // In the ULT.
  void look() { shared_ = joiner_ - frame() < reach; }
  [[nodiscard]] bool shared() const { return shared_; }

 private:
  static constexpr std::uintptr_t reach = 12 << 10;
  [[gnu::noinline]] static std::uintptr_t frame() {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  }
  const std::uintptr_t joiner_;
  std::atomic<bool> shared_ = false;
};

// One decision in some hundreds goes through the stream's scheduler, which gives a stack to what starts then:
// nearly all of so few joins do not.
inline constexpr int rounds = 20;
class inline_count {
 public:
  void add(const stack_watch& w) { shared_ += w.shared() ? 1 : 0; }
  ~inline_count() {
    if (may_inline) {
      EXPECT_GE(shared_, rounds - 3);
    }
  }

 private:
  int shared_ = 0;
};

// Joins and frees so many ULTs that run `f(round)`, one after the other, and expects them on this stack.
// `check` is called after each join.
inline void join_each(const std::function<void(int)>& f, const std::function<void()>& check = [] {}) {
  inline_count inlined;
  for (int i = 0; i < rounds; ++i) {
    stack_watch watch;
    body run = [&] {
      watch.look();
      f(i);
    };
    ABT_thread t = new_thread(self_pool(), run);
    ASSERT_OK(ABT_thread_join(t));
    EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
    check();
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_EQ(t, ABT_THREAD_NULL);
    inlined.add(watch);
  }
}
inline void free_each(const std::function<void(int)>& f, const std::function<void()>& check = [] {}) {
  inline_count inlined;
  for (int i = 0; i < rounds; ++i) {
    stack_watch watch;
    body run = [&] {
      watch.look();
      f(i);
    };
    ABT_thread t = new_thread(self_pool(), run);
    ASSERT_OK(ABT_thread_free(&t));
    EXPECT_EQ(t, ABT_THREAD_NULL);
    check();
    inlined.add(watch);
  }
}
// All forms, from the primary ULT and from one with a stack of its own; `check` after each join.
inline void each_way(const std::function<void(int)>& f, const std::function<void()>& check = [] {}) {
  const auto both = [&] {
    join_each(f, check);
    free_each(f, check);
  };
  both();
  body in_ult = both;
  const sized_attributes attr(256 << 10);
  ABT_thread t = new_thread(self_pool(), in_ult, attr);
  EXPECT_OK(ABT_thread_free(&t));
}

// Ends the caller below so many C frames.
[[gnu::noinline]] inline int below(int frames, int (*end)()) {
  volatile int deeper = frames;
  if (frames == 0)
    return end();
  return below(deeper - 1, end) + deeper;
}

inline int rank() {
  int r = -1;
  EXPECT_OK(ABT_self_get_xstream_rank(&r));
  return r;
}

} // namespace abt_test
