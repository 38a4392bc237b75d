// SPDX-License-Identifier: MIT
// Each atomic operation, fence and futex call that the scenarios of a protocol pass in weft/ is weakened in
// turn, at run time: some scenario must fail then. Where none does, the place stands on a list with the
// reason why these scenarios do not need it.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <new>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/model/checker/sites.hpp"
#include "tests/model/expect.hpp"

namespace weft::model {

struct scenario {
  options how;
  std::function<void()> body;
};

struct excuse {
  const char* site; // mutation::name()
  const char* reason;
};

namespace mutations {

enum class fate { found, not_found, undecided };

struct verdict {
  fate what = fate::undecided;
  std::string reason; // why it was found, or could not be told
  std::uint64_t executions = 0;
};

// Seconds, for a loop that the checker does not see. Of an excused place nothing is asked.
constexpr unsigned patience = 120, patience_if_excused = 20;

// What the process with the weakened protocol tells.
struct findings {
  std::uint64_t executions = 0;
  char reason[160] = "";
};

/// What a program's own faults end it with; other signals come from without.
inline bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT || signal == SIGILL || signal == SIGFPE ||
         signal == SIGTRAP;
}

/// In a process of its own, since a weakened protocol may well crash, which counts as found, or never return,
/// which does not: a loaded machine would look the same.
inline verdict try_out(const mutation& weak, const std::vector<scenario>& scenarios,
                       unsigned seconds = patience) {
  void* const shared =
      ::mmap(nullptr, sizeof(findings), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return {fate::undecided, "no memory to share with the process that tries it", 0};
  auto* const told = ::new (shared) findings;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(seconds);
    sites::weaken(&weak);
    for (const scenario& s : scenarios) {
      const result outcome = explore(s.how, s.body, true);
      told->executions += outcome.executions;
      if (outcome.failed) {
        const std::string first_line = outcome.reason.substr(0, outcome.reason.find('\n'));
        std::snprintf(told->reason, sizeof told->reason, "%s", first_line.c_str());
        ::_exit(1);
      }
    }
    ::_exit(0);
  }
  int status = 0;
  const bool waited = child > 0 && ::waitpid(child, &status, 0) == child;
  verdict v;
  v.executions = told->executions;
  if (!waited) {
    v.reason = "no process to try it in";
  } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    v.reason = "did not end within " + std::to_string(seconds) + " s";
  } else if (WIFSIGNALED(status)) {
    v.what = is_crash(WTERMSIG(status)) ? fate::found : fate::undecided;
    v.reason = std::string("ended by a signal: ") + ::strsignal(WTERMSIG(status));
  } else if (WEXITSTATUS(status) == 0) {
    v.what = fate::not_found;
  } else if (WEXITSTATUS(status) == 1) {
    v.what = fate::found;
    v.reason = told->reason;
  } else {
    v.reason = "the process that tried it ended with " + std::to_string(WEXITSTATUS(status));
  }
  ::munmap(shared, sizeof(findings));
  return v;
}

inline std::vector<mutation> all_of(const std::vector<scenario>& scenarios, bool logic = false) {
  sites::start_noting();
  for (const scenario& s : scenarios) {
    const result outcome = explore(s.how, s.body);
    EXPECT_FALSE(outcome.failed) << outcome.reason;
  }
  return sites::stop_noting(logic);
}

/// Mutations by name. Two places of one name are told apart by their order: the second is "... (2)".
inline std::vector<std::pair<std::string, mutation>> named(const std::vector<mutation>& all) {
  std::vector<std::pair<std::string, mutation>> result;
  std::map<std::string, int> met;
  for (const mutation& m : all) {
    const std::string name = m.name();
    const int nth = ++met[name];
    result.emplace_back(nth == 1 ? name : name + " (" + std::to_string(nth) + ")", m);
  }
  return result;
}

} // namespace mutations

/// Excused places are not tried, unless WEFT_MODEL_DEPTH is set: then those that are found after all are
/// told.
inline void expect_every_weakening_is_found(const std::vector<scenario>& scenarios,
                                            std::initializer_list<excuse> excused) {
  const auto all = mutations::named(mutations::all_of(scenarios));
  std::vector<scenario> deeper = scenarios;
  for (scenario& s : deeper) {
    s.how.preemptions += depth();
    s.how.stale_reads += depth();
    s.how.max_executions = 300'000;
  }
  EXPECT_FALSE(all.empty());
  std::uint64_t executions = 0;
  std::size_t found = 0;
  for (const auto& [name, weak] : all) {
    const auto* const listed =
        std::find_if(excused.begin(), excused.end(), [&](const excuse& e) { return name == e.site; });
    if (listed != excused.end() && depth() == 0)
      continue;
    const bool is_excused = listed != excused.end();
    const mutations::verdict v = is_excused ? mutations::try_out(weak, deeper, mutations::patience_if_excused)
                                            : mutations::try_out(weak, scenarios);
    executions += v.executions;
    if (v.what == mutations::fate::found) {
      ++found;
      std::printf("found: %s: %s\n", name.c_str(), v.reason.c_str());
      if (is_excused)
        std::printf("excused, but found at this depth: %s\n", name.c_str());
    } else if (v.what == mutations::fate::not_found) {
      std::printf("not found: %s\n", name.c_str());
      EXPECT_TRUE(is_excused) << "not found, and not excused: " << name;
    } else {
      std::printf("undecided: %s: %s\n", name.c_str(), v.reason.c_str());
      EXPECT_TRUE(is_excused) << "undecided, which is no finding: " << name << ": " << v.reason;
    }
  }
  for (const excuse& e : excused) {
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.first == e.site; }))
        << "excused, but there is no such place: " << e.site;
  }
  std::printf("weakened %s: %zu of %zu found, %zu excused; %llu executions\n", name_of_test().c_str(), found,
              all.size(), excused.size(), static_cast<unsigned long long>(executions));
}

/// Bugs of logic, by the names of their places and kinds (checker/sites.hpp): each must be found.
inline void expect_bugs_are_found(const std::vector<scenario>& scenarios,
                                  std::initializer_list<const char*> bugs) {
  const auto all = mutations::named(mutations::all_of(scenarios, true));
  std::uint64_t executions = 0;
  for (const std::string name : bugs) {
    const auto seeded =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
    if (seeded == all.end()) {
      ADD_FAILURE() << "there is no such place: " << name;
      continue;
    }
    const mutations::verdict v = mutations::try_out(seeded->second, scenarios);
    executions += v.executions;
    const bool caught = v.what == mutations::fate::found;
    std::printf("%s: %s: %s\n", caught ? "found" : "not found", name.c_str(), v.reason.c_str());
    EXPECT_TRUE(caught) << "not found: " << name << ": " << v.reason;
  }
  std::printf("seeded %s: %zu bugs; %llu executions\n", name_of_test().c_str(), bugs.size(),
              static_cast<unsigned long long>(executions));
}

} // namespace weft::model
