/* SPDX-License-Identifier: MIT */
/* Threads of abt.h that wait in an MPI engine which was built with Argobots' thread package: on Weft's libabt
   or on Argobots', whichever is loaded. For bench/mpi_suite.py, which compiles it by the engine's compiler.
   Prints one JSON object, by rank 0. The cases are those of waits.cpp. */
#include <abt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;
static int rounds;
static int received;

static void require(int good, const char* what) {
  if (good)
    return;
  fprintf(stderr, "failed: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Runs so many threads of `f`, whose argument is a number from 0 on, in the pool of the caller's stream. */
static void in_threads(int count, void (*f)(void*)) {
  ABT_xstream self;
  ABT_pool pool;
  require(ABT_xstream_self(&self) == ABT_SUCCESS && ABT_xstream_get_main_pools(self, 1, &pool) == ABT_SUCCESS,
          "the stream has a pool");
  ABT_thread* const all = malloc((size_t)count * sizeof *all);
  require(all != NULL, "memory for the handles");
  for (size_t i = 0; i < (size_t)count; ++i)
    require(ABT_thread_create(pool, f, (void*)i, ABT_THREAD_ATTR_NULL, &all[i]) == ABT_SUCCESS,
            "a thread begins");
  for (int i = 0; i < count; ++i)
    require(ABT_thread_free(&all[i]) == ABT_SUCCESS, "a thread ends");
  free(all);
}

static void talk(void* number) {
  const int tag = (int)(size_t)number;
  double value = 1;
  for (int r = 0; r < rounds; ++r) {
    if (rank == 0)
      MPI_Send(&value, 1, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_DOUBLE, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
      MPI_Send(&value, 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
  }
}

/* Microseconds a round trip, of all threads together. */
static void round_trips(int threads, int windows) {
  for (int w = 0; w < windows; ++w) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    in_threads(threads, talk);
    if (rank == 0)
      printf("%s%.4f", w == 0 ? "{\"windows\": [" : ", ", 1e6 * (MPI_Wtime() - begin) / threads / rounds);
  }
  if (rank == 0)
    printf("]}\n");
}

static void wait_for_answer(void* number) {
  int got = -1;
  MPI_Recv(&got, 1, MPI_INT, 1, (int)(size_t)number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  require(got == (int)(size_t)number, "the answer is the thread's own");
  ++received; /* all threads are on one stream */
}

/* The last thread to begin asks, when all others wait: microseconds an answer. */
static double asked;
static int blocked_threads;

static void wait_or_ask(void* number) {
  if ((int)(size_t)number == blocked_threads - 1) {
    asked = MPI_Wtime();
    MPI_Send(&rank, 1, MPI_INT, 1, blocked_threads, MPI_COMM_WORLD);
  }
  wait_for_answer(number);
}

static void blocked(int count) {
  int go = 0;
  blocked_threads = count;
  if (rank == 1) {
    MPI_Recv(&go, 1, MPI_INT, 0, count, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = count - 1; i >= 0; --i)
      MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    return;
  }
  const double begin = MPI_Wtime();
  in_threads(count, wait_or_ask);
  require(received == count, "each thread has its answer");
  printf("{\"to_block_ms\": %.3f, \"answer_us\": %.4f}\n", 1e3 * (asked - begin),
         1e6 * (MPI_Wtime() - asked) / count);
}

/* round_trips_abt round_trips THREADS ROUNDS WINDOWS | blocked COUNT */
int main(int count, char** words) {
  int provided = MPI_THREAD_SINGLE;
  int done = 1;
  if (ABT_init(count, words) != ABT_SUCCESS)
    return 1;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  require(provided == MPI_THREAD_MULTIPLE, "the engine has MPI_THREAD_MULTIPLE");
  if (count == 5 && strcmp(words[1], "round_trips") == 0) {
    rounds = atoi(words[3]);
    round_trips(atoi(words[2]), atoi(words[4]));
  } else if (count == 3 && strcmp(words[1], "blocked") == 0) {
    blocked(atoi(words[2]));
  } else {
    done = 0;
  }
  MPI_Finalize();
  ABT_finalize();
  return done ? 0 : 2;
}
