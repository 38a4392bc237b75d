/* SPDX-License-Identifier: MIT */
/* Becomes a program whose system calls of some kinds fail, as those of a container do.
 * usage: under_seccomp ERRNO NUMBER[,NUMBER...] PROGRAM [ARGUMENT...] */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { most = 64 };

static struct sock_filter code[2 * most + 2];
static unsigned short length = 0;

static void add(struct sock_filter step) {
  code[length++] = step;
}

int main(int count, char** words) {
  if (count < 4)
    return 2;
  const unsigned error = (unsigned)atoi(words[1]);
  add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
  int left = most;
  for (char* number = strtok(words[2], ","); number != NULL && left-- > 0; number = strtok(NULL, ",")) {
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(number), 0, 1));
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
  }
  add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const struct sock_fprog filter = {length, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    fprintf(stderr, "no filter can be set here: %s\n", strerror(errno));
    return 77;
  }
  execv(words[3], words + 3);
  perror(words[3]);
  return 2;
}
