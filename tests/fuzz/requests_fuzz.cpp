// SPDX-License-Identifier: MIT
// What a tool sends to a process: in pieces of any size the lines are those of the whole, until one
// is too long or the process has had enough.
#include "weft/trace/request_lines.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using weft::trace::request_lines;

void require(bool good) {
  if (!good)
    std::abort();
}

// The line that ends the conversation.
constexpr std::string_view last = "q";

} // namespace

// The first byte: how many come at once.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2)
    return 0;
  const std::size_t piece = 1 + data[0] % 80;
  const std::string all(reinterpret_cast<const char*>(data) + 1, size - 1);
  request_lines lines;
  std::vector<std::string> got;
  auto progress = request_lines::progress::goes_on;
  std::size_t sent = 0;
  while (sent < all.size() && progress == request_lines::progress::goes_on) {
    const auto room = lines.room();
    require(!room.empty());
    const std::size_t now = std::min({piece, room.size(), all.size() - sent});
    std::copy_n(all.data() + sent, now, room.data());
    sent += now;
    progress = lines.add(now, [&got](std::string_view line) {
      got.emplace_back(line);
      return line != last;
    });
  }
  std::size_t begin = 0;
  for (const std::string& line : got) {
    require(all.compare(begin, line.size() + 1, line + '\n') == 0);
    begin += line.size() + 1;
  }
  switch (progress) {
  case request_lines::progress::goes_on:
    return require(all.find('\n', begin) == std::string::npos), 0;
  case request_lines::progress::ended:
    return require(got.back() == last), 0;
  case request_lines::progress::too_long:
    return require(sent - begin >= 64 && std::min(all.find('\n', begin), all.size()) - begin >= 64), 0;
  }
  return 0;
}
