/* SPDX-License-Identifier: MIT */
/* A server with a thread for each connection, which knows nothing of Weft, and its clients in a process of
 * their own. Prints one object of JSON: the CPU time of the server's process and the time a request took, in
 * us, and the most memory that the server had, in bytes a connection. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/pthreads/measure.h"

enum { connections = 2000, request = 64 };

static void fail(const char* what) {
  perror(what);
  exit(1);
}

/* --- the clients: one kernel thread, which sends to each connection again when that has answered --- */

static void run_clients(const struct sockaddr_in* server) {
  static char bytes[request];
  static long left[connections];
  static int sockets[connections];
  const int all = epoll_create1(0);
  for (int i = 0; i < connections; ++i) {
    sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
    if (connect(sockets[i], (const struct sockaddr*)server, sizeof *server) != 0 ||
        epoll_ctl(all, EPOLL_CTL_ADD, sockets[i], &e) != 0)
      fail("connect");
    left[i] = operations / connections;
  }
  for (int i = 0; i < connections; ++i) {
    if (send(sockets[i], bytes, request, 0) != request)
      fail("send");
  }
  for (int open = connections; open > 0;) {
    struct epoll_event come[64];
    const int number = epoll_wait(all, come, 64, -1);
    for (int k = 0; k < number; ++k) {
      const uint32_t i = come[k].data.u32;
      if (recv(sockets[i], bytes, request, MSG_WAITALL) != request)
        fail("recv");
      if (--left[i] == 0) {
        close(sockets[i]);
        --open;
      } else if (send(sockets[i], bytes, request, 0) != request) {
        fail("send");
      }
    }
  }
}

/* --- the server --- */

static void* serves(void* socket) {
  const int s = (int)(long)socket;
  char bytes[request];
  long served = 0;
  for (ssize_t got; (got = read(s, bytes, sizeof bytes)) > 0; served += got) {
    if (write(s, bytes, (size_t)got) != got)
      fail("write");
  }
  close(s);
  return (void*)(served / request);
}

static void run_server(int listening) {
  static pthread_t all[connections];
  pthread_attr_t how;
  NEED(pthread_attr_init(&how));
  NEED(pthread_attr_setstacksize(&how, 64 << 10));
  begin_measuring(); /* here, since a library may run a thread to its end before it has created the next */
  for (int i = 0; i < connections; ++i) {
    const int s = accept(listening, NULL, NULL);
    if (s < 0)
      fail("accept");
    NEED(pthread_create(&all[i], &how, serves, (void*)(long)s));
  }
  long answered = 0;
  for (int i = 0; i < connections; ++i) {
    void* served;
    NEED(pthread_join(all[i], &served));
    answered += (long)served;
  }
  if (answered != operations) {
    fprintf(stderr, "%ld of %ld requests were answered\n", answered, operations);
    exit(1);
  }
}

int main(int count, char** words) {
  operations = count == 2 ? strtol(words[1], NULL, 10) : 0;
  if (operations < connections) {
    fprintf(stderr, "usage: %s REQUESTS (%d or more)\n", words[0], connections);
    return 2;
  }
  operations -= operations % connections;
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_max < connections + 50)
    return fprintf(stderr, "too few descriptors are allowed\n"), 1;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listening, (struct sockaddr*)&address, size) != 0 || listen(listening, 4096) != 0 ||
      getsockname(listening, (struct sockaddr*)&address, &size) != 0)
    fail("listen");
  const pid_t clients = fork();
  if (clients < 0)
    fail("fork");
  if (clients == 0) {
    run_clients(&address);
    _exit(0);
  }
  run_server(listening);
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  char more[60];
  snprintf(more, sizeof more, ", \"bytes\": %ld", used.ru_maxrss * 1024 / connections);
  tell(operations, more);
  int status = 1;
  return waitpid(clients, &status, 0) != clients || status != 0;
}
