// SPDX-License-Identifier: MIT
// What the samples share: a check of every error code, a check of results, and a team of streams on one pool.
#pragma once

#include <abt.h>
#include <stdio.h>
#include <stdlib.h>

// Ends the program and names the error, unless the call succeeds.
#define OK(call) samples_ok((call), #call, __FILE__, __LINE__)
// Ends the program unless the condition holds.
#define CHECK(condition) samples_check((condition) ? 1 : 0, #condition, __FILE__, __LINE__)

static inline void samples_check(int holds, const char* what, const char* file, int line) {
  if (holds) return;
  fprintf(stderr, "%s:%d: FAILED: %s\n", file, line, what);
  _Exit(1); // also from a ULT: nothing is left to clean up
}

static inline void samples_ok(int code, const char* call, const char* file, int line) {
  if (code == ABT_SUCCESS) return;
  char name[64] = "an unknown code";
  ABT_error_get_str(code, name, NULL);
  fprintf(stderr, "%s:%d: %s returned %s\n", file, line, call, name);
  _Exit(1);
}

// Streams that share one pool. The primary stream serves it as well, behind a pool of its own in which the
// primary ULT stays: a ULT in the shared pool could go on on any stream, and only the primary stream may call
// ABT_finalize().
enum { TEAM_MOST = 8 };
struct team {
  int count;
  ABT_pool pool; // where to create units
  ABT_xstream streams[TEAM_MOST];
};

static inline void team_start(struct team* team, int count) {
  CHECK(count >= 1 && count <= TEAM_MOST);
  team->count = count;
  OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &team->pool));

  ABT_pool pools[2];
  OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[0]));
  pools[1] = team->pool;
  OK(ABT_self_get_xstream(&team->streams[0]));
  OK(ABT_xstream_set_main_sched_basic(team->streams[0], ABT_SCHED_DEFAULT, 2, pools));

  for (int i = 1; i < count; ++i) {
    OK(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &team->pool, ABT_SCHED_CONFIG_NULL, &team->streams[i]));
  }
}

// The pools are automatic: they go with the last scheduler that serves them, the primary's in ABT_finalize().
static inline void team_stop(struct team* team) {
  for (int i = 1; i < team->count; ++i) OK(ABT_xstream_free(&team->streams[i]));
}
