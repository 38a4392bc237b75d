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
#include <string>

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

TEST(configuration, a_bad_value_is_said_and_the_default_stays) {
  const std::pair<const char*, const char*> bad[] = {
      {"WEFT_POOLS", "swimming"}, {"WEFT_BIND", "perhaps"},  {"WEFT_STACK_SIZE", "16Q"},
      {"WEFT_STACK_SIZE", "-1"},  {"WEFT_WORKERS", "many"},  {"WEFT_WORKERS", "99999999999999999999"},
      {"WEFT_GUARD", "dog"},      {"WEFT_IDLE_SPIN", "1e99"}};
  for (const auto& [name, value] : bad) {
    SCOPED_TRACE(std::string(name) + "=" + value);
    const auto result = weft::tests::run("use_a_little", {.environment = {{name, value}}, .argument = ""});
    EXPECT_EQ(result.exit_code, 0) << result.describe();
    const auto first = result.output.find(name);
    EXPECT_NE(first, std::string::npos) << result.describe();
    EXPECT_EQ(result.output.find(name, first + 1), std::string::npos) << "said twice: " << result.describe();
  }
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
