// SPDX-License-Identifier: MIT
// Dates as HTTP has them: "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7).
#pragma once

#include <array>
#include <ctime>
#include <optional>
#include <string_view>

namespace weft::http {

inline constexpr std::size_t date_size = 29;
using date_text = std::array<char, date_size>;

/// `when`: seconds since 1970, from year 1 to 9999.
[[nodiscard]] date_text date_of(std::time_t when) noexcept;

/// Any of the three forms that RFC 9110 has (5.6.7), for a year as `date_of` takes it; nothing: it is none.
[[nodiscard]] std::optional<std::time_t> parse_date(std::string_view text) noexcept;

/// The time in seconds, from the clock of the kernel's ticks: some nanoseconds, at most one tick late.
[[nodiscard]] std::time_t coarse_now() noexcept;

/// The present date, written anew once a second. One a connection: nothing is shared.
class date_cache {
 public:
  /// Valid until the next call.
  [[nodiscard]] std::string_view now() noexcept {
    if (const std::time_t second = coarse_now(); second != second_) {
      second_ = second;
      text_ = date_of(second);
    }
    return {text_.data(), text_.size()};
  }

 private:
  std::time_t second_ = -1;
  date_text text_{};
};

} // namespace weft::http
