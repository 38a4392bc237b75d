// SPDX-License-Identifier: MIT
// Fibonacci numbers, a ULT a call: once the caller joins its child, once both children fill a future.
#include "samples.h"

static struct team team;

struct by_join {
  int n;
  long result;
};

static void fib_by_join(void* job) {
  struct by_join* self = job;
  if (self->n < 2) {
    self->result = self->n;
    return;
  }
  struct by_join left = {self->n - 1, 0}, right = {self->n - 2, 0};
  ABT_thread child;
  OK(ABT_thread_create(team.pool, fib_by_join, &left, ABT_THREAD_ATTR_NULL, &child));
  fib_by_join(&right);         // the caller does one half itself
  OK(ABT_thread_free(&child)); // and waits for the other
  self->result = left.result + right.result;
}

// [sample abt-fib-future]
struct by_future {
  int n;
  long result;
  ABT_future done; // the parent's
};

static void fib_by_future(void* job) {
  struct by_future* self = job;
  if (self->n < 2) {
    self->result = self->n;
  } else {
    ABT_future both;
    OK(ABT_future_create(2, NULL, &both)); // two compartments: ready at the second set
    struct by_future left = {self->n - 1, 0, both}, right = {self->n - 2, 0, both};
    OK(ABT_thread_create(team.pool, fib_by_future, &left, ABT_THREAD_ATTR_NULL, NULL)); // frees itself
    OK(ABT_thread_create(team.pool, fib_by_future, &right, ABT_THREAD_ATTR_NULL, NULL));
    OK(ABT_future_wait(both));
    OK(ABT_future_free(&both));
    self->result = left.result + right.result;
  }
  OK(ABT_future_set(self->done, &self->result)); // from here on *self may be gone
}
// [/sample]

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  team_start(&team, 2);

  struct by_join joined = {16, 0};
  fib_by_join(&joined);
  printf("fib(%d) = %ld by joins\n", joined.n, joined.result);

  struct by_future filled = {14, 0, ABT_FUTURE_NULL};
  OK(ABT_future_create(1, NULL, &filled.done));
  OK(ABT_thread_create(team.pool, fib_by_future, &filled, ABT_THREAD_ATTR_NULL, NULL));
  OK(ABT_future_wait(filled.done));
  OK(ABT_future_free(&filled.done));
  printf("fib(%d) = %ld by futures\n", filled.n, filled.result);

  team_stop(&team);
  OK(ABT_finalize());
  CHECK(joined.result == 987);
  CHECK(filled.result == 377);
  return 0;
}
