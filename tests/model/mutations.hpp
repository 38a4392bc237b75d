// SPDX-License-Identifier: MIT
// Each atomic operation, fence and futex call that the scenarios of a protocol pass in weft/ is weakened in
// turn, at run time: some scenario must fail then. Where none does, the place stands on a list with the
// reason why these scenarios do not need it.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <map>
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

/// In a process of its own, since a weakened protocol may well crash or never return, and leaves its memory.
/// True: one scenario failed. `executions` of all that were run is added.
inline bool is_found(const mutation& weak, const std::vector<scenario>& scenarios,
                     std::uint64_t& executions) {
  auto* const count = static_cast<std::uint64_t*>(
      ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(120); // a loop that the checker does not see
    sites::weaken(&weak);
    for (const scenario& s : scenarios) {
      const result outcome = explore(s.how, s.body, true);
      *count += outcome.executions;
      if (outcome.failed)
        ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  executions += *count;
  ::munmap(count, sizeof *count);
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
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
    const bool caught = mutations::is_found(weak, listed == excused.end() ? scenarios : deeper, executions);
    found += caught ? 1 : 0;
    std::printf("%s: %s\n", caught ? "found" : "not found", name.c_str());
    if (listed == excused.end()) {
      EXPECT_TRUE(caught) << "not found, and not excused: " << name;
    } else if (caught) {
      std::printf("excused, but found at this depth: %s\n", name.c_str());
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
    const bool caught = mutations::is_found(seeded->second, scenarios, executions);
    std::printf("%s: %s\n", caught ? "found" : "not found", name.c_str());
    EXPECT_TRUE(caught) << "not found: " << name;
  }
  std::printf("seeded %s: %zu bugs; %llu executions\n", name_of_test().c_str(), bugs.size(),
              static_cast<unsigned long long>(executions));
}

} // namespace weft::model
