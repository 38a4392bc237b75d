// SPDX-License-Identifier: MIT
// What the tests of this room share: workers that only record, a file of their own, and a look into a
// timeline file.
#pragma once

#include "weft/trace/session.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <unistd.h>

namespace weft::trace::test {

// As a worker: its switch is what note() looks at.
struct fake_worker {
  explicit fake_worker(unsigned number) {
    recorder.attach(
        number, counters,
        [](void* w, bool on) {
          auto& self = *static_cast<fake_worker*>(w);
          ++self.switched;
          self.tracing.store(on, std::memory_order_relaxed);
        },
        this);
  }
  ~fake_worker() { recorder.detach(); }

  void note(event what, std::uintptr_t unit = 0, std::uint32_t argument = 0) {
    if (tracing.load(std::memory_order_relaxed)) {
      recorder.add(what, reinterpret_cast<const void*>(unit), argument);
    }
  }

  std::atomic<bool> tracing{false};
  int switched = 0;
  trace::counters counters;
  trace::recorder recorder;
};

// Runs check_timeline.py, which fails the test if the file is not well formed; returns its counts.
inline std::map<std::string, long> contents(const std::string& path) {
  std::FILE* pipe = ::popen(("python3 '" WEFT_CHECK_TIMELINE "' '" + path + "'").c_str(), "r");
  std::map<std::string, long> counts;
  char line[256];
  while (pipe != nullptr && std::fgets(line, sizeof line, pipe) != nullptr) {
    const std::string text = line;
    const auto colon = text.rfind(": ");
    counts[text.substr(0, colon)] = std::atol(text.c_str() + colon + 2);
  }
  EXPECT_TRUE(pipe != nullptr && ::pclose(pipe) == 0) << path << " is not a timeline";
  return counts;
}

class tracing : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "weft_trace_" + std::to_string(::getpid()) + ".json";
  }
  void TearDown() override {
    EXPECT_FALSE(session.active());
    EXPECT_EQ(session.kept(), 0u) << "a test leaves events behind";
    session.stop();
    session.discard();
    std::filesystem::remove(path_);
  }

  trace::session& session = session::of_process();
  std::string path_;
};

} // namespace weft::trace::test
