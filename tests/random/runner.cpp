// SPDX-License-Identifier: MIT
#include "tests/random/runner.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <system_error>

#include "tests/random/model.hpp"

namespace weft::random_programs {

namespace {

using clock_type = std::chrono::steady_clock;

// What child and parent both see.
struct report {
  std::atomic<std::uint64_t> seed{0};
  std::atomic<std::int64_t> began{0}; // clock_type, of the program that runs
  char why[400] = {};

  void begin(std::uint64_t of) {
    seed = of;
    began = clock_type::now().time_since_epoch().count();
  }
  // Ends the child.
  [[noreturn]] void fail(const std::string& reason) {
    std::snprintf(why, sizeof why, "%s", reason.c_str());
    ::_exit(1);
  }
};

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::system_category(), what);
}

class shared_report {
 public:
  shared_report() {
    void* const at =
        ::mmap(nullptr, sizeof(report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
      throw_errno("mmap");
    report_ = ::new (at) report;
  }
  shared_report(const shared_report&) = delete;
  shared_report& operator=(const shared_report&) = delete;
  ~shared_report() { ::munmap(report_, sizeof(report)); }
  report& operator*() const { return *report_; }
  report* operator->() const { return report_; }

 private:
  report* report_;
};

// The child, and a pipe that is closed when it ends.
struct child {
  pid_t id;
  int open;
};

child start(const std::function<void()>& body) {
  int ends[2];
  if (::pipe(ends) != 0)
    throw_errno("pipe");
  std::fflush(nullptr);
  const pid_t id = ::fork();
  if (id < 0)
    throw_errno("fork");
  if (id == 0) {
    ::close(ends[0]);
    body();
    ::_exit(0);
  }
  ::close(ends[1]);
  return {id, ends[0]};
}

// Whether all kernel threads of a process sleep. One that waits for a CPU does not, however long, nor does
// one that ends while we look.
bool is_asleep(pid_t id) {
  const std::string tasks = "/proc/" + std::to_string(id) + "/task";
  std::error_code gone;
  for (std::filesystem::directory_iterator task(tasks, gone), end; !gone && task != end;
       task.increment(gone)) {
    std::ifstream file(task->path() / "stat");
    std::string text;
    std::getline(file, text); // stays empty where the read fails, and does not throw
    const std::size_t name_ends = text.rfind(')');
    if (name_ends == std::string::npos || name_ends + 2 >= text.size() || text[name_ends + 2] != 'S')
      return false;
  }
  return !gone;
}

// A child that slept at each of so many looks, in the same program, will do so for ever: no program sleeps a
// tenth as long.
constexpr std::chrono::milliseconds between_looks{20};
constexpr int looks_until_hung = 20;

bool is_over(const report& r, std::chrono::milliseconds limit) {
  const clock_type::time_point began{clock_type::duration(r.began.load())};
  return clock_type::now() - began > limit;
}

verdict judge(const report& r, int status) {
  const std::uint64_t seed = r.seed;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return {};
  if (WIFEXITED(status) && r.why[0] != '\0')
    return {ending::wrong, seed, r.why};
  if (WIFSIGNALED(status))
    return {ending::crashed, seed, ::strsignal(WTERMSIG(status))};
  return {ending::crashed, seed, "exit status " + std::to_string(WEXITSTATUS(status))};
}

verdict in_child(const conditions& c, const std::function<void(report&)>& body) {
  shared_report shared;
  shared->begin(0);
  const child one = start([&] { body(*shared); });
  bool hung = false;
  std::int64_t seen = 0;
  for (int asleep = 0;;) {
    pollfd until{one.open, POLLIN, 0};
    if (::poll(&until, 1, static_cast<int>(between_looks.count())) > 0)
      break;
    asleep = is_asleep(one.id) && shared->began.load() == seen ? asleep + 1 : 0;
    seen = shared->began.load();
    if (asleep == looks_until_hung || is_over(*shared, c.limit)) {
      hung = true;
      ::kill(one.id, SIGKILL);
      break;
    }
  }
  ::close(one.open);
  int status = 0;
  while (::waitpid(one.id, &status, 0) < 0 && errno == EINTR) {
  }
  if (hung)
    return {ending::hung, shared->seed, "still running after " + std::to_string(c.limit.count()) + " ms"};
  return judge(*shared, status);
}

void run_once(stage& where, const program& p, saboteur& s, report& out) {
  auto left = std::make_unique<record>();
  where.run(p, *left, s);
  if (const std::string wrong = why_wrong(p, *left); !wrong.empty())
    out.fail(wrong);
}

} // namespace

const char* name_of(ending e) noexcept {
  constexpr const char* names[] = {"right", "wrong", "crashed", "hung"};
  return names[static_cast<unsigned>(e)];
}

verdict run_seeds(std::uint64_t first, unsigned count, std::uint64_t set_up_seed, const conditions& c) {
  return in_child(c, [&](report& out) {
    const dialect d = dialect_here();
    const set_up where = make_set_up(set_up_seed, d);
    saboteur s{c.broken, c.every};
    const auto there = make_stage(where);
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      out.begin(seed);
      const program p = make_program(seed, where, d, c.who);
      if (const std::string why = why_invalid(p); !why.empty())
        out.fail("the generator made an invalid program: " + why);
      run_once(*there, p, s, out);
    }
  });
}

verdict run_program(const program& p, unsigned times, std::chrono::milliseconds within, const conditions& c) {
  return in_child(c, [&](report& out) {
    saboteur s{c.broken, c.every};
    const auto there = make_stage(p.where);
    const auto end = clock_type::now() + within;
    for (unsigned i = 0; i < times && clock_type::now() < end; ++i) {
      out.begin(p.seed);
      run_once(*there, p, s, out);
    }
  });
}

} // namespace weft::random_programs
