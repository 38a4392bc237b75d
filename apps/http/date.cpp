// SPDX-License-Identifier: MIT
#include "apps/http/date.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace weft::http {
namespace {

void put_number(char* at, int value, int digits) noexcept {
  for (int i = digits; i-- > 0; value /= 10)
    at[i] = static_cast<char>('0' + value % 10);
}

constexpr std::string_view days = "SunMonTueWedThuFriSat";
constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::string_view long_days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                          "Thursday", "Friday", "Saturday"};

// Reads a date against a pattern, in which each letter stands for a digit or a name's letters and all else
// for itself: D day, Y year, H hour, N minute, S second, d the name of a day, m of a month.
struct date_reader {
  std::tm t{};
  int year = 0;
  int year_digits = 0;

  bool read(std::string_view text, std::string_view pattern) noexcept {
    if (text.size() != pattern.size())
      return false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == 'd' || pattern[i] == 'm') {
        if (!name(pattern[i], text.substr(i, 3)))
          return false;
        i += 2;
      } else if (!place(pattern[i], text[i])) {
        return false;
      }
    }
    return true;
  }

 private:
  bool name(char which, std::string_view text) noexcept {
    const std::string_view list = which == 'd' ? days : months;
    const std::size_t at = list.find(text);
    if (at == list.npos || at % 3 != 0)
      return false;
    if (which == 'm')
      t.tm_mon = static_cast<int>(at / 3);
    return true;
  }
  bool place(char which, char c) noexcept {
    int* const to = number(which);
    if (to == nullptr)
      return c == which;
    // A day below ten has a blank before it in asctime's form.
    if (c == ' ' && which == 'D' && *to == 0)
      return true;
    if (c < '0' || c > '9')
      return false;
    *to = *to * 10 + (c - '0');
    year_digits += which == 'Y' ? 1 : 0;
    return true;
  }
  int* number(char which) noexcept {
    switch (which) {
    case 'D':
      return &t.tm_mday;
    case 'Y':
      return &year;
    case 'H':
      return &t.tm_hour;
    case 'N':
      return &t.tm_min;
    case 'S':
      return &t.tm_sec;
    default:
      return nullptr;
    }
  }
};

// Two digits that would be more than fifty years ahead are of the past (RFC 9110, 5.6.7).
int whole_year(int year, int digits) noexcept {
  if (digits != 2)
    return year;
  const std::time_t now = coarse_now();
  std::tm t{};
  ::gmtime_r(&now, &t);
  const int present = t.tm_year + 1900;
  const int guess = present - present % 100 + year;
  return guess > present + 50 ? guess - 100 : guess;
}

} // namespace

std::optional<std::time_t> parse_date(std::string_view text) noexcept {
  date_reader r;
  if (const std::size_t comma = text.find(','); comma != text.npos) {
    const std::string_view day = text.substr(0, comma);
    if (comma == 3 ? !r.read(text, "ddd, DD mmm YYYY HH:NN:SS GMT")
                   : std::find(std::begin(long_days), std::end(long_days), day) == std::end(long_days) ||
                         !r.read(text.substr(comma), ", DD-mmm-YY HH:NN:SS GMT"))
      return std::nullopt;
  } else if (!r.read(text, "ddd mmm DD HH:NN:SS YYYY")) {
    return std::nullopt;
  }
  const std::tm given = r.t;
  r.t.tm_year = whole_year(r.year, r.year_digits) - 1900;
  const std::time_t when = ::timegm(&r.t); // which carries what is too much into what is larger
  const bool is_leap_second = given.tm_sec == 60;
  if (r.t.tm_mday != given.tm_mday && !is_leap_second)
    return std::nullopt;
  if (given.tm_hour > 23 || given.tm_min > 59 || given.tm_sec > 60 || given.tm_mday == 0)
    return std::nullopt;
  return when;
}

date_text date_of(std::time_t when) noexcept {
  std::tm t{};
  ::gmtime_r(&when, &t);
  date_text text;
  std::memcpy(text.data(), "Day, 00 Mon 0000 00:00:00 GMT", date_size);
  std::memcpy(text.data(), days.data() + 3 * t.tm_wday, 3);
  put_number(text.data() + 5, t.tm_mday, 2);
  std::memcpy(text.data() + 8, months.data() + 3 * t.tm_mon, 3);
  put_number(text.data() + 12, t.tm_year + 1900, 4);
  put_number(text.data() + 17, t.tm_hour, 2);
  put_number(text.data() + 20, t.tm_min, 2);
  put_number(text.data() + 23, t.tm_sec, 2);
  return text;
}

std::time_t coarse_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec;
}

} // namespace weft::http
