// SPDX-License-Identifier: MIT
// Numbers as people read them, shared by the terminal and the page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::uts {

/// printf into a string, for short texts.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

std::string with_commas(std::uint64_t n); ///< 4,130,071
std::string bytes_text(double bytes);     ///< 34.1 MiB
std::string rate_text(double per_second); ///< 14.2 M
std::string seconds_text(double seconds); ///< 3 min 05 s, 7.19 s, 12.3 ms
std::string workers_text(int workers);    ///< 1 worker, 2 workers

} // namespace weft::uts
