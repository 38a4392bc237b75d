// SPDX-License-Identifier: MIT
#include "weft/topology/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <gtest/gtest.h>
#include <thread>

namespace {

using weft::topology::distance;
using weft::topology::machine;

constexpr const char* two_packages = "pack:2 [numa] l3:1 core:2 pu:2";

TEST(worker_count, is_the_smaller_of_mask_and_quota_rounded_up) {
  using weft::topology::worker_count_for;
  EXPECT_EQ(worker_count_for(8, 0), 8);
  EXPECT_EQ(worker_count_for(8, 2.0), 2);
  EXPECT_EQ(worker_count_for(8, 1.01), 2);
  EXPECT_EQ(worker_count_for(8, 0.1), 1);
  EXPECT_EQ(worker_count_for(2, 64), 2);
  EXPECT_EQ(worker_count_for(2, 1e300), 2);
  EXPECT_EQ(worker_count_for(0, 0), 1);
}

TEST(worker_count, of_this_machine_fits_the_mask) {
  const int count = weft::topology::default_worker_count();
  EXPECT_GE(count, 1);
  EXPECT_LE(count, weft::os::affinity_count());
}

TEST(synthetic, distances_follow_the_tree) {
  const machine made_up = machine::synthetic(two_packages);
  ASSERT_EQ(made_up.size(), 8U);
  EXPECT_TRUE(made_up.detailed());
  EXPECT_EQ(made_up.core_count(), 4U);
  EXPECT_EQ(made_up.between(0, 0), distance::same_cpu);
  EXPECT_EQ(made_up.between(0, 1), distance::same_core);
  EXPECT_EQ(made_up.between(0, 2), distance::same_cache);
  EXPECT_EQ(made_up.between(0, 4), distance::machine);
}

TEST(synthetic, without_shared_caches_numa_and_package_decide) {
  const machine made_up = machine::synthetic("pack:2 group:2 [numa] core:2 pu:1");
  ASSERT_EQ(made_up.size(), 8U);
  EXPECT_EQ(made_up.between(0, 1), distance::same_numa);
  EXPECT_EQ(made_up.between(0, 2), distance::same_package);
  EXPECT_EQ(made_up.between(0, 4), distance::machine);
}

TEST(synthetic, distance_is_symmetric_and_groups_partition_the_machine) {
  const machine made_up = machine::synthetic(two_packages);
  for (unsigned rank = 0; rank < made_up.size(); ++rank) {
    std::vector<unsigned> seen;
    const auto groups = made_up.groups(rank);
    ASSERT_EQ(groups.size(), weft::topology::distance_count);
    EXPECT_EQ(groups[0], std::vector<unsigned>{rank});
    for (const auto& group : groups) {
      seen.insert(seen.end(), group.begin(), group.end());
    }
    std::ranges::sort(seen);
    EXPECT_EQ(seen.size(), made_up.size());
    EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
    for (unsigned other = 0; other < made_up.size(); ++other) {
      EXPECT_EQ(made_up.between(rank, other), made_up.between(other, rank));
    }
  }
}

TEST(synthetic, spread_fills_cores_before_hardware_threads) {
  const machine made_up = machine::synthetic(two_packages);
  EXPECT_EQ(made_up.spread(4), (std::vector<unsigned>{0, 2, 4, 6}));
  EXPECT_EQ(made_up.spread(5), (std::vector<unsigned>{0, 1, 2, 4, 6}));
  EXPECT_EQ(made_up.spread(8), (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(made_up.spread(9), (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7, 0}));
  EXPECT_TRUE(made_up.spread(0).empty());
}

TEST(synthetic, victims_are_positions_and_exclude_self) {
  const machine made_up = machine::synthetic(two_packages);
  const auto victims = made_up.victims(made_up.spread(4), 1);
  EXPECT_TRUE(victims[0].empty());
  EXPECT_TRUE(victims[1].empty());
  EXPECT_EQ(victims[static_cast<unsigned>(distance::same_cache)], std::vector<unsigned>{0});
  EXPECT_EQ(victims[static_cast<unsigned>(distance::machine)], (std::vector<unsigned>{2, 3}));
}

TEST(synthetic, two_workers_on_one_cpu_are_at_distance_zero) {
  const machine made_up = machine::synthetic(two_packages);
  EXPECT_EQ(made_up.victims({3, 3}, 0)[0], std::vector<unsigned>{1});
}

TEST(synthetic, cannot_be_bound_to) {
  EXPECT_EQ(machine::synthetic(two_packages).bind(0), ENOTSUP);
  EXPECT_EQ(machine::synthetic(two_packages).unbind(), ENOTSUP);
}

TEST(synthetic, nonsense_gives_an_empty_machine) {
  const machine nothing = machine::synthetic("no such machine");
  EXPECT_EQ(nothing.size(), 0U);
  EXPECT_TRUE(nothing.spread(3).empty());
}

TEST(flat, all_cpus_are_cores_of_their_own) {
  const machine flat = machine::flat({3, 5, 9});
  EXPECT_FALSE(flat.detailed());
  EXPECT_EQ(flat.core_count(), 3U);
  EXPECT_EQ(flat.between(0, 2), distance::machine);
  EXPECT_EQ(flat.cpu(2), 9);
}

TEST(here, covers_the_mask_and_binds) {
  const machine& here = machine::here();
  weft::os::cpu_list mask;
  ASSERT_EQ(weft::os::current_affinity(mask), 0);
  ASSERT_EQ(here.size(), mask.size());
  std::thread{[&] {
    weft::os::cpu_list now;
    for (unsigned rank = 0; rank < here.size(); ++rank) {
      ASSERT_EQ(here.bind(rank), 0);
      ASSERT_EQ(weft::os::current_affinity(now), 0);
      EXPECT_EQ(now, weft::os::cpu_list{here.cpu(rank)});
      EXPECT_EQ(weft::os::current_cpu(), here.cpu(rank));
    }
    EXPECT_EQ(here.bind(here.size()), EINVAL);
    ASSERT_EQ(here.unbind(), 0);
    ASSERT_EQ(weft::os::current_affinity(now), 0);
    EXPECT_EQ(now, mask);
  }}.join();
}

} // namespace
