// SPDX-License-Identifier: MIT
// Samples of docs/guide/tracing.md. Its one argument is the folder to write into.
#include <weft/weft.hpp>

#include <filesystem>

#include "tests/samples/check.hpp"

using samples::check;

namespace {

void interesting_part() {
  weft::parallel_for(0, 1000, [](int) { weft::this_thread::yield(); });
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
}
