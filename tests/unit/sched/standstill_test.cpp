// SPDX-License-Identifier: MIT
// Which programs it speaks of: tests/system/standstill.
#include "weft/sched/standstill.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace weft::sched {
namespace {

constexpr deadline a_look = 2'000'000; // takes less, even on a busy machine
constexpr deadline some_time = 24'285'552'342'000;

// Two workers look at once, or one a little later, and so each sees the other awake: the next time they are
// alone.
TEST(standstill, workers_that_looked_together_look_again_apart) {
  constexpr unsigned workers = 64;
  for (const deadline later : {0, 1'000, 70'000}) {
    for (unsigned looks = 0; looks < standstill::most_looks_again; ++looks) {
      unsigned together = 0;
      for (unsigned w = 0; w + 1 < workers; ++w) {
        const deadline one = standstill::pause(looks, w, some_time);
        const deadline other = later + standstill::pause(looks, w + 1, some_time + later);
        together += std::abs(one - other) < a_look ? 1 : 0;
      }
      EXPECT_LE(together, workers / 10) << looks << ", " << later;
    }
  }
}

TEST(standstill, pauses_grow_to_outlast_spare_kernel_threads) {
  for (unsigned w = 0; w < 64; ++w) {
    deadline before = 0, all = 0;
    for (unsigned looks = 0; looks < standstill::most_looks_again; ++looks) {
      const deadline p = standstill::pause(looks, w, some_time + all);
      EXPECT_GT(p, before);
      before = p;
      all += p;
    }
    EXPECT_GT(all, 10'000'000'000); // they end 5 s after their last work
    EXPECT_LT(all, 25'000'000'000);
  }
}

} // namespace
} // namespace weft::sched
