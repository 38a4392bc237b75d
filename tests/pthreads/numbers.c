/* SPDX-License-Identifier: MIT */
/* The number of a descriptor is closed, in all the ways there are, and is soon another's: what was known of
 * the old one does not hold for the new. And what several wait for at once. */
#include "tests/pthreads/check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

/* --- used again --- */

static void close_by_close(int d) {
  CHECK(close(d) == 0);
}
static void close_by_fclose(int d) {
  FILE* const stream = fdopen(d, "r");
  CHECK(stream != NULL && fclose(stream) == 0);
}
static void close_by_freopen(int d) {
  FILE* const stream = fdopen(d, "r");
  CHECK(stream != NULL);
  CHECK(freopen("/dev/null", "r", stream) == stream && fclose(stream) == 0);
}
static void close_by_range(int d) {
  CHECK(close_range((unsigned)d, (unsigned)d, 0) == 0);
}
static void close_by_syscall(int d) {
  CHECK(syscall(SYS_close, d) == 0);
}
static void close_by_other_name(int d) {
  extern int __close(int);
  CHECK(__close(d) == 0);
}
static void close_by_dup2(int d) {
  const int null = open("/dev/null", O_RDONLY);
  CHECK(dup2(null, d) == d);
  CHECK(syscall(SYS_close, d) == 0 && close(null) == 0);
}
static void close_by_dup3(int d) {
  const int null = open("/dev/null", O_RDONLY);
  CHECK(dup3(null, d, O_CLOEXEC) == d);
  CHECK(syscall(SYS_close, d) == 0 && close(null) == 0);
}
static void (*const ways[])(int) = {close_by_close,   close_by_fclose,     close_by_freopen, close_by_range,
                                    close_by_syscall, close_by_other_name, close_by_dup2,    close_by_dup3};
enum { all_ways = sizeof ways / sizeof *ways };

static sem_t about_to;
static void* reads_one(void* from) {
  char c = 0;
  CHECK(sem_post(&about_to) == 0);
  CHECK(read((int)(intptr_t)from, &c, 1) == 1 && c == 'x');
  return NULL;
}
static void wait_for_one(int from, int to) {
  const pthread_t t = begin(reads_one, (void*)(intptr_t)from);
  CHECK(sem_wait(&about_to) == 0);
  sleep_ms(2); /* it waits */
  CHECK(write(to, "x", 1) == 1);
  end(t);
}
/* Without this library's knowledge, as by a function of the C library's. */
static void make_unseen(int* ends) {
  CHECK(syscall(SYS_pipe2, ends, 0) == 0);
}
static void* uses_again(void* unused) {
  for (int k = 0; k < all_ways; ++k) {
    int first[2], second[2];
    CHECK(k % 2 == 0 ? pipe(first) == 0 : socketpair(AF_UNIX, SOCK_STREAM, 0, first) == 0);
    wait_for_one(first[0], first[1]); /* it is registered now */
    ways[k](first[0]);
    make_unseen(second);
    CHECK(second[0] == first[0]);
    wait_for_one(second[0], second[1]);
    wait_for_one(second[0], second[1]);
    CHECK(syscall(SYS_close, second[0]) == 0 && syscall(SYS_close, second[1]) == 0 && close(first[1]) == 0);
  }
  return unused;
}
static void used_again(void) {
  CHECK(sem_init(&about_to, 0, 0) == 0);
  end(begin(uses_again, NULL));
  uses_again(NULL); /* main makes and closes them */
}

/* Several at once; beside each other, as nothing of this library has been made between them. */
static void ranges(void) {
  int first[4], second[4];
  CHECK(sem_init(&about_to, 0, 0) == 0);
  CHECK(pipe(first) == 0 && pipe(first + 2) == 0 && first[3] == first[0] + 3);
  for (int i = 0; i < 4; i += 2)
    wait_for_one(first[i], first[i + 1]);
  CHECK(close_range((unsigned)first[0], (unsigned)first[3], 0) == 0);
  make_unseen(second);
  make_unseen(second + 2);
  CHECK(memcmp(first, second, sizeof first) == 0);
  for (int i = 0; i < 4; i += 2)
    wait_for_one(second[i], second[i + 1]);
}

/* --- limits of sockets that were found to have none --- */

static void* gets_a_limit(void* unused) {
  int ends[2];
  char c = 0;
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const int copy = dup(ends[0]);
  wait_for_one(ends[0], ends[1]);
  const struct timeval limit = {0, 20000}, none = {0, 0};
  CHECK(setsockopt(copy, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  CHECK(read(ends[0], &c, 1) == -1 && errno == EAGAIN);
  CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none) == 0);
  wait_for_one(ends[0], ends[1]);
  CHECK(close(copy) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0);
  return unused;
}
static void limits_of_copies(void) {
  CHECK(sem_init(&about_to, 0, 0) == 0);
  end(begin(gets_a_limit, NULL));
}

/* --- several wait for one --- */

enum { waiters = 40 };
static int shared[2];
static void several_read_one(void) {
  CHECK(sem_init(&about_to, 0, 0) == 0);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, shared) == 0);
  pthread_t all[waiters];
  for (int i = 0; i < waiters; ++i)
    all[i] = begin(reads_one, (void*)(intptr_t)shared[0]);
  for (int i = 0; i < waiters; ++i)
    CHECK(sem_wait(&about_to) == 0);
  sleep_ms(5);
  char much[waiters];
  memset(much, 'x', sizeof much);
  CHECK(write(shared[1], much, sizeof much) == sizeof much); /* one event for all */
  for (int i = 0; i < waiters; ++i)
    end(all[i]);
  CHECK(close(shared[0]) == 0 && close(shared[1]) == 0);
}

/* Whom the event has woken is cancelled before it reads: the others are woken for it. */
static atomic_int read_by;
static void* reads_or_is_cancelled(void* unused) {
  char c = 0;
  CHECK(sem_post(&about_to) == 0);
  if (read(shared[0], &c, 1) == 1)
    ++read_by;
  return unused;
}
static void cancelled_as_it_wakes(void) {
  CHECK(sem_init(&about_to, 0, 0) == 0);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, shared) == 0);
  for (int round = 0; round < 100; ++round) {
    pthread_t t[3];
    read_by = 0;
    for (int i = 0; i < 3; ++i)
      t[i] = begin(reads_or_is_cancelled, NULL);
    for (int i = 0; i < 3; ++i)
      CHECK(sem_wait(&about_to) == 0);
    if (round % 4 == 0)
      sleep_ms(1);
    CHECK(write(shared[1], "xxx", 3) == 3);
    if (round % 2 == 0)
      sched_yield();
    CHECK_ERROR(0, pthread_cancel(t[round % 3]));
    for (int i = 0; i < 3; ++i)
      end(t[i]); /* two of them get a byte */
    CHECK(read_by >= 2);
    char left; /* what the third one has not read, or has read as it was cancelled */
    CHECK(read_by == 3 || recv(shared[0], &left, 1, MSG_DONTWAIT) == 1 || errno == EAGAIN);
  }
  CHECK(close(shared[0]) == 0 && close(shared[1]) == 0);
}

static void* accepts_one(void* listening) {
  CHECK(sem_post(&about_to) == 0);
  const int s = accept((int)(intptr_t)listening, NULL, NULL);
  char c = 0;
  CHECK(s >= 0 && read(s, &c, 1) == 1 && write(s, &c, 1) == 1 && close(s) == 0);
  return NULL;
}
static void several_accept(void) {
  CHECK(sem_init(&about_to, 0, 0) == 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(bind(listening, (struct sockaddr*)&address, size) == 0 && listen(listening, waiters) == 0);
  CHECK(getsockname(listening, (struct sockaddr*)&address, &size) == 0);
  pthread_t all[waiters];
  int sockets[waiters];
  for (int i = 0; i < waiters; ++i)
    all[i] = begin(accepts_one, (void*)(intptr_t)listening);
  for (int i = 0; i < waiters; ++i)
    CHECK(sem_wait(&about_to) == 0);
  for (int i = 0; i < waiters; ++i) {
    sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(sockets[i], (const struct sockaddr*)&address, size) == 0 && write(sockets[i], "x", 1) == 1);
  }
  for (int i = 0; i < waiters; ++i) {
    char c = 0;
    CHECK(read(sockets[i], &c, 1) == 1 && c == 'x' && close(sockets[i]) == 0);
    end(all[i]);
  }
  CHECK(close(listening) == 0);
}

int main(int count, char** words) {
  (void)count;
  static const struct test_case cases[] = {{"used_again", used_again},
                                           {"ranges", ranges},
                                           {"limits_of_copies", limits_of_copies},
                                           {"several_read_one", several_read_one},
                                           {"cancelled_as_it_wakes", cancelled_as_it_wakes},
                                           {"several_accept", several_accept}};
  return RUN_CASE(cases, words);
}
