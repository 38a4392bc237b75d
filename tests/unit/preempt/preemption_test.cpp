// SPDX-License-Identifier: MIT
// Threads that never yield, beside others that must run: every kind of preemption, by ticks of the monitor.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <vector>

#include "tests/unit/census_check.hpp"
#include "tests/unit/preempt/fixture.hpp"
#include "weft/arch/user_mode.hpp"
#include "weft/mutex.hpp"
#include "weft/preempt/donors.hpp"
#include "weft/preempt/spares.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

struct setting {
  preemption kind;
  sched::arrangement pools;
  unsigned workers;
};
void PrintTo(const setting& s, std::ostream* out) {
  *out << name_of(s.kind)
       << (s.pools == sched::arrangement::stealing     ? "_stealing_"
           : s.pools == sched::arrangement::one_pool   ? "_shared_"
           : s.pools == sched::arrangement::priorities ? "_priorities_"
                                                       : "_private_")
       << s.workers;
}

std::vector<setting> settings() {
  std::vector<setting> all;
  for (const preemption kind :
       {preemption::signal_yield, preemption::own_tls, preemption::own_kernel_thread, preemption::bound_tls})
    for (const sched::arrangement pools : {sched::arrangement::pool_per_worker, sched::arrangement::stealing,
                                           sched::arrangement::one_pool, sched::arrangement::priorities})
      for (const unsigned workers : {1U, 2U, 4U})
        all.push_back({kind, pools, workers});
  return all;
}

class preemption_of : public ::testing::TestWithParam<setting> {
 protected:
  void SetUp() override {
    if (!can_preempt(GetParam().kind))
      GTEST_SKIP() << "not on this machine";
    start_ticking(GetParam().pools, GetParam().workers, std::chrono::microseconds(200));
    this_thread::yield();
    census_.begin();
  }
  void TearDown() override {
    if (IsSkipped())
      return;
    census_.end();
    EXPECT_TRUE(runtime::stop());
    EXPECT_EQ(preempt::donor_count(), 0U);
    EXPECT_EQ(preempt::spare_count(), 0U);
  }
  static thread_attributes attributes() {
    thread_attributes a;
    a.preemption = GetParam().kind;
    return a;
  }

  census_check census_;
};

INSTANTIATE_TEST_SUITE_P(each, preemption_of, ::testing::ValuesIn(settings()),
                         ::testing::PrintToStringParamName());

TEST_P(preemption_of, one_that_spins_lets_the_others_run) {
  std::atomic<bool> go_on{false};
  const unsigned spinners = 2 * GetParam().workers;
  std::vector<thread> threads;
  for (unsigned i = 0; i < spinners; ++i) {
    threads.emplace_back(attributes(), [&go_on] {
      while (!go_on.load(std::memory_order_relaxed)) {
      }
    });
  }
  threads.emplace_back([&go_on] { go_on = true; });
  for (thread& t : threads)
    t.join();
}

TEST_P(preemption_of, they_use_the_whole_interface) {
  mutex m;
  long count = 0;
  std::vector<thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back(attributes(), [&] {
      for (int k = 0; k < 2000; ++k) {
        const std::scoped_lock held(m);
        const long seen = count;
        if (k % 64 == 0)
          this_thread::yield();
        count = seen + 1;
        if (k % 100 == 0) {
          thread child([] {});
          child.join();
          thread preemptible(attributes(), [] {});
          preemptible.join();
        }
      }
    });
  }
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(count, 16000);
}

// Each thread is preempted on worker 1 and ends on worker 0, where its block is then: worker 1 must not run
// out of them, nor all that may be made be made.
TEST(tls_blocks, of_threads_that_end_elsewhere_do_not_pile_up_there) {
  if (!can_preempt(preemption::own_tls))
    GTEST_SKIP() << "not on this machine";
  ticked_runtime ticked;
  ticked.start(sched::arrangement::pool_per_worker, 2, std::chrono::seconds(1)); // the monitor keeps still
  thread_attributes there;
  there.pool = &main_pool_of(1);
  there.preemption = preemption::own_tls;
  pool& here = main_pool_of(0);
  constexpr std::size_t most_of_process = 256; // WEFT_PREEMPTION_DONORS
  std::size_t came = 0;
  const std::size_t stayed_before = preempt::counts().nowhere_to_go;
  for (std::size_t k = 0; k < most_of_process + 50; ++k) {
    std::atomic<bool> runs{false}, asked{false};
    thread t(there, [&] {
      for (runs = true; !asked;) {
      }
      preempt::tick_self();
      came += sched::weft_worker_here == &runtime::default_group().member(0) ? 1 : 0; // its own block says so
    });
    while (!runs) {
    }
    t.migrate_to(here);
    asked = true;
    t.join();
  }
  EXPECT_EQ(came, most_of_process + 50);
  EXPECT_GE(ticked.preemptions(), most_of_process + 50);
  EXPECT_LE(preempt::donor_count(), 32U);
  EXPECT_EQ(preempt::counts().nowhere_to_go, stayed_before);
  ticked.stop();
}

} // namespace
} // namespace weft::test
