// SPDX-License-Identifier: MIT
#pragma once

#include "apps/http/file_cache.hpp"

#include <chrono>
#include <cstdint>

namespace weft::http {

/// Sends `size` bytes of a file from `first` on, a part at a time. False: the client is gone or takes nothing
/// for as long as `patience`, the file has become shorter or cannot be read. By pread and send, not by
/// sendfile(2), which would keep the worker while the disk is read: docs/design/http.md. *Contexts*: thread.
/// *Switches*: may. *Errors*: std::bad_alloc.
[[nodiscard]] bool send_file(int socket, const file& f, std::uint64_t first, std::uint64_t size,
                             std::chrono::milliseconds patience);

} // namespace weft::http
