// SPDX-License-Identifier: MIT
// Samples of docs/guide/tracing.md. Its one argument is the folder to write into.
#include <weft/weft.hpp>

#include <cstdio>
#include <filesystem>
#include <mutex>
#include <vector>

#include "tests/samples/check.hpp"

using samples::check;

namespace {

void interesting_part() {
  weft::parallel_for(0, 1000, [](int) { weft::this_thread::yield(); });
}

// [sample tracing-example]
weft::mutex lock;
long sum = 0;

void work() { // six threads called "busy" run this
  for (int i = 0; i < 2000; ++i) {
    {
      const std::scoped_lock held(lock);
      ++sum;
      weft::this_thread::yield(); // with the lock
    }
    weft::thread child([] {});
    child.join();
  }
}
// [/sample]

weft::trace::summary of_the_example() {
  weft::trace::start();
  std::vector<weft::thread> threads;
  for (int i = 0; i < 6; ++i) {
    weft::thread_attributes attributes;
    attributes.name = "busy";
    threads.emplace_back(attributes, work);
  }
  for (weft::thread& t : threads)
    t.join();
  return weft::trace::stop_and_summarise();
}

} // namespace

int main(int argc, char** argv) {
  check(argc == 2, "usage: tracing FOLDER");
  std::filesystem::current_path(argv[1]);
  std::filesystem::remove("run.json");
  // clang-format off
// [sample tracing]
#include <weft/trace.hpp>

weft::trace::start("run.json");
interesting_part();
weft::trace::stop();              // writes the file
// [/sample]
  // clang-format on
  check(std::filesystem::file_size("run.json") > 0, "the timeline was written");

  // [sample tracing-summary]
  weft::trace::start();
  interesting_part();
  const weft::trace::summary s = weft::trace::stop_and_summarise();
  std::fputs(weft::trace::to_text(s).c_str(), stdout);
  const auto slowest_wake_ns = s.latency.woken.largest();
  // [/sample]
  const weft::trace::summary example = of_the_example();
  std::fputs(weft::trace::to_text(example).c_str(), stdout);
  check(sum == 12000 && !example.locks.empty() && example.locks[0].held_by == "busy", "the example");
  check(s.events > 0 && slowest_wake_ns < s.length_ns, "the numbers are those of the recording");
}
