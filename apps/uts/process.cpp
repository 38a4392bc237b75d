// SPDX-License-Identifier: MIT
// fork and exec with two pipes; poll(2) drives reading, watching and the time limit.

#include "apps/uts/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "apps/uts/format.hpp"
#include "apps/uts/machine.hpp"

namespace weft::uts {
namespace {

using clock = std::chrono::steady_clock;

constexpr int watch_interval_ms = 200;
constexpr const char* this_executable = "/proc/self/exe";

struct pipe_ends {
  int read = -1;
  int write = -1;

  pipe_ends() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe2");
    }
    read = ends[0];
    write = ends[1];
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;
  ~pipe_ends() {
    close_end(read);
    close_end(write);
  }
  static void close_end(int& end) {
    if (end >= 0) {
      close(end);
    }
    end = -1;
  }
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> all;
  for (std::string& s : strings) {
    all.push_back(s.data());
  }
  all.push_back(nullptr);
  return all;
}

pid_t start(const std::string& program, std::vector<std::string> arguments,
            std::vector<std::string> environment, const pipe_ends& out, const pipe_ends& err) {
  for (char** e = environ; *e != nullptr; ++e) {
    environment.emplace_back(*e); // after the additions: the first of two equal names counts
  }
  arguments.insert(arguments.begin(), program == this_executable ? "weft-demo" : program);
  std::vector<char*> argv = pointers(arguments);
  std::vector<char*> envp = pointers(environment);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (child == 0) {
    // A demo that is interrupted leaves no run behind.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
      _exit(127);
    }
    dup2(out.write, STDOUT_FILENO);
    dup2(err.write, STDERR_FILENO);
    execve(program.c_str(), argv.data(), envp.data());
    dprintf(STDERR_FILENO, "cannot start %s: %s\n", program.c_str(), std::strerror(errno));
    _exit(127);
  }
  return child;
}

// Reads what is there; false at the end of the pipe.
bool drain(int end, std::string& into) {
  std::array<char, 16384> buffer;
  const ssize_t n = read(end, buffer.data(), buffer.size());
  if (n > 0) {
    into.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return n > 0 || (n < 0 && errno == EINTR);
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) {
    return {};
  }
  const std::size_t before = text.rfind('\n', end);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  return text.substr(first, end + 1 - first);
}

std::string explain(int status, bool timed_out, double limit, const std::string& errors) {
  std::string text;
  if (timed_out) {
    text = format("stopped after the limit of %g s", limit);
  } else if (WIFSIGNALED(status)) {
    text = std::string("killed by signal: ") + strsignal(WTERMSIG(status));
  } else {
    text = "exit status " + std::to_string(WEXITSTATUS(status));
  }
  const std::string said = last_line(errors);
  return said.empty() ? text : text + ": " + said;
}

} // namespace

process_result run_program(const std::string& program, const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment, double limit_seconds,
                           const watcher& watch) {
  pipe_ends out;
  pipe_ends err;
  const auto begin = clock::now();
  const pid_t child = start(program, arguments, environment, out, err);
  pipe_ends::close_end(out.write);
  pipe_ends::close_end(err.write);

  process_result result;
  std::string errors;
  bool timed_out = false;
  while (out.read >= 0 || err.read >= 0) {
    std::array<pollfd, 2> wait = {pollfd{out.read, POLLIN, 0}, pollfd{err.read, POLLIN, 0}};
    poll(wait.data(), wait.size(), watch_interval_ms);
    if (wait[0].revents != 0 && !drain(out.read, result.output)) {
      pipe_ends::close_end(out.read);
    }
    if (wait[1].revents != 0 && !drain(err.read, errors)) {
      pipe_ends::close_end(err.read);
    }
    const double seconds = std::chrono::duration<double>(clock::now() - begin).count();
    if (watch) {
      watch(seconds, status_bytes(child, "VmRSS"));
    }
    if (seconds > limit_seconds && !timed_out) {
      timed_out = true;
      kill(child, SIGKILL);
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.ok = !timed_out && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!result.ok) {
    result.failure = explain(status, timed_out, limit_seconds, errors);
  }
  return result;
}

process_result run_self(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment, double limit_seconds,
                        const watcher& watch) {
  return run_program(this_executable, arguments, environment, limit_seconds, watch);
}

} // namespace weft::uts
