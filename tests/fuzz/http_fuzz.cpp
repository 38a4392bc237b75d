// SPDX-License-Identifier: MIT
// Requests: the same outcome whole and byte by byte, nothing consumed that is not there, and paths that stay
// below their root.
#include "apps/http/conditions.hpp"
#include "apps/http/date.hpp"
#include "apps/http/path.hpp"
#include "apps/http/request_parser.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace weft::http;
using outcome = request_parser::outcome;

void require(bool good) {
  if (!good)
    std::abort();
}

void check_path(std::string_view target) {
  const auto path = file_path(target);
  if (!path)
    return;
  require(!path->empty() && path->front() != '/' && path->find('\0') == std::string::npos);
  require(*path != ".." && !path->starts_with("../") && path->find("/../") == std::string::npos);
  static_cast<void>(content_type(*path));
  static_cast<void>(target_path(target));
}

// A part that is sent is inside of what there is.
void check_conditions(const request& head) {
  constexpr std::uint64_t size = 1000;
  const part p = evaluate(head, {"\"t\"", "Sun, 06 Nov 1994 08:49:37 GMT", 784111777, size});
  if (p.status == 206)
    require(p.size != 0 && p.first < size && p.size <= size - p.first);
  else
    require(p.status == 200 || p.status == 304 || p.status == 412 || p.status == 416);
}

struct seen {
  std::vector<std::string> targets;
  int complete = 0;
  int status = 0;
  bool operator==(const seen&) const = default;
};

// `step` bytes at a time, out of a buffer that is new each time.
seen parse(std::string_view text, std::size_t step) {
  limits l;
  l.head_bytes = 512;
  l.fields = 8;
  l.body_bytes = 1000;
  request_parser parser(l);
  seen s;
  std::string buffer;
  for (std::size_t at = 0; at < text.size() && s.status == 0; at += step) {
    buffer.append(text.substr(at, step));
    for (;;) {
      const std::string shown = buffer;
      const auto [what, consumed] = parser.step(shown);
      require(consumed <= shown.size());
      if (what == outcome::head) {
        s.targets.emplace_back(parser.head().target);
        check_path(parser.head().target);
        check_conditions(parser.head());
      }
      buffer.erase(0, consumed);
      s.complete += what == outcome::complete ? 1 : 0;
      if (what == outcome::refused) {
        s.status = parser.status();
        require(s.status >= 400 && s.status < 600);
      }
      if (what == outcome::refused || (what == outcome::need_more && (consumed == 0 || buffer.empty())))
        break;
    }
  }
  return s;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_path(text);
  static_cast<void>(parse_date(text));
  const std::string location = folder_location(text);
  require(location[0] == '/' && (location.size() == 1 || (location[1] != '/' && location[1] != '\\')));
  const seen whole = parse(text, size == 0 ? 1 : size);
  require(whole == parse(text, 1));
  require(whole == parse(text, 7));
  return 0;
}
