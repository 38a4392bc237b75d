// SPDX-License-Identifier: MIT
#include "weft/base/first_use.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

using weft::base::first_number;
using weft::base::first_use;

TEST(first_use, learns_once) {
  static constinit first_use<std::string> fact;
  int learned = 0;
  const auto learn = [&learned] { return std::to_string(++learned); };
  const std::string* first = &fact.get(learn);
  EXPECT_EQ(*first, "1");
  EXPECT_EQ(&fact.get(learn), first);
  EXPECT_EQ(learned, 1);
}

TEST(first_use, learns_again_after_an_exception) {
  static constinit first_use<int> fact;
  EXPECT_THROW(fact.get([]() -> int { throw 1; }), int);
  EXPECT_EQ(fact.get([] { return 2; }), 2);
}

TEST(first_use, all_kernel_threads_see_one_answer) {
  static constinit first_use<int> fact;
  std::atomic<int> next{0}, here{0};
  std::vector<const int*> seen(4);
  {
    std::vector<std::jthread> threads;
    for (auto& place : seen) {
      threads.emplace_back([&] {
        here.fetch_add(1);
        while (here.load() != 4)
          std::this_thread::yield();
        place = &fact.get([&] { return next.fetch_add(1); });
      });
    }
  }
  for (const int* place : seen)
    EXPECT_EQ(place, seen.front());
}

TEST(first_number, learns_once_zero_too) {
  static constinit first_number fact;
  int learned = 0;
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(fact.get([&learned]() noexcept { return static_cast<std::size_t>(learned++); }), 0U);
  EXPECT_EQ(learned, 1);
}

// fork() while another kernel thread is in the middle of a first use.
template <class Fact>
void expect_free_in_the_child(Fact& fact) {
  std::atomic<bool> learning{false}, over{false};
  std::thread learner([&] {
    fact.get([&]() noexcept {
      learning.store(true);
      while (!over.load())
        std::this_thread::yield();
      return 1;
    });
  });
  while (!learning.load())
    std::this_thread::yield();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20); // the default action ends a child that hangs
    ::_exit(fact.get([]() noexcept { return 7; }) == 7 ? 0 : 1);
  }
  over.store(true);
  learner.join();
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(first_use, is_not_locked_in_the_child_of_fork) {
  static constinit first_use<int> fact;
  expect_free_in_the_child(fact);
}

TEST(first_number, is_not_locked_in_the_child_of_fork) {
  static constinit first_number fact;
  expect_free_in_the_child(fact);
}

} // namespace
