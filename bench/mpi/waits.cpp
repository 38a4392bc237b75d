// SPDX-License-Identifier: MIT
// Waits in MPI, for bench/mpi_suite.py: of threads of Weft, where the layer is preloaded, or of kernel
// threads. One program an engine. Prints one JSON object, by rank 0.
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <type_traits>
#include <vector>

#include "weft/sleep.hpp"
#include "weft/thread.hpp"

namespace {

int rank = 0;

double now() {
  return MPI_Wtime();
}

template <class Thread, class F>
void in_threads(int count, F f) {
  std::vector<Thread> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    all.emplace_back([f, i] { f(i); });
  for (Thread& t : all)
    t.join();
}

// So many threads a rank, each with one of the other rank: microseconds a round trip, of all together.
template <class Thread>
void round_trips(int threads, int rounds, int windows) {
  std::printf(rank == 0 ? "{\"windows\": [" : "");
  for (int w = 0; w < windows; ++w) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = now();
    in_threads<Thread>(threads, [rounds](int i) {
      double value = 1;
      for (int r = 0; r < rounds; ++r) {
        if (rank == 0)
          MPI_Send(&value, 1, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_DOUBLE, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
          MPI_Send(&value, 1, MPI_DOUBLE, 0, i, MPI_COMM_WORLD);
      }
    });
    if (rank == 0)
      std::printf("%s%.4f", w == 0 ? "" : ", ", 1e6 * (now() - begin) / threads / rounds);
  }
  std::printf(rank == 0 ? "]}\n" : "");
}

// So many receives wait before the first is answered: milliseconds until all wait, microseconds an answer.
template <class Thread>
void blocked(int count) {
  int go = 0;
  if (rank == 1) {
    MPI_Recv(&go, 1, MPI_INT, 0, count, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = count - 1; i >= 0; --i)
      MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    return;
  }
  std::atomic<int> waiting{0};
  std::atomic<long> sum{0};
  const double begin = now();
  double asked = 0;
  std::thread asks([&] {
    while (waiting < count)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    asked = now();
    MPI_Send(&count, 1, MPI_INT, 1, count, MPI_COMM_WORLD);
  });
  in_threads<Thread>(count, [&](int i) {
    int got = -1;
    ++waiting;
    MPI_Recv(&got, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += got;
  });
  const double end = now();
  asks.join();
  if (sum != long{count} * (count - 1) / 2)
    std::exit(3);
  std::printf("{\"to_block_ms\": %.3f, \"answer_us\": %.4f}\n", 1e3 * (asked - begin),
              1e6 * (end - asked) / count);
}

// Of the caller; main() may stand on the only worker.
template <class Thread>
void sleep_for(std::chrono::milliseconds how_long) {
  if constexpr (std::is_same_v<Thread, weft::thread>) {
    weft::this_thread::sleep_for(how_long); // SWITCH: may resume on another worker
  } else {
    std::this_thread::sleep_for(how_long);
  }
}

// A thread of each rank waits for the other rank, and all else sleeps: the share of a CPU that a rank takes,
// once it has waited for a second.
template <class Thread>
void idle(int seconds) {
  Thread waits([] {
    int got = 0;
    MPI_Recv(&got, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
  sleep_for<Thread>(std::chrono::seconds(1));
  const std::clock_t before = std::clock();
  sleep_for<Thread>(std::chrono::seconds(seconds));
  const double share = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / seconds;
  const int sent = 1;
  MPI_Send(&sent, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
  waits.join();
  if (rank == 0)
    std::printf("{\"cpu_percent\": %.3f}\n", 100 * share);
}

template <class Thread>
void yield() {
  if constexpr (std::is_same_v<Thread, weft::thread>) {
    weft::this_thread::yield(); // SWITCH: may resume on another worker
  } else {
    std::this_thread::yield();
  }
}

// Of a computation that lets others run from time to time: milliseconds.
template <class Thread>
double compute() {
  constexpr int pieces = 2000, steps = 20'000; // some 6 us each
  const double begin = now();
  for (int p = 0; p < pieces; ++p) {
    for (int s = 0; s < steps; ++s)
      asm volatile("" : "+r"(s));
    yield<Thread>();
  }
  return 1e3 * (now() - begin);
}

// Rank 0 computes, first alone and then beside so many threads that wait for rank 1; and so on.
template <class Thread>
void beside(int waiting, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    int value = 0;
    if (rank == 1) {
      MPI_Recv(&value, 1, MPI_INT, 0, waiting, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < waiting; ++i)
        MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
      continue;
    }
    const double alone = compute<Thread>();
    std::atomic<int> begun{0};
    std::vector<Thread> all;
    for (int i = 0; i < waiting; ++i) {
      all.emplace_back([&begun, i] {
        int got = 0;
        ++begun;
        MPI_Recv(&got, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      });
    }
    while (begun < waiting)
      yield<Thread>();
    const double beside_them = compute<Thread>();
    MPI_Send(&value, 1, MPI_INT, 1, waiting, MPI_COMM_WORLD);
    for (Thread& t : all)
      t.join();
    std::printf("%s[%.4f, %.4f]%s", r == 0 ? "{\"alone_and_beside_ms\": [" : ", ", alone, beside_them,
                r + 1 == rounds ? "]}\n" : "");
  }
}

template <class Thread>
bool run(const char* what, int a, int b, int c) {
  if (std::strcmp(what, "round_trips") == 0) {
    round_trips<Thread>(a, b, c);
  } else if (std::strcmp(what, "blocked") == 0) {
    blocked<Thread>(a);
  } else if (std::strcmp(what, "idle") == 0) {
    idle<Thread>(a);
  } else if (std::strcmp(what, "beside") == 0) {
    beside<Thread>(a, b);
  } else {
    return false;
  }
  return true;
}

} // namespace

// waits weft|kernel round_trips THREADS ROUNDS WINDOWS | blocked COUNT | idle SECONDS | beside THREADS ROUNDS
int main(int count, char** words) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto number = [&](int i) { return count > i ? std::atoi(words[i]) : 0; };
  bool is_known = false;
  if (count > 3 && provided == MPI_THREAD_MULTIPLE) {
    is_known = std::strcmp(words[1], "weft") == 0
                   ? run<weft::thread>(words[2], number(3), number(4), number(5))
                   : run<std::thread>(words[2], number(3), number(4), number(5));
  }
  MPI_Finalize();
  return is_known ? 0 : 2;
}
