// SPDX-License-Identifier: MIT
// WEFT_PRINT_CONFIG=1 lists every knob that the sources declare; a bad value is said once and leaves the
// default; WEFT_TRACE writes a timeline that is JSON.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "tests/system/scenario.hpp"
#include "weft/weft.hpp"

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Names in the declarations of knobs: integer_knob x{"WEFT_...", ...
std::set<std::string> declared_knobs() {
  const std::regex declaration(R"(_knob\s+\w+\s*[{(]\s*"(WEFT_[A-Z0-9_]+)\")");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(WEFT_SOURCES)) {
    if (entry.path().extension() != ".cpp")
      continue;
    const std::string text = text_of(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at)
      names.insert((*at)[1]);
  }
  return names;
}

WEFT_SCENARIO(use_a_little) {
  weft::thread t[16];
  for (auto& one : t)
    one = weft::thread([] { weft::this_thread::yield(); });
  for (auto& one : t)
    one.join();
  weft::this_thread::sleep_for(std::chrono::milliseconds(20)); // the workers come to rest
  std::printf("workers %u\n", weft::runtime::worker_count());
  return 0;
}

TEST(configuration, every_knob_is_listed_with_its_value) {
  const auto names = declared_knobs();
  ASSERT_GE(names.size(), 10u);
  const auto result =
      weft::tests::run("use_a_little", {.environment = {{"WEFT_PRINT_CONFIG", "1"}, {"WEFT_WORKERS", "3"}},
                                        .limit = std::chrono::seconds(20),
                                        .argument = ""});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
  for (const std::string& name : names)
    EXPECT_TRUE(result.contains(name)) << name << " is not in:\n" << result.output;
  EXPECT_TRUE(std::regex_search(result.output, std::regex(R"(WEFT_WORKERS\W+3\b)"))) << result.output;
  EXPECT_TRUE(result.contains("workers 3")) << result.output;
}

// No variable of this prefix is read behind the knobs' back.
TEST(configuration, the_environment_is_read_through_knobs_only) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(WEFT_SOURCES)) {
    if (!entry.is_regular_file() || entry.path().filename() == "knob.cpp")
      continue;
    EXPECT_FALSE(std::regex_search(text_of(entry.path()), std::regex(R"(\b(secure_)?getenv\()")))
        << entry.path();
  }
}

TEST(configuration, quiet_unless_asked) {
  const auto result =
      weft::tests::run("use_a_little", {.environment = {{"WEFT_WORKERS", "2"}}, .argument = ""});
  EXPECT_EQ(result.output, "workers 2\n");
}

// What the library prints of one knob: " NAME=value  # help; type; default value".
struct printed_knob {
  std::string line;
  std::string type;
};
printed_knob printed(const std::string& output, const std::string& name) {
  std::smatch found;
  if (!std::regex_search(output, found, std::regex("\n?([ *] " + name + "=.*; ([^;\n]*); default [^;\n]*)")))
    return {};
  return {found[1], found[2]};
}

std::size_t lines_with(const std::string& output, const std::string& text) {
  std::size_t count = 0;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);)
    count += line.find(text) != std::string::npos ? 1 : 0;
  return count;
}

// Values that are none of the knob's, by its type.
std::vector<std::string> bad_values(const std::string& type) {
  std::vector<std::string> bad = {"/no/such/folder/x", " ", "-"};
  std::smatch range;
  if (type == "text") // any file name is one
    return {"/no/such/folder/x"};
  if (std::regex_search(type, range, std::regex(R"(^(-?\d+)\.\.(\d+)( \(|$))"))) {
    bad.push_back(std::to_string(std::stoll(range[1]) - 1));
    bad.push_back(std::to_string(std::stoll(range[2]) + 1));
    bad.insert(bad.end(), {"12x", "1e99", "16Q", "99999999999999999999"});
  }
  return bad;
}

// Of each knob that there is, whether or not the program comes to need it.
TEST(configuration, every_bad_value_is_said_once_and_the_default_stays) {
  const auto defaults =
      weft::tests::run("use_a_little", {.environment = {{"WEFT_PRINT_CONFIG", "1"}}, .argument = ""});
  for (const std::string& name : declared_knobs()) {
    const printed_knob usual = printed(defaults.output, name);
    ASSERT_FALSE(usual.line.empty()) << name << " is not in:\n" << defaults.output;
    for (const std::string& value : bad_values(usual.type)) {
      SCOPED_TRACE(name + "=" + value);
      const auto quiet = weft::tests::run("use_a_little", {.environment = {{name, value}}, .argument = ""});
      EXPECT_EQ(quiet.exit_code, 0) << quiet.describe();
      EXPECT_EQ(lines_with(quiet.output, name), 1u) << quiet.describe();
      EXPECT_EQ(lines_with(quiet.output, ""), 2u) << quiet.describe(); // that, and "workers"
      if (usual.type == "text" || name == "WEFT_PRINT_CONFIG")
        continue;
      const auto told = weft::tests::run(
          "use_a_little", {.environment = {{name, value}, {"WEFT_PRINT_CONFIG", "1"}}, .argument = ""});
      EXPECT_EQ(printed(told.output, name).line, usual.line) << told.describe();
    }
  }
}

// Each once; what tests and examples read is no mistake.
TEST(configuration, a_variable_that_nobody_reads_is_named) {
  const auto result = weft::tests::run("use_a_little", {.environment = {{"WEFT_WORKER", "2"},
                                                                        {"WEFT_", "x"},
                                                                        {"WEFT_PREEMPTION_INTERVALL", "1"},
                                                                        {"WEFT_STRESS_SECONDS", "1"},
                                                                        {"WEFTY", "1"}},
                                                        .argument = ""});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
  for (const char* const name : {"WEFT_WORKER;", "WEFT_;", "WEFT_PREEMPTION_INTERVALL;"})
    EXPECT_EQ(lines_with(result.output, std::string("variable ") + name), 1u) << result.describe();
  EXPECT_EQ(lines_with(result.output, ""), 4u) << result.describe(); // those, and "workers"
}

TEST(configuration, a_trace_is_written_and_is_json) {
  const auto path =
      std::filesystem::temp_directory_path() / ("weft-trace-" + std::to_string(::getpid()) + ".json");
  const auto result =
      weft::tests::run("use_a_little", {.environment = {{"WEFT_TRACE", path.string()}}, .argument = ""});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
  const std::string check =
      "python3 -c 'import json,sys; t=json.load(open(sys.argv[1])); assert len(t[\"traceEvents\"])>16' " +
      path.string();
  EXPECT_EQ(std::system(check.c_str()), 0) << text_of(path).substr(0, 500);
  std::filesystem::remove(path);
}

TEST(configuration, a_trace_that_cannot_be_written_is_said) {
  const auto result = weft::tests::run(
      "use_a_little", {.environment = {{"WEFT_TRACE", "/no/such/folder/x.json"}}, .argument = ""});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
  EXPECT_TRUE(result.contains("/no/such/folder/x.json")) << result.describe();
}

} // namespace
