// SPDX-License-Identifier: MIT
// Regions that threads of Weft open which have no thread-local variables of their own: they get whole teams.
#include "check.h"

#include <weft/runtime.hpp>
#include <weft/thread.hpp>

#include <numeric>
#include <vector>

namespace {

int threads;

// What `f` does, in so many threads of Weft at once.
template <class F>
void in_threads(int count, F f) {
  std::vector<weft::thread> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    all.emplace_back([f, i] { f(i); });
  for (weft::thread& t : all)
    t.join();
}

void whole_teams() {
  in_threads(6, [](int) {
    for (int k = 0; k < 20; ++k) {
      int sum = 0;
      int before = 0;
#pragma omp parallel num_threads(threads)
      {
        CHECK(omp_get_num_threads() == threads && omp_get_level() == 1);
#pragma omp atomic
        before += 1;
#pragma omp barrier
        CHECK(before == threads);
#pragma omp critical(of_sum)
        sum += omp_get_thread_num();
      }
      CHECK(sum == threads * (threads - 1) / 2);
      CHECK(omp_get_level() == 0 && omp_get_num_threads() == 1);
      weft::this_thread::yield();
    }
  });
}

void work_shares() {
  in_threads(4, [](int number) {
    std::vector<long> all(1000);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 7)
    for (long i = 0; i < 1000; ++i)
      all[static_cast<std::size_t>(i)] = i + number;
    CHECK(std::accumulate(all.begin(), all.end(), 0L) == 499500 + 1000L * number);
    long sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (std::size_t i = 0; i < 1000; ++i)
      sum += all[i];
    CHECK(sum == 499500 + 1000L * number);
    int ran = 0;
#pragma omp parallel sections num_threads(threads) reduction(+ : ran)
    {
#pragma omp section
      ran += 1;
#pragma omp section
      ran += 2;
#pragma omp section
      ran += 4;
    }
    CHECK(ran == 7);
  });
}

void tasks() {
  in_threads(3, [](int) {
    long got = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    got = fib_by_tasks(12);
    CHECK(got == 144);
  });
}

// Nothing else runs on the worker between the call and the region.
void control_variables() {
  in_threads(1, [](int) {
    omp_set_num_threads(threads + 1);
    int seen = 0;
#pragma omp parallel
#pragma omp single
    seen = omp_get_num_threads();
    CHECK(seen == threads + 1);
  });
}

void inner_teams() {
  in_threads(2, [](int) {
    omp_set_max_active_levels(2);
    int inner = 0;
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(threads)
    {
      CHECK(omp_get_level() == 2 && omp_get_ancestor_thread_num(0) == 0 && omp_get_team_size(1) == 2);
#pragma omp atomic
      inner += 1;
    }
    CHECK(inner == 2 * threads);
  });
}

void leagues() {
  in_threads(3, [](int) {
    int members = 0;
    int seen = 0;
#pragma omp teams num_teams(3) thread_limit(threads) shared(members, seen)
#pragma omp parallel num_threads(threads)
    {
#pragma omp atomic
      members += 1;
#pragma omp master
#pragma omp atomic
      seen += 1 << omp_get_team_num();
    }
    CHECK(seen == 7 && members == 3 * threads);
  });
}

// A region of one is run where it is opened.
void serial_regions() {
  in_threads(2, [](int) {
#pragma omp parallel if (0)
    {
      CHECK(omp_get_num_threads() == 1 && omp_get_level() == 1);
#pragma omp parallel num_threads(threads)
      CHECK(omp_get_num_threads() == 1 && omp_get_level() == 2);
    }
    CHECK(omp_get_level() == 0);
  });
}

const test_case cases[] = {
    {"whole_teams", whole_teams},
    {"work_shares", work_shares},
    {"tasks", tasks},
    {"control_variables", control_variables},
    {"inner_teams", inner_teams},
    {"leagues", leagues},
    {"serial_regions", serial_regions},
};

} // namespace

int main(int argc, char** argv) {
  threads = threads_wanted();
  return RUN(cases);
}
