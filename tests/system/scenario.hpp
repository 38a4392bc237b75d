// SPDX-License-Identifier: MIT
// Programs that a test runs as processes of their own: what they do to the process (fork, exit, crash,
// signals) must not happen to the test. `WEFT_SCENARIO(name) { ...; return 0; }` defines one; run("name")
// starts this very executable with
// "--scenario name" and returns how it ended and what it wrote.
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace weft::tests {

struct outcome {
  int exit_code = -1; // -1: it did not exit
  int signal = 0;     // that ended it
  bool hung = false;  // killed by us
  std::string output; // stdout and stderr

  [[nodiscard]] bool contains(const std::string& text) const {
    return output.find(text) != std::string::npos;
  }
  [[nodiscard]] std::string describe() const;
};

struct scenario_settings {
  std::vector<std::pair<std::string, std::string>> environment;
  std::chrono::seconds limit{60};
  std::string argument;
};

// Blocks the calling kernel thread until the process has ended or is killed at the limit.
outcome run(const std::string& scenario, const scenario_settings& settings = {});

// What a scenario was given as `argument`.
const std::string& scenario_argument();

class registered_scenario {
 public:
  registered_scenario(const char* name, std::function<int()> body);
};

// 1 in an ordinary build; what bounds on time and memory are multiplied by under sanitizers.
bool sanitized();

// Ends the process with a message on stderr unless `condition`.
void require(bool condition, const char* what);

} // namespace weft::tests

#define WEFT_SCENARIO(name)                                                                                  \
  static int scenario_##name();                                                                              \
  static const ::weft::tests::registered_scenario registered_##name{#name, &scenario_##name};                \
  static int scenario_##name()
