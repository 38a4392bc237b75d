// SPDX-License-Identifier: MIT
// What `weft ps` sees of a program over abt.h: three ULTs that hold a mutex each and want the next one's, and
// one that waits for an eventual. Prints "ready" when all wait, and then does not change until it is killed.
#include <abt.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 3 };

static ABT_mutex mutexes[THREADS];
static ABT_eventual never;
static int numbers[THREADS] = {0, 1, 2};

static void grab_two(void* number) {
  const int mine = *(int*)number;
  ABT_mutex_lock(mutexes[mine]);
  ABT_thread_yield();
  ABT_mutex_lock(mutexes[(mine + 1) % THREADS]);
  __asm__ volatile("" ::: "memory"); // something is left to do here, so the call is one
}

static void await_eventual(void* unused) {
  (void)unused;
  ABT_eventual_wait(never, NULL);
  __asm__ volatile("" ::: "memory");
}

int main(int argc, char** argv) {
  if (ABT_init(argc, argv) != ABT_SUCCESS)
    return 1;
  ABT_xstream stream;
  ABT_pool pool;
  if (ABT_self_get_xstream(&stream) != ABT_SUCCESS ||
      ABT_xstream_get_main_pools(stream, 1, &pool) != ABT_SUCCESS)
    return 1;
  if (ABT_eventual_create(0, &never) != ABT_SUCCESS)
    return 1;
  ABT_thread threads[THREADS + 1];
  for (int i = 0; i < THREADS; ++i) {
    if (ABT_mutex_create(&mutexes[i]) != ABT_SUCCESS)
      return 1;
    if (ABT_thread_create(pool, grab_two, &numbers[i], ABT_THREAD_ATTR_NULL, &threads[i]) != ABT_SUCCESS)
      return 1;
  }
  if (ABT_thread_create(pool, await_eventual, NULL, ABT_THREAD_ATTR_NULL, &threads[THREADS]) != ABT_SUCCESS)
    return 1;
  for (int i = 0; i < 10; ++i)
    ABT_thread_yield();
  puts("ready");
  fflush(stdout);
  for (;;)
    pause();
}
