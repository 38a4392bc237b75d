/* SPDX-License-Identifier: MIT */
/* A C program that knows nothing but abt.h and the pkg-config module argobots. */
#include <stdio.h>

#include <abt.h>

static void answer(void* into) {
  *(int*)into = 42;
}

int main(int argc, char** argv) {
  ABT_xstream stream;
  ABT_pool pool;
  ABT_thread thread;
  int number = 0;
  if (ABT_init(argc, argv) != ABT_SUCCESS || ABT_self_get_xstream(&stream) != ABT_SUCCESS ||
      ABT_xstream_get_main_pools(stream, 1, &pool) != ABT_SUCCESS ||
      ABT_thread_create(pool, answer, &number, ABT_THREAD_ATTR_NULL, &thread) != ABT_SUCCESS ||
      ABT_thread_free(&thread) != ABT_SUCCESS || ABT_finalize() != ABT_SUCCESS)
    return 1;
  printf("consumer: %d\n", number);
  return 0;
}
