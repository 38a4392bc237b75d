// SPDX-License-Identifier: MIT
#include "apps/http/listening.hpp"

#include <weft/io.hpp>

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <system_error>

namespace weft::http {
namespace {

union any_address {
  sockaddr common;
  sockaddr_in four;
  sockaddr_in6 six;
};

socklen_t parse(const std::string& text, std::uint16_t port, any_address& out) {
  out = {};
  if (::inet_pton(AF_INET, text.c_str(), &out.four.sin_addr) == 1) {
    out.four.sin_family = AF_INET;
    out.four.sin_port = htons(port);
    return sizeof out.four;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &out.six.sin6_addr) == 1) {
    out.six.sin6_family = AF_INET6;
    out.six.sin6_port = htons(port);
    return sizeof out.six;
  }
  throw std::invalid_argument("\"" + text + "\" is no address of IPv4 or IPv6");
}

void check(int result, const char* what) {
  if (result != 0)
    throw std::system_error(errno, std::system_category(), what);
}

} // namespace

int listen_at(const std::string& address, std::uint16_t port) {
  any_address where{};
  const socklen_t size = parse(address, port, where);
  const int made = weft::io::socket(where.common.sa_family, SOCK_STREAM, 0);
  try {
    const int on = 1;
    check(::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "SO_REUSEADDR");
    check(::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
    check(::bind(made, &where.common, size), "bind");
    check(::listen(made, 4096), "listen"); // cut to net.core.somaxconn
  } catch (...) {
    weft::io::close(made);
    throw;
  }
  return made;
}

std::uint16_t port_of(int descriptor) {
  any_address where{};
  socklen_t size = sizeof where;
  check(::getsockname(descriptor, &where.common, &size), "getsockname");
  return ntohs(where.common.sa_family == AF_INET ? where.four.sin_port : where.six.sin6_port);
}

} // namespace weft::http
