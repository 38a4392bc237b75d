/* SPDX-License-Identifier: MIT */
/* Calls on sockets, pipes and files that wait, and what ends the wait. */
#include "tests/pthreads/check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

static void make_pair(int kind, int* ends) {
  CHECK(socketpair(AF_UNIX, kind, 0, ends) == 0);
}
static void close_both(const int* ends) {
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

/* --- many wait, each for its own --- */

enum { many = 300 };
static int pairs[many][2];

static void* echo(void* number) {
  const int mine = pairs[(intptr_t)number][1];
  int got = 0;
  for (ssize_t n; (n = read(mine, &got, sizeof got)) != 0;) {
    CHECK(n == sizeof got);
    ++got;
    CHECK(send(mine, &got, sizeof got, 0) == sizeof got);
  }
  return number;
}
static void echoes(void) {
  pthread_t threads[many];
  for (int i = 0; i < many; ++i) {
    make_pair(SOCK_STREAM, pairs[i]);
    threads[i] = begin(echo, (void*)(intptr_t)i);
  }
  for (int round = 0; round < 5; ++round) {
    for (int i = many - 1; i >= 0; --i)
      CHECK(write(pairs[i][0], &i, sizeof i) == sizeof i);
    for (int i = 0; i < many; ++i) {
      int got = 0;
      CHECK(recv(pairs[i][0], &got, sizeof got, 0) == sizeof got && got == i + 1);
    }
  }
  for (int i = 0; i < many; ++i) {
    CHECK(shutdown(pairs[i][0], SHUT_WR) == 0);
    CHECK(end(threads[i]) == (void*)(intptr_t)i);
    close_both(pairs[i]);
  }
}

static void* count_bytes(void* pipe_end) {
  long sum = 0;
  char bytes[1000];
  for (ssize_t n; (n = read((int)(intptr_t)pipe_end, bytes, sizeof bytes)) != 0; sum += n)
    CHECK(n > 0);
  return (void*)sum;
}
static void* write_bytes(void* pipe_end) {
  static char bytes[300000]; /* more than fits: the call returns when all have been taken */
  CHECK(write((int)(intptr_t)pipe_end, bytes, sizeof bytes) == sizeof bytes);
  struct iovec two[] = {{bytes, 100000}, {bytes, 77}};
  CHECK(writev((int)(intptr_t)pipe_end, two, 2) == 100077);
  return NULL;
}
static void transfers(int* ends) {
  const pthread_t reads = begin(count_bytes, (void*)(intptr_t)ends[0]);
  const pthread_t writes = begin(write_bytes, (void*)(intptr_t)ends[1]);
  end(writes);
  CHECK(close(ends[1]) == 0);
  CHECK(end(reads) == (void*)400077L);
  CHECK(close(ends[0]) == 0);
}
static void large_transfers(void) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  transfers(ends);
  make_pair(SOCK_STREAM, ends);
  transfers(ends);
}

/* --- what does not wait --- */

static void* finds_nothing(void* unused) {
  int ends[2];
  char c = 0;
  make_pair(SOCK_STREAM, ends);
  CHECK(recv(ends[0], &c, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
  CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
  CHECK(read(ends[0], &c, 1) == -1 && errno == EAGAIN);
  static char much[1 << 20];
  CHECK(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
  const ssize_t part = write(ends[1], much, sizeof much);
  CHECK(part > 0 && part < (ssize_t)sizeof much);
  CHECK(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
  close_both(ends);
  CHECK(pipe2(ends, O_NONBLOCK) == 0);
  CHECK(read(ends[0], &c, 1) == -1 && errno == EAGAIN);
  close_both(ends);
  CHECK(pipe(ends) == 0);
  CHECK((fcntl(ends[0], F_GETFL) & O_NONBLOCK) == 0);
  CHECK(read(-1, &c, 1) == -1 && errno == EBADF);
  CHECK(read(ends[0], NULL, 0) == 0);
  CHECK(close(ends[1]) == 0);
  CHECK(read(ends[0], &c, 1) == 0);
  CHECK((fcntl(ends[0], F_GETFL) & O_NONBLOCK) == 0); /* they stay as they are */
  CHECK(close(ends[0]) == 0);
  CHECK(close(ends[0]) == -1 && errno == EBADF);
  return unused;
}
static void nonblocking(void) {
  end(begin(finds_nothing, NULL));
}

static void* of_files(void* unused) {
  char name[] = "/tmp/weft_descriptors_XXXXXX";
  char text[20] = "";
  const int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0);
  CHECK(write(file, "one two", 7) == 7);
  CHECK(lseek(file, 4, SEEK_SET) == 4);
  CHECK(read(file, text, sizeof text) == 3 && strcmp(text, "two") == 0);
  CHECK(read(file, text, sizeof text) == 0);
  CHECK(close(file) == 0);
  int ends[2];
  make_pair(SOCK_STREAM, ends); /* by the same number, perhaps */
  CHECK(write(ends[0], "x", 1) == 1 && read(ends[1], text, 5) == 1);
  close_both(ends);
  FILE* const stream = tmpfile();
  CHECK(fprintf(stream, "%d\n", 42) == 3 && fseek(stream, 0, SEEK_SET) == 0);
  int got = 0;
  CHECK(fscanf(stream, "%d", &got) == 1 && got == 42 && fclose(stream) == 0);
  return unused;
}
static void files(void) {
  end(begin(of_files, NULL));
}

/* --- datagrams, connections, sets --- */

static void* sends_two(void* to) {
  sleep_ms(5);
  CHECK(send((int)(intptr_t)to, "first", 5, 0) == 5 && send((int)(intptr_t)to, "", 0, 0) == 0);
  return NULL;
}
static void* gets_two(void* from) {
  char text[20];
  CHECK(recvfrom((int)(intptr_t)from, text, sizeof text, 0, NULL, NULL) == 5);
  struct iovec one = {text, sizeof text};
  struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
  CHECK(recvmsg((int)(intptr_t)from, &message, 0) == 0);
  return NULL;
}
static void datagrams(void) {
  int ends[2];
  make_pair(SOCK_DGRAM, ends);
  const pthread_t gets = begin(gets_two, (void*)(intptr_t)ends[0]);
  end(begin(sends_two, (void*)(intptr_t)ends[1]));
  end(gets);
  close_both(ends);
}

static void* serve(void* listens) {
  for (int i = 0; i < 20; ++i) {
    const int with = i % 2 == 0 ? accept((int)(intptr_t)listens, NULL, NULL)
                                : accept4((int)(intptr_t)listens, NULL, NULL, SOCK_CLOEXEC);
    CHECK(with >= 0);
    CHECK((fcntl(with, F_GETFL) & O_NONBLOCK) == 0);
    char text[100];
    CHECK(recv(with, text, 60, MSG_WAITALL) == 60);
    CHECK(write(with, text, 60) == 60 && close(with) == 0);
  }
  return NULL;
}
static void* call(void* address) {
  char text[100] = "";
  for (int i = 0; i < 10; ++i) {
    const int with = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(with, address, sizeof(struct sockaddr_in)) == 0);
    for (int part = 0; part < 3; ++part) {
      CHECK(send(with, text, 20, 0) == 20);
      sched_yield();
    }
    CHECK(recv(with, text, 60, MSG_WAITALL) == 60 && close(with) == 0);
  }
  return NULL;
}
static void connections(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t bytes = sizeof address;
  const int listens = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(bind(listens, (struct sockaddr*)&address, bytes) == 0 && listen(listens, 8) == 0);
  CHECK(getsockname(listens, (struct sockaddr*)&address, &bytes) == 0);
  const pthread_t serves = begin(serve, (void*)(intptr_t)listens);
  const pthread_t calls[] = {begin(call, &address), begin(call, &address)};
  end(calls[0]);
  end(calls[1]);
  end(serves);
  CHECK((fcntl(listens, F_GETFL) & O_NONBLOCK) == 0 && close(listens) == 0);
}

static int set, event;
static void* waits_for_the_set(void* unused) {
  struct epoll_event got;
  CHECK(epoll_wait(set, &got, 1, 20) == 0);
  CHECK(epoll_wait(set, &got, 1, -1) == 1 && got.data.fd == event);
  struct pollfd wanted = {event, POLLIN, 0};
  CHECK(poll(&wanted, 1, -1) == 1 && wanted.revents == POLLIN);
  uint64_t value = 0;
  CHECK(read(event, &value, sizeof value) == sizeof value && value == 3);
  CHECK(poll(&wanted, 1, 20) == 0 && wanted.revents == 0);
  CHECK(poll(NULL, 0, 5) == 0);
  return unused;
}
static void sets(void) {
  set = epoll_create1(0);
  event = eventfd(0, 0);
  struct epoll_event wanted = {.events = EPOLLIN, .data = {.fd = event}};
  CHECK(epoll_ctl(set, EPOLL_CTL_ADD, event, &wanted) == 0);
  const pthread_t waits = begin(waits_for_the_set, NULL);
  sleep_ms(40);
  const uint64_t three = 3;
  CHECK(write(event, &three, sizeof three) == sizeof three);
  end(waits);
  CHECK(close(event) == 0 && close(set) == 0);
}

/* --- several at once --- */

enum { pollers = 40 };
static int pipes[pollers][2][2];
static sem_t nothing_came;
static void* polls_two(void* number) {
  const intptr_t own = (intptr_t)number;
  struct pollfd wanted[] = {{pipes[own][0][0], POLLIN, 0}, {-1, POLLIN, 0}, {pipes[own][1][0], POLLIN, 0}};
  const struct timespec soon = {0, 5000000};
  CHECK(poll(wanted, 3, 5) == 0 && ppoll(wanted, 3, &soon, NULL) == 0);
  CHECK(sem_post(&nothing_came) == 0);
  for (int round = 0; round < 3; ++round) {
    char c = 0;
    const int found = round == 0 ? poll(wanted, 3, -1) : round == 1 ? ppoll(wanted, 3, NULL, NULL) : 0;
    if (round == 2) {
      fd_set set;
      FD_ZERO(&set);
      FD_SET(pipes[own][0][0], &set);
      FD_SET(pipes[own][1][0], &set);
      struct timeval limit = {20, 0};
      CHECK(select(pipes[own][1][0] + pipes[own][0][0] + 1, &set, NULL, NULL, &limit) == 1);
      CHECK(FD_ISSET(pipes[own][1][0], &set) && !FD_ISSET(pipes[own][0][0], &set));
      CHECK(limit.tv_sec < 20);
    } else {
      CHECK(found == 1 && wanted[0].revents == 0 && wanted[1].revents == 0 && wanted[2].revents == POLLIN);
    }
    CHECK(read(pipes[own][1][0], &c, 1) == 1 && c == 'a' + round);
  }
  /* What the set of the call cannot hold: the same one twice. */
  struct pollfd twice[] = {{pipes[own][1][0], POLLIN, 0}, {pipes[own][1][0], POLLIN | POLLPRI, 0}};
  CHECK(poll(twice, 2, -1) == 2 && twice[0].revents == POLLIN && twice[1].revents == POLLIN);
  return NULL;
}
static int descriptor_count(void) {
  int count = 0;
  for (int d = 0; d < 1024; ++d)
    count += fcntl(d, F_GETFD) >= 0;
  return count;
}
static void* polls_for_ever(void* number) {
  const intptr_t own = (intptr_t)number;
  struct pollfd wanted[] = {{pipes[own][0][0], POLLIN, 0}, {pipes[own][1][0], POLLIN, 0}};
  poll(wanted, 2, -1);
  return NULL;
}
static void several(void) {
  pthread_t all[pollers];
  CHECK(sem_init(&nothing_came, 0, 0) == 0);
  for (int i = 0; i < pollers; ++i)
    CHECK(pipe(pipes[i][0]) == 0 && pipe(pipes[i][1]) == 0);
  for (intptr_t i = 0; i < pollers; ++i)
    all[i] = begin(polls_two, (void*)i);
  for (int i = 0; i < pollers; ++i)
    CHECK(sem_wait(&nothing_came) == 0);
  for (int round = 0; round < 4; ++round) {
    sleep_ms(30);
    for (int i = 0; i < pollers; ++i)
      CHECK(write(pipes[i][1][1], &"abcd"[round], 1) == 1);
  }
  for (int i = 0; i < pollers; ++i)
    end(all[i]);
  char c = 0;
  for (int i = 0; i < pollers; ++i)
    CHECK(read(pipes[i][1][0], &c, 1) == 1 && c == 'd');
  const int before = descriptor_count();
  for (intptr_t i = 0; i < pollers; ++i)
    all[i] = begin(polls_for_ever, (void*)i);
  sleep_ms(20);
  for (int i = 0; i < pollers; ++i)
    CHECK_ERROR(0, pthread_cancel(all[i]));
  for (int i = 0; i < pollers; ++i)
    CHECK(end(all[i]) == PTHREAD_CANCELED);
  CHECK(descriptor_count() == before);
}

/* --- what ends a wait --- */

static long ms_since(const struct timespec* begin_) {
  const struct timespec now = in_ms(CLOCK_MONOTONIC, 0);
  return (now.tv_sec - begin_->tv_sec) * 1000 + (now.tv_nsec - begin_->tv_nsec) / 1000000;
}
static void* gives_up(void* unused) {
  int ends[2];
  char c = 0;
  make_pair(SOCK_STREAM, ends);
  const struct timeval limit = {0, 50000};
  CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  const struct timespec begin_ = in_ms(CLOCK_MONOTONIC, 0);
  CHECK(recv(ends[0], &c, 1, 0) == -1 && errno == EAGAIN);
  CHECK(ms_since(&begin_) >= 49);
  CHECK(read(ends[0], &c, 1) == -1 && errno == EAGAIN);
  CHECK(ms_since(&begin_) >= 99);
  close_both(ends);
  return unused;
}
static void limits(void) {
  end(begin(gives_up, NULL));
}

static int waited_for[2];
static sem_t about_to;
static atomic_int cleaned;
static void clean(void* unused) {
  (void)unused;
  ++cleaned;
}
static void* reads_for_ever(void* how) {
  char c = 0;
  pthread_cleanup_push(clean, NULL);
  CHECK(sem_post(&about_to) == 0);
  if ((intptr_t)how == 0)
    read(waited_for[0], &c, 1);
  else if ((intptr_t)how == 1)
    accept(waited_for[0], NULL, NULL);
  else {
    struct pollfd wanted = {waited_for[0], POLLIN, 0};
    poll(&wanted, 1, -1);
  }
  pthread_cleanup_pop(0);
  return how;
}
static void cancel_in(intptr_t how) {
  for (int i = 0; i < 20; ++i) {
    cleaned = 0;
    const pthread_t t = begin(reads_for_ever, (void*)how);
    CHECK(sem_wait(&about_to) == 0);
    if (i % 2 == 0)
      sleep_ms(2);
    CHECK_ERROR(0, pthread_cancel(t));
    CHECK(end(t) == PTHREAD_CANCELED && cleaned == 1);
  }
}
static void cancelled(void) {
  CHECK(sem_init(&about_to, 0, 0) == 0);
  make_pair(SOCK_STREAM, waited_for);
  cancel_in(0);
  cancel_in(2);
  close_both(waited_for);
  CHECK(pipe(waited_for) == 0);
  cancel_in(0);
  close_both(waited_for);
  const struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  waited_for[0] = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(bind(waited_for[0], (const struct sockaddr*)&address, sizeof address) == 0 &&
        listen(waited_for[0], 1) == 0);
  cancel_in(1);
  CHECK(close(waited_for[0]) == 0);
}

static atomic_int handled;
static void handle(int number) {
  (void)number;
  ++handled;
}
static void* is_interrupted(void* restarts) {
  char c = 0;
  CHECK(sem_post(&about_to) == 0);
  const ssize_t n = read(waited_for[0], &c, 1);
  if (restarts != NULL)
    CHECK(n == 1 && c == 'x');
  else
    CHECK(n == -1 && errno == EINTR);
  return NULL;
}
static void interrupted(void) {
  CHECK(sem_init(&about_to, 0, 0) == 0);
  make_pair(SOCK_STREAM, waited_for);
  for (int i = 0; i < 20; ++i) {
    const int restarts = i % 2;
    struct sigaction how = {.sa_handler = handle, .sa_flags = restarts ? SA_RESTART : 0};
    CHECK(sigaction(SIGUSR1, &how, NULL) == 0);
    const pthread_t t = begin(is_interrupted, (void*)(intptr_t)restarts);
    CHECK(sem_wait(&about_to) == 0);
    sleep_ms(5); /* it waits */
    const int before = handled;
    CHECK_ERROR(0, pthread_kill(t, SIGUSR1));
    while (handled == before)
      sched_yield();
    if (restarts)
      CHECK(write(waited_for[1], "x", 1) == 1);
    end(t);
  }
  close_both(waited_for);
}

static void* reads_what_is_closed(void* unused) {
  char c = 0;
  CHECK(sem_post(&about_to) == 0);
  CHECK(read(waited_for[0], &c, 1) == -1 && errno == EBADF);
  return unused;
}
static void closed(void) {
  CHECK(sem_init(&about_to, 0, 0) == 0);
  for (int i = 0; i < 10; ++i) {
    make_pair(SOCK_STREAM, waited_for);
    const pthread_t t = begin(reads_what_is_closed, NULL);
    CHECK(sem_wait(&about_to) == 0);
    sleep_ms(3);
    close_both(waited_for);
    end(t);
  }
}

/* A child of vfork() has the memory of its parent, but descriptors of its own. */
static void* waits_beside_a_vfork(void* unused) {
  char c = 0;
  CHECK(sem_post(&about_to) == 0);
  CHECK(read(waited_for[0], &c, 1) == 1 && c == 'x');
  return unused;
}
static void closed_by_a_child(void) {
  CHECK(sem_init(&about_to, 0, 0) == 0);
  make_pair(SOCK_STREAM, waited_for);
  const pthread_t t = begin(waits_beside_a_vfork, NULL);
  CHECK(sem_wait(&about_to) == 0);
  sleep_ms(5); /* it waits */
  const pid_t child = vfork();
  if (child == 0)
    _exit(close(waited_for[0]) == 0 ? 0 : 1);
  CHECK(child > 0 && status_of(child) == 0);
  sleep_ms(5);
  CHECK(write(waited_for[1], "x", 1) == 1);
  end(t);
  close_both(waited_for);
}

/* A handler writes to a pipe, whatever it has interrupted. */
static int told[2];
static void tell(int number) {
  (void)number;
  const int before = errno;
  CHECK(write(told[1], "x", 1) == 1);
  errno = before;
}
static void* switches(void* other) {
  for (int i = 0; i < 20000; ++i) {
    CHECK(sem_post(other) == 0);
    sched_yield();
  }
  return NULL;
}
static void in_handlers(void) {
  CHECK(pipe(told) == 0);
  struct sigaction how = {.sa_handler = tell, .sa_flags = SA_RESTART};
  CHECK(sigaction(SIGALRM, &how, NULL) == 0);
  const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  sem_t posted;
  CHECK(sem_init(&posted, 0, 0) == 0);
  const pthread_t t[] = {begin(switches, &posted), begin(switches, &posted)};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  char c = 0;
  for (int i = 0; i < 20; ++i)
    CHECK(read(told[0], &c, 1) == 1);
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
  end(t[0]);
  end(t[1]);
}

int main(int count, char** words) {
  (void)count;
  static const struct test_case cases[] = {{"echoes", echoes},
                                           {"large_transfers", large_transfers},
                                           {"nonblocking", nonblocking},
                                           {"files", files},
                                           {"datagrams", datagrams},
                                           {"connections", connections},
                                           {"sets", sets},
                                           {"several", several},
                                           {"limits", limits},
                                           {"cancelled", cancelled},
                                           {"interrupted", interrupted},
                                           {"closed", closed},
                                           {"closed_by_a_child", closed_by_a_child},
                                           {"in_handlers", in_handlers}};
  return RUN_CASE(cases, words);
}
