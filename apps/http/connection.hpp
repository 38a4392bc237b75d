// SPDX-License-Identifier: MIT
// What a connection's thread does from the first byte to the last.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::http {

class server;

/// Reads requests and answers them in their order until the client ends, breaks a limit, or the server
/// drains. `is_partial`: what the server knows of it (server::set_partial). All answers to what came in one
/// read are sent in one write. The caller closes the descriptor. Returns how many requests were answered.
/// *Contexts*: thread. *Switches*: may. *Errors*: std::bad_alloc, std::system_error (of files and timers,
/// never of the client's side).
std::uint64_t serve_connection(int descriptor, server& owner, std::atomic<bool>& is_partial);

} // namespace weft::http
