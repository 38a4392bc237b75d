// SPDX-License-Identifier: MIT
#include "apps/http/date.hpp"

#include <cstring>

namespace weft::http {
namespace {

void put_number(char* at, int value, int digits) noexcept {
  for (int i = digits; i-- > 0; value /= 10)
    at[i] = static_cast<char>('0' + value % 10);
}

} // namespace

date_text date_of(std::time_t when) noexcept {
  constexpr const char* days = "SunMonTueWedThuFriSat";
  constexpr const char* months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  std::tm t{};
  ::gmtime_r(&when, &t);
  date_text text;
  std::memcpy(text.data(), "Day, 00 Mon 0000 00:00:00 GMT", date_size);
  std::memcpy(text.data(), days + 3 * t.tm_wday, 3);
  put_number(text.data() + 5, t.tm_mday, 2);
  std::memcpy(text.data() + 8, months + 3 * t.tm_mon, 3);
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
