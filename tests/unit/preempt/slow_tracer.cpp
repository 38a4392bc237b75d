// SPDX-License-Identifier: MIT
// Runs a program as a slow debugger does: each signal of ticks reaches its handler so many microseconds late,
// several of their intervals.
//
// usage: slow_tracer MICROSECONDS PROGRAM [ARGUMENT...]. Exits as the program does; 77 where no process may
// trace another one.
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int skipped = 77;

[[noreturn]] void be_traced(char** command) {
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
    std::fprintf(stderr, "skipped: no tracing here: %s\n", std::strerror(errno));
    ::_exit(skipped);
  }
  ::execv(command[0], command);
  std::perror(command[0]);
  ::_exit(1);
}

// The signal that a stopped thread shall have; 0: it stopped for the tracer's sake.
int signal_to_pass_on(int status) {
  const int number = WSTOPSIG(status);
  const bool is_of_tracing = number == SIGTRAP || number == SIGSTOP; // exec, a new thread, its first stop
  return is_of_tracing ? 0 : number;
}

} // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: slow_tracer MICROSECONDS PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  const auto late = static_cast<useconds_t>(std::strtoul(arguments[1], nullptr, 10));
  const pid_t program = ::fork();
  if (program == 0)
    be_traced(arguments + 2);
  int status = 0;
  if (::waitpid(program, &status, 0) != program)
    return 1;
  if (!WIFSTOPPED(status))
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  ::ptrace(PTRACE_SETOPTIONS, program, nullptr, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
  ::ptrace(PTRACE_CONT, program, nullptr, nullptr);
  long ticks = 0;
  for (pid_t thread = ::waitpid(-1, &status, __WALL); thread > 0; thread = ::waitpid(-1, &status, __WALL)) {
    if (thread == program && !WIFSTOPPED(status)) {
      std::printf("%ld ticks, %lu us late each\n", ticks, static_cast<unsigned long>(late));
      if (WIFSIGNALED(status))
        std::printf("killed by signal %d\n", WTERMSIG(status));
      return WIFEXITED(status) && ticks > 0 ? WEXITSTATUS(status) : 1;
    }
    if (!WIFSTOPPED(status))
      continue; // one of its threads has ended
    const int number = signal_to_pass_on(status);
    if (number == SIGURG) {
      ++ticks;
      ::usleep(late);
    }
    ::ptrace(PTRACE_CONT, thread, nullptr, number);
  }
  return 1;
}
