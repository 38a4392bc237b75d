// SPDX-License-Identifier: MIT
// The requests of one client, line by line, from bytes that come in pieces of any size.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace weft::trace {

class request_lines {
 public:
  enum class progress {
    goes_on,
    ended,    // as `obey` said
    too_long, // no line is so long: there is no room left for its end
  };

  // Where what comes next is to be written; not empty while it goes on.
  [[nodiscard]] std::span<char> room() noexcept { return std::span(bytes_).subspan(used_); }

  // The first `count` bytes of room() have come. obey(line) is called for each line that is whole now,
  // without its end, until it returns false.
  template <class Obey>
  [[nodiscard]] progress add(std::size_t count, Obey obey) {
    used_ += count;
    std::size_t begin = 0;
    for (;;) {
      const std::string_view rest(bytes_.data() + begin, used_ - begin);
      const std::size_t length = rest.find('\n');
      if (length == std::string_view::npos)
        break;
      if (!obey(rest.substr(0, length)))
        return progress::ended;
      begin += length + 1;
    }
    used_ -= begin;
    std::memmove(bytes_.data(), bytes_.data() + begin, used_);
    return used_ == bytes_.size() ? progress::too_long : progress::goes_on;
  }

 private:
  std::array<char, 64> bytes_{};
  std::size_t used_ = 0;
};

} // namespace weft::trace
