// SPDX-License-Identifier: MIT
// Execution streams: who runs the caller, ranks, how many there are, and to which processors they are bound.
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "abt_test.hpp"
#include "user_defs.hpp"

namespace {

using namespace abt_test;

int rank_of(ABT_xstream es) {
  int rank = -1;
  EXPECT_OK(ABT_xstream_get_rank(es, &rank));
  return rank;
}

// The processors on which the kernel thread of the caller may run.
std::set<int> allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  std::set<int> all;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set))
      all.insert(i);
  }
  return all;
}

std::set<int> allowed_on(const streams& es, std::size_t i) {
  std::set<int> all;
  in_thread([&all] { all = allowed(); }, es.pool(i));
  return all;
}

TEST(ABT_xstream_self, is_the_stream_that_runs_the_caller) {
  const runtime rt;
  const streams es(1);
  ABT_xstream self = ABT_XSTREAM_NULL;
  EXPECT_OK(ABT_xstream_self(&self));
  EXPECT_EQ(self, self_xstream());
  const body check = [&self] { EXPECT_OK(ABT_xstream_self(&self)); };
  in_thread(check, es.pool(0));
  EXPECT_EQ(self, es[0]);
  self = ABT_XSTREAM_NULL;
  in_tasklet(check, es.pool(0));
  EXPECT_EQ(self, es[0]);
}

TEST(ABT_xstream_self, refuses_kernel_threads_and_no_runtime) {
  ABT_xstream self = nullptr;
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_xstream_self(&self));
  EXPECT_EQ(self, ABT_XSTREAM_NULL);
  {
    const runtime rt;
    in_kernel_thread([] {
      ABT_xstream es = nullptr;
      EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_self(&es));
      EXPECT_EQ(es, ABT_XSTREAM_NULL);
    });
  }
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_xstream_self(&self));
}

TEST(ABT_xstream_self_rank, is_the_rank_of_the_stream_that_runs_the_caller) {
  const runtime rt;
  const streams es(2);
  int rank = -1;
  EXPECT_OK(ABT_xstream_self_rank(&rank));
  EXPECT_EQ(rank, 0);
  in_thread([&rank] { EXPECT_OK(ABT_xstream_self_rank(&rank)); }, es.pool(0));
  EXPECT_EQ(rank, 1);
  in_tasklet([&rank] { EXPECT_OK(ABT_xstream_self_rank(&rank)); }, es.pool(1));
  EXPECT_EQ(rank, 2);
}

TEST(ABT_xstream_self_rank, refuses_kernel_threads_and_no_runtime) {
  int rank = 0;
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_xstream_self_rank(&rank));
  {
    const runtime rt;
    in_kernel_thread([&rank] { EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_self_rank(&rank)); });
  }
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_xstream_self_rank(&rank));
}

TEST(ABT_xstream_get_rank, counts_from_the_primary) {
  const runtime rt;
  const streams es(2);
  EXPECT_EQ(rank_of(self_xstream()), 0);
  EXPECT_EQ(rank_of(es[0]), 1);
  EXPECT_EQ(rank_of(es[1]), 2);
}

TEST(ABT_xstream_get_rank, refuses_no_stream) {
  const runtime rt;
  int rank = 0;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_get_rank(ABT_XSTREAM_NULL, &rank));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_get_rank(nullptr, &rank));
}

TEST(ABT_xstream_set_rank, gives_the_old_one_back) {
  const runtime rt;
  const streams es(1);
  EXPECT_OK(ABT_xstream_set_rank(es[0], 7));
  EXPECT_EQ(rank_of(es[0]), 7);
  EXPECT_OK(ABT_xstream_set_rank(es[0], 7)); // its own is not another's
  EXPECT_EQ(rank_of(es[0]), 7);
  int seen = -1;
  in_thread([&seen] { EXPECT_OK(ABT_self_get_xstream_rank(&seen)); }, es.pool(0));
  EXPECT_EQ(seen, 7);
  ABT_xstream other = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create_with_rank(ABT_SCHED_NULL, 1, &other));
  EXPECT_OK(ABT_xstream_free(&other));
}

TEST(ABT_xstream_set_rank, refuses_ranks_that_are_taken_or_negative) {
  const runtime rt;
  const streams es(2);
  for (const int rank : {0, 2, -1})
    EXPECT_ABT(ABT_ERR_INV_XSTREAM_RANK, ABT_xstream_set_rank(es[0], rank)) << rank;
  EXPECT_EQ(rank_of(es[0]), 1);
}

TEST(ABT_xstream_set_rank, refuses_no_stream_and_the_primary) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_set_rank(ABT_XSTREAM_NULL, 3));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_set_rank(nullptr, 3));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_set_rank(self_xstream(), 3));
  EXPECT_EQ(rank_of(self_xstream()), 0);
}

TEST(ABT_xstream_get_num, counts_running_and_terminated_streams) {
  const runtime rt;
  int count = 0;
  {
    const streams es(2);
    EXPECT_OK(ABT_xstream_get_num(&count));
    EXPECT_EQ(count, 3);
    EXPECT_OK(ABT_xstream_join(es[0]));
    in_kernel_thread([&count] { EXPECT_OK(ABT_xstream_get_num(&count)); });
    EXPECT_EQ(count, 3);
  }
  EXPECT_OK(ABT_xstream_get_num(&count));
  EXPECT_EQ(count, 1);
}

TEST(ABT_xstream_get_num, refuses_without_a_runtime) {
  int count = 5;
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_xstream_get_num(&count));
  EXPECT_EQ(count, 0);
  {
    const runtime rt;
  }
  count = 5;
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_xstream_get_num(&count));
  EXPECT_EQ(count, 0);
}

TEST(ABT_xstream_is_primary, is_true_of_one_only) {
  const runtime rt;
  const streams es(1);
  ABT_bool primary = ABT_FALSE;
  EXPECT_OK(ABT_xstream_is_primary(self_xstream(), &primary));
  EXPECT_EQ(primary, ABT_TRUE);
  EXPECT_OK(ABT_xstream_is_primary(es[0], &primary));
  EXPECT_EQ(primary, ABT_FALSE);
}

TEST(ABT_xstream_is_primary, refuses_no_stream) {
  const runtime rt;
  ABT_bool primary = ABT_FALSE;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_is_primary(ABT_XSTREAM_NULL, &primary));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_is_primary(nullptr, &primary));
}

TEST(ABT_xstream_equal, compares_handles) {
  const runtime rt;
  const streams es(2);
  const auto equal = [](ABT_xstream a, ABT_xstream b) {
    ABT_bool result = -1;
    EXPECT_OK(ABT_xstream_equal(a, b, &result));
    return result;
  };
  EXPECT_EQ(equal(es[0], es[0]), ABT_TRUE);
  EXPECT_EQ(equal(es[0], es[1]), ABT_FALSE);
  EXPECT_EQ(equal(es[0], ABT_XSTREAM_NULL), ABT_FALSE);
  EXPECT_EQ(equal(ABT_XSTREAM_NULL, ABT_XSTREAM_NULL), ABT_TRUE);
}

TEST(ABT_xstream_set_cpubind, binds_to_one_processor) {
  const std::set<int> all = allowed(); // before streams are bound by their ranks
  const runtime rt;
  const streams es(1);
  for (const int cpu : all) {
    EXPECT_OK(ABT_xstream_set_cpubind(es[0], cpu));
    EXPECT_EQ(allowed_on(es, 0), std::set<int>{cpu});
  }
}

TEST(ABT_xstream_set_cpubind, refuses_no_stream_and_no_processor) {
  const runtime rt;
  const streams es(1);
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_set_cpubind(ABT_XSTREAM_NULL, 0));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_set_cpubind(nullptr, 0));
  EXPECT_ABT(ABT_ERR_CPUID, ABT_xstream_set_cpubind(es[0], -1));
}

TEST(ABT_xstream_get_cpubind, tells_to_which_it_is_bound) {
  const std::set<int> all = allowed(); // before streams are bound by their ranks
  const runtime rt;
  const streams es(1);
  for (const int cpu : all) {
    EXPECT_OK(ABT_xstream_set_cpubind(es[0], cpu));
    int bound = -1;
    EXPECT_OK(ABT_xstream_get_cpubind(es[0], &bound));
    EXPECT_EQ(bound, cpu);
  }
}

TEST(ABT_xstream_get_cpubind, refuses_no_stream) {
  const runtime rt;
  int cpu = -1;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_get_cpubind(ABT_XSTREAM_NULL, &cpu));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_get_cpubind(nullptr, &cpu));
}

TEST(ABT_xstream_set_affinity, binds_to_several_processors_and_to_all_again) {
  const std::set<int> all = allowed(); // before streams are bound by their ranks
  const runtime rt;
  const streams es(1);
  std::vector<int> some(all.begin(), all.end());
  EXPECT_OK(ABT_xstream_set_affinity(es[0], static_cast<int>(some.size()), some.data()));
  EXPECT_EQ(allowed_on(es, 0), all);
  EXPECT_OK(ABT_xstream_set_affinity(es[0], 1, some.data()));
  EXPECT_EQ(allowed_on(es, 0), std::set<int>{some[0]});
  EXPECT_OK(ABT_xstream_set_affinity(es[0], 0, nullptr));
  EXPECT_EQ(allowed_on(es, 0), all);
}

TEST(ABT_xstream_set_affinity, refuses_no_stream_and_a_negative_count) {
  const runtime rt;
  const streams es(1);
  int cpu = 0;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_set_affinity(ABT_XSTREAM_NULL, 1, &cpu));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_set_affinity(nullptr, 1, &cpu));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_xstream_set_affinity(es[0], -1, &cpu));
}

TEST(ABT_xstream_get_affinity, tells_to_which_it_is_bound) {
  const std::set<int> all = allowed(); // before streams are bound by their ranks
  const runtime rt;
  const streams es(1);
  std::vector<int> some(all.begin(), all.end());
  ASSERT_OK(ABT_xstream_set_affinity(es[0], static_cast<int>(some.size()), some.data()));
  int count = -1;
  EXPECT_OK(ABT_xstream_get_affinity(es[0], 0, nullptr, &count));
  EXPECT_EQ(count, static_cast<int>(some.size()));
  std::vector<int> got(some.size() + 1, -1);
  EXPECT_OK(ABT_xstream_get_affinity(es[0], static_cast<int>(got.size()), got.data(), nullptr));
  EXPECT_EQ(got.back(), -1); // the rest is left as it was
  got.pop_back();
  EXPECT_EQ(std::set<int>(got.begin(), got.end()), all);
}

TEST(ABT_xstream_get_affinity, refuses_no_stream_and_a_negative_count) {
  const runtime rt;
  const streams es(1);
  int cpu = 0;
  int count = 0;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_get_affinity(ABT_XSTREAM_NULL, 1, &cpu, &count));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_get_affinity(nullptr, 1, &cpu, &count));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_xstream_get_affinity(es[0], -1, &cpu, &count));
}

// As the documentation of 1.x has it: both refuse, and there are 0 CPUs.
void expect_unbound(ABT_xstream es) {
  int cpu = -7;
  EXPECT_ABT(ABT_ERR_FEATURE_NA, ABT_xstream_get_cpubind(es, &cpu));
  int count = -1;
  EXPECT_ABT(ABT_ERR_FEATURE_NA, ABT_xstream_get_affinity(es, 1, &cpu, &count));
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cpu, -7);
}

TEST(ABT_xstream_get_affinity, refuses_for_a_stream_that_is_not_bound) {
  const runtime rt;
  const streams es(1);
  expect_unbound(self_xstream());
  expect_unbound(es[0]);
  int cpu = *allowed().begin();
  EXPECT_OK(ABT_xstream_set_affinity(es[0], 1, &cpu));
  EXPECT_OK(ABT_xstream_get_cpubind(es[0], &cpu));
  EXPECT_OK(ABT_xstream_set_affinity(es[0], 0, nullptr));
  expect_unbound(es[0]);
}

// Also those beyond the machine, whose streams run somewhere on it.
TEST(ABT_xstream_get_affinity, tells_each_processor_once) {
  const std::set<int> all = allowed();
  const runtime rt;
  const streams es(1);
  int asked[] = {*all.rbegin() + 1, *all.begin(), *all.begin()};
  EXPECT_OK(ABT_xstream_set_affinity(es[0], 3, asked));
  int got[3] = {-1, -1, -1};
  int count = -1;
  EXPECT_OK(ABT_xstream_get_affinity(es[0], 3, got, &count));
  EXPECT_EQ(count, 2);
  EXPECT_EQ(got[0], *all.begin());
  EXPECT_EQ(got[1], *all.rbegin() + 1);
}

// ABT_SET_AFFINITY; an empty set: not bound.
using cpu_sets = std::vector<std::set<int>>;
void expect_bound_to(const char* list, const cpu_sets& wanted) {
  std::optional<environment> env;
  if (list != nullptr)
    env.emplace(std::initializer_list<std::pair<const char*, const char*>>{{"ABT_SET_AFFINITY", list}});
  const std::set<int> all = allowed();
  {
    const runtime rt;
    const streams es(3);
    for (std::size_t rank = 0; rank <= 3; ++rank) {
      SCOPED_TRACE(std::string(list != nullptr ? list : "unset") + ", rank " + std::to_string(rank));
      const ABT_xstream one = rank == 0 ? self_xstream() : es[rank - 1];
      const std::set<int>& set = wanted[rank % wanted.size()];
      if (set.empty()) {
        expect_unbound(one);
        continue;
      }
      std::vector<int> got(all.size());
      int count = 0;
      EXPECT_OK(ABT_xstream_get_affinity(one, static_cast<int>(got.size()), got.data(), &count));
      got.resize(static_cast<std::size_t>(count));
      EXPECT_EQ(std::set<int>(got.begin(), got.end()), set);
    }
  }
  EXPECT_EQ(allowed(), all); // of main's kernel thread: as before ABT_init()
}
TEST(ABT_init, binds_streams_as_the_environment_says) {
  const std::set<int> all = allowed();
  cpu_sets by_rank;
  for (const int cpu : all)
    by_rank.push_back({cpu});
  const int n = static_cast<int>(all.size());
  const cpu_sets unbound(1);
  expect_bound_to(nullptr, unbound);
  for (const char* none : {"", "0", "n", "no", "NO", "false", "off", "{0", "junk"})
    expect_bound_to(none, unbound);
  for (const char* words : {"y", "yes", "true", "on", "On"})
    expect_bound_to(words, by_rank);
  const std::string count = std::to_string(n);
  expect_bound_to(("0:" + count).c_str(), by_rank);
  expect_bound_to(("{0}:" + count + ":1").c_str(), by_rank);
  expect_bound_to((" { 0 : " + count + " } ").c_str(), cpu_sets{all});
  expect_bound_to(("{0:" + std::to_string(3 * n) + "}").c_str(), cpu_sets{all}); // they wrap around
  expect_bound_to("-1,0", cpu_sets{{*all.rbegin()}, {*all.begin()}});
  expect_bound_to("{0}", cpu_sets{{*all.begin()}});
}

} // namespace
