// SPDX-License-Identifier: MIT
// A preemptible thread that is interrupted calls what it was told to, wherever it is: where it computes, in a
// system call, on its way into the runtime and out of it, and when it is continued. Fronts hand on signals
// so.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "tests/unit/preempt/a_pipe.hpp"
#include "tests/unit/preempt/fixture.hpp"
#include "weft/door/preemptible.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

std::atomic<int> heeded{0};
std::atomic<bool> ends_calls{false};
std::atomic<bool> yields{false};

bool heed(door::descriptor&) noexcept {
  if (yields)
    this_thread::yield();
  ++heeded;
  return ends_calls;
}

class interruption : public ticked_at_a_place {
 protected:
  void SetUp() override {
    ticked_at_a_place::SetUp();
    heeded = 0;
    ends_calls = yields = false;
    door::set_interruption(&heed);
  }
  void TearDown() override {
    ticked_at_a_place::TearDown();
    door::set_interruption(nullptr);
  }
  static thread_attributes attributes() {
    thread_attributes a;
    a.preemption = GetParam().kind;
    return a;
  }
  static void interrupt(thread& t) { door::interrupt(*t.native_handle()); }
};

INSTANTIATE_TEST_SUITE_P(
    each, interruption,
    ::testing::ValuesIn(two_places_of_each({preemption::signal_yield, preemption::own_tls,
                                            preemption::own_kernel_thread, preemption::bound_tls})),
    [](const auto& info) {
      return std::string(name_of(info.param.kind)) + "_workers_" + std::to_string(info.param.workers);
    });

// One computes, one is continued now and then, one goes into the runtime and out of it all the time.
TEST_P(interruption, reaches_all_that_compute) {
  std::atomic<bool> end{false};
  std::array<std::atomic<bool>, 3> begun{};
  const auto waits_for_begin = [&] {
    for (const auto& b : begun) {
      while (!b)
        this_thread::yield();
    }
  };
  thread computes(attributes(), [&] {
    begun[0] = true;
    while (!end) {
    }
  });
  thread computes_too(attributes(), [&] {
    begun[1] = true;
    while (!end) {
    }
  });
  thread calls(attributes(), [&] {
    begun[2] = true;
    while (!end)
      thread([] {}).join();
  });
  waits_for_begin();
  for (int i = 0; i < 60; ++i) {
    const int before = heeded;
    yields = i % 3 == 0;
    interrupt(i % 4 == 0 ? computes : i % 4 == 1 ? computes_too : calls);
    while (heeded == before)
      this_thread::yield();
  }
  end = true;
  computes.join();
  computes_too.join();
  calls.join();
  EXPECT_EQ(heeded, 60);
}

TEST_P(interruption, ends_a_system_call_if_it_says_so) {
  for (int i = 0; i < 20; ++i) {
    const a_pipe pipe;
    std::atomic<bool> begun{false}, returned{false}, may_end{false};
    long result = 0;
    int error = 0;
    thread reads(attributes(), [&] {
      char c = 0;
      begun = true;
      result = ::read(pipe.reading_end(), &c, 1);
      error = errno;
      returned = true;
      while (!may_end)
        this_thread::yield();
    });
    while (!begun)
      this_thread::yield();
    os::sleep_ns(i % 4 * 500'000); // it is in the call, with its worker or without
    ends_calls = i % 2 == 0;
    const int before = heeded;
    interrupt(reads);
    while (heeded == before)
      this_thread::yield();
    if (i % 2 == 0 && i % 4 != 0) {
      while (!returned) { // it had not come to the call yet, perhaps
        os::sleep_ns(1'000'000);
        interrupt(reads);
      }
      may_end = true;
      reads.join();
      EXPECT_EQ(result, -1);
      EXPECT_EQ(error, EINTR);
      continue;
    }
    may_end = true;
    pipe.write_one();
    reads.join();
    EXPECT_TRUE(result == 1 || (i % 4 == 0 && error == EINTR)) << std::strerror(error);
  }
}

// Many to many, at any moment.
TEST_P(interruption, is_never_lost) {
  constexpr int each = 300;
  std::atomic<bool> end{false};
  std::array<thread, 4> all;
  for (thread& t : all) {
    t = thread(attributes(), [&end] {
      while (!end) {
        this_thread::yield();
        for (int i = 0; i < 1000; ++i)
          asm volatile("");
      }
    });
  }
  for (int i = 0; i < each; ++i) {
    for (thread& t : all) {
      const int before = heeded;
      interrupt(t);
      while (heeded == before)
        this_thread::yield();
    }
  }
  end = true;
  for (thread& t : all)
    t.join();
  EXPECT_EQ(heeded, each * 4);
}

} // namespace
} // namespace weft::test
