// SPDX-License-Identifier: MIT
#include "apps/http/send_file.hpp"

#include <weft/io.hpp>
#include <weft/thread.hpp>

#include <algorithm>
#include <memory>
#include <string_view>

namespace weft::http {

bool send_file(int socket, const file& f, std::uint64_t first, std::uint64_t size,
               std::chrono::milliseconds patience) {
  constexpr std::uint64_t part = 128 * 1024;
  const auto buffer = std::make_unique_for_overwrite<char[]>(part);
  std::error_code error;
  const std::uint64_t end = first + size;
  for (std::uint64_t at = first; at < end && !error;) {
    const std::size_t got = weft::io::pread(f.descriptor.get(), buffer.get(), std::min(end - at, part),
                                            static_cast<std::int64_t>(at),
                                            error); // what is not in the page cache is waited for elsewhere
    if (error || got == 0)
      return false;
    at += got;
    std::string_view rest(buffer.get(), got);
    while (!rest.empty() && !error)
      rest.remove_prefix(weft::io::send(socket, rest.data(), rest.size(), 0, error, patience));
    weft::this_thread::yield(); // a fast client leaves nothing to wait for, and others want to run
  }
  return !error;
}

} // namespace weft::http
