// SPDX-License-Identifier: MIT
// A new thread begins with the floating-point environment of whoever made it ([cfenv]), whoever starts it
// and how, and whatever its maker has set since.
#include "fixture.hpp"

#include <array>
#include <atomic>
#include <cfenv>
#include <thread>
#include <vector>

#include "weft/techniques.hpp"
#include "weft/weft.hpp"

#ifdef __SSE__
#include <xmmintrin.h>
#endif

namespace {

using namespace weft;

WEFT_API_SUITE(fp_environment);

constexpr std::array modes = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};

// Flushing to zero is in MXCSR alone, and no mode of <cfenv>.
void flush_to_zero([[maybe_unused]] bool on) {
#ifdef __SSE__
  constexpr unsigned both = 0x8040;
  _mm_setcsr(on ? _mm_getcsr() | both : _mm_getcsr() & ~both);
#endif
}
bool flushes() {
#ifdef __SSE__
  return (_mm_getcsr() & 0x8040) == 0x8040;
#else
  return false;
#endif
}

// What a unit found at its start: compared with what it should have.
class found {
 public:
  void look(int wanted, bool flushing = false) {
    ++looks_;
    if (std::fegetround() != wanted || (flushing && !flushes()))
      ++wrong_;
  }
  void expect(int looks, const char* what) {
    EXPECT_EQ(looks_, looks) << what;
    EXPECT_EQ(wrong_, 0) << what;
  }

 private:
  std::atomic<int> looks_{0};
  std::atomic<int> wrong_{0};
};

// Threads that are made by `make(mode, look)`, each under a mode of its own, and start while their maker has
// another.
template <class Make>
void each_mode(const char* what, Make make) {
  constexpr int rounds = 25;
  found f;
  std::vector<thread> threads;
  for (int i = 0; i < rounds; ++i) {
    for (const int mode : modes) {
      std::fesetround(mode);
      flush_to_zero(true);
      threads.push_back(make([&f, mode] {
#ifdef __SSE__
        f.look(mode, true);
#else
        f.look(mode);
#endif
        std::fesetround(FE_DOWNWARD); // its own affair
        flush_to_zero(false);
      }));
      EXPECT_EQ(std::fegetround(), mode) << what;
    }
  }
  flush_to_zero(false);
  std::fesetround(FE_TOWARDZERO);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (i % 3 == 1)
      this_thread::yield();
    threads[i].join();
    EXPECT_EQ(std::fegetround(), FE_TOWARDZERO) << what;
    EXPECT_FALSE(flushes()) << what;
  }
  std::fesetround(FE_TONEAREST);
  f.expect(rounds * static_cast<int>(modes.size()), what);
}

TEST_P(fp_environment, of_threads_is_their_makers) {
  each_mode("plain", [](auto look) { return thread(look); });
  each_mode("sized", [](auto look) { return thread({.stack_size = 40 << 10, .name = "sized"}, look); });
  each_mode("create_to", [](auto look) { return thread::create_to({}, look); });
}

TEST_P(fp_environment, of_each_technique) {
  for (unsigned i = 0; i < unit::technique_count; ++i) {
    const auto t = static_cast<technique_id>(i);
    each_mode(unit::to_string(t), [t](auto look) { return thread({.technique = t}, look); });
  }
  each_mode("inlined, Full", [](auto look) { return thread(thread_of<technique_id::full>(look)); });
  each_mode("inlined, SS-L", [](auto look) { return thread(thread_of<technique_id::ss_lazy>(look)); });
  each_mode("inlined, C-Full", [](auto look) { return thread(thread_of<technique_id::c_full>(look)); });
  each_mode("inlined, C-RoC-E",
            [](auto look) { return thread(thread_of<technique_id::c_roc_eager_release>(look)); });
}

TEST_P(fp_environment, is_handed_on) {
  found f;
  std::fesetround(FE_UPWARD);
  thread([&] {
    thread inner([&] { f.look(FE_UPWARD); });
    this_thread::yield();
    inner.join();
  }).join();
  std::fesetround(FE_TONEAREST);
  f.expect(1, "a thread of a thread");
}

TEST_P(fp_environment, of_what_kernel_threads_make) {
  found f;
  std::atomic<bool> ended{false}; // the only worker may be this one: it must not block
  std::thread maker([&] {
    std::fesetround(FE_DOWNWARD);
    thread t([&] { f.look(FE_DOWNWARD); });
    tasklet small([&] { f.look(FE_DOWNWARD); });
    std::fesetround(FE_TONEAREST);
    t.join();
    small.join();
    ended = true;
  });
  while (!ended)
    this_thread::yield();
  maker.join();
  f.expect(2, "made by a kernel thread");
}

TEST_P(fp_environment, of_group_members_loops_forks_and_tasklets) {
  found members;
  found pieces;
  found forks;
  found tasklets;
  std::fesetround(FE_UPWARD);
  for (int i = 0; i < 50; ++i) {
    task_group g;
    g.run([&] { members.look(FE_UPWARD); });
    g.run([&] { members.look(FE_UPWARD); });
    g.wait();
    auto f = fork([&] { forks.look(FE_UPWARD); });
    this_thread::yield();
    f.join();
    tasklet t([&] { tasklets.look(FE_UPWARD); });
    if (i % 2 == 0)
      this_thread::yield();
    t.join();
  }
  parallel_for(0, 500, [&](int) { pieces.look(FE_UPWARD); });
  std::fesetround(FE_TONEAREST);
  members.expect(100, "members");
  forks.expect(50, "forks");
  tasklets.expect(50, "tasklets");
  pieces.expect(500, "pieces of a loop");
}

// A tasklet that a worker's loop runs: neither the maker's mode of another one, nor what that one left.
TEST_P(fp_environment, of_tasklets_that_nobody_joins_yet) {
  found f;
  std::atomic<int> ended{0};
  constexpr int each = 20;
  for (int i = 0; i < each; ++i) {
    for (const int mode : modes) {
      std::fesetround(mode);
      tasklet([&f, &ended, mode] {
        f.look(mode);
        std::fesetround(FE_UPWARD);
        ++ended;
      }).detach();
    }
  }
  std::fesetround(FE_TONEAREST);
  while (ended < each * static_cast<int>(modes.size()))
    this_thread::yield();
  f.expect(each * static_cast<int>(modes.size()), "detached tasklets");
  thread([] { EXPECT_EQ(std::fegetround(), FE_TONEAREST); }).join();
}

} // namespace
