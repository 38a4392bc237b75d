// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace weft::http {

/// A TCP socket that listens at a numerical address of IPv4 or IPv6, to be closed by io::close. TCP_NODELAY
/// is set, and inherited by those that are accepted. *Errors*: std::system_error, std::invalid_argument.
[[nodiscard]] int listen_at(const std::string& address, std::uint16_t port);

/// The port it is bound to. *Errors*: std::system_error.
[[nodiscard]] std::uint16_t port_of(int descriptor);

} // namespace weft::http
