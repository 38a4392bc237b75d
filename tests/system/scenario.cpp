// SPDX-License-Identifier: MIT
#include "tests/system/scenario.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <system_error>

extern char** environ;

namespace weft::tests {
namespace {

std::map<std::string, std::function<int()>>& scenarios() {
  static std::map<std::string, std::function<int()>> all;
  return all;
}

std::string& argument_storage() {
  static std::string argument;
  return argument;
}

// Reads until the end of file or the deadline; true: the other end is closed.
bool read_until(int from, std::chrono::steady_clock::time_point deadline, std::string& out) {
  char buffer[4096];
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0)
      return false;
    pollfd watched{from, POLLIN, 0};
    const int ready = ::poll(&watched, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0)
      return false;
    const ssize_t got = ::read(from, buffer, sizeof buffer);
    if (got <= 0)
      return true;
    out.append(buffer, static_cast<std::size_t>(got));
  }
}

pid_t spawn(const std::string& scenario, const scenario_settings& settings, int output) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    bool replaced = false;
    for (const auto& [key, value] : settings.environment)
      replaced = replaced || key == name;
    if (!replaced)
      variables.emplace_back(*entry);
  }
  for (const auto& [key, value] : settings.environment)
    variables.push_back(key + "=" + value);
  std::vector<char*> environment;
  for (std::string& v : variables)
    environment.push_back(v.data());
  environment.push_back(nullptr);

  std::string self = "/proc/self/exe", flag = "--scenario", name = scenario, argument = settings.argument;
  char* arguments[] = {self.data(), flag.data(), name.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  // A group of its own, so that a limit ends its children too.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, self.c_str(), &actions, &attributes, arguments, environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0)
    throw std::system_error(error, std::system_category(), "posix_spawn");
  return child;
}

int run_here(const char* name) {
  const auto found = scenarios().find(name);
  if (found == scenarios().end()) {
    std::fprintf(stderr, "no scenario %s\n", name);
    return 127;
  }
  return found->second();
}

} // namespace

registered_scenario::registered_scenario(const char* name, std::function<int()> body) {
  scenarios()[name] = std::move(body);
}

std::string outcome::describe() const {
  return "exit code " + std::to_string(exit_code) + ", signal " + std::to_string(signal) +
         (hung ? ", HUNG" : "") + ", output:\n" + output;
}

outcome run(const std::string& scenario, const scenario_settings& settings) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::system_category(), "pipe2");
  const pid_t child = spawn(scenario, settings, ends[1]);
  ::close(ends[1]);
  outcome result;
  const auto deadline = std::chrono::steady_clock::now() + settings.limit;
  bool closed = read_until(ends[0], deadline, result.output);
  int status = 0;
  pid_t reaped = 0;
  while (closed && (reaped = ::waitpid(child, &status, WNOHANG)) == 0) {
    if (std::chrono::steady_clock::now() > deadline)
      closed = false;
    ::usleep(1000);
  }
  if (!closed) {
    result.hung = true;
    ::kill(-child, SIGKILL);
    ::waitpid(child, &status, 0);
  }
  ::close(ends[0]);
  if (WIFEXITED(status))
    result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  return result;
}

const std::string& scenario_argument() {
  return argument_storage();
}

bool sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#else
  return false;
#endif
#else
  return false;
#endif
}

void require(bool condition, const char* what) {
  if (condition)
    return;
  std::fprintf(stderr, "FAILED: %s (errno %d)\n", what, errno);
  std::fflush(stderr);
  ::_exit(99);
}

} // namespace weft::tests

int main(int argc, char** argv) {
  if (argc >= 3 && std::strcmp(argv[1], "--scenario") == 0) {
    if (argc >= 4)
      weft::tests::argument_storage() = argv[3];
    return weft::tests::run_here(argv[2]);
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
