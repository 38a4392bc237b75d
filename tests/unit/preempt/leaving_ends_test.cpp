// SPDX-License-Identifier: MIT
// Cooperative threads of every technique that end without a worker: the wait in the kernel is their last act.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/unit/preempt/leaving_fixture.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

using namespace std::chrono_literals;

class leaving_ends : public ::testing::TestWithParam<std::tuple<technique_id, unsigned>> {
 protected:
  void SetUp() override {
    if (!leaves_here())
      GTEST_SKIP() << "not on this machine";
    runtime_.start(std::get<1>(GetParam()) == 0 ? sched::arrangement::pool_per_worker
                                                : sched::arrangement::stealing,
                   std::max(1U, std::get<1>(GetParam())));
  }
  void TearDown() override { runtime_.stop(); }
  leaving_runtime runtime_;
};
INSTANTIATE_TEST_SUITE_P(
    each, leaving_ends,
    ::testing::Combine(::testing::Values(technique_id::automatic, technique_id::full, technique_id::full_lazy,
                                         technique_id::roc, technique_id::roc_lazy, technique_id::ss,
                                         technique_id::ss_lazy, technique_id::sc, technique_id::inline_join,
                                         technique_id::c_full, technique_id::c_full_eager_release,
                                         technique_id::c_roc, technique_id::c_roc_eager_release),
                       ::testing::Values(0U, 1U, 2U)), // 0: one with a list of its own
    [](const auto& info) {
      return "technique_" + std::to_string(static_cast<unsigned>(std::get<0>(info.param))) + "_workers_" +
             std::to_string(std::get<1>(info.param));
    });

// The wait is the last that it does: nothing of it has called Weft in between.
TEST_P(leaving_ends, without_a_worker) {
  constexpr unsigned count = 5;
  std::array<a_pipe, count> pipes;
  thread_attributes a;
  a.technique = std::get<0>(GetParam());
  std::vector<thread> threads;
  thread writer([&] {
    for (const a_pipe& p : pipes)
      p.write_one();
  });
  for (const a_pipe& p : pipes)
    threads.emplace_back(a, [&p] { p.read_one(); });
  for (thread& t : threads)
    t.join();
  writer.join();
}

TEST_P(leaving_ends, detached) {
  const a_pipe p, done;
  thread_attributes a;
  a.technique = std::get<0>(GetParam());
  thread writer([&] { p.write_one(); });
  struct at_end {
    const a_pipe* told;
    ~at_end() {
      if (told != nullptr)
        told->write_one();
    }
    at_end(const a_pipe& d) : told(&d) {}
    at_end(at_end&& other) noexcept : told(std::exchange(other.told, nullptr)) {}
  };
  thread(a, [&p, tells = at_end(done)] { p.read_one(); }).detach();
  done.read_one();
  writer.join();
}

TEST_P(leaving_ends, joined_by_one_that_ends_so_too) {
  const a_pipe p, q;
  thread_attributes a;
  a.technique = std::get<0>(GetParam());
  thread writer([&] {
    p.write_one();
    q.write_one();
  });
  thread outer(a, [&] {
    thread inner(a, [&] { p.read_one(); });
    inner.join();
    q.read_one();
  });
  outer.join();
  writer.join();
}

} // namespace
} // namespace weft::test
