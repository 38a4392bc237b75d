// SPDX-License-Identifier: MIT
#include "apps/http/response.hpp"

#include <charconv>

namespace weft::http {
namespace {

std::string_view status_line(int status) noexcept {
  switch (status) {
  case 200:
    return "HTTP/1.1 200 OK";
  case 206:
    return "HTTP/1.1 206 Partial Content";
  case 301:
    return "HTTP/1.1 301 Moved Permanently";
  case 304:
    return "HTTP/1.1 304 Not Modified";
  case 400:
    return "HTTP/1.1 400 Bad Request";
  case 403:
    return "HTTP/1.1 403 Forbidden";
  case 404:
    return "HTTP/1.1 404 Not Found";
  case 405:
    return "HTTP/1.1 405 Method Not Allowed";
  case 408:
    return "HTTP/1.1 408 Request Timeout";
  case 412:
    return "HTTP/1.1 412 Precondition Failed";
  case 413:
    return "HTTP/1.1 413 Content Too Large";
  case 414:
    return "HTTP/1.1 414 URI Too Long";
  case 416:
    return "HTTP/1.1 416 Range Not Satisfiable";
  case 431:
    return "HTTP/1.1 431 Request Header Fields Too Large";
  case 500:
    return "HTTP/1.1 500 Internal Server Error";
  case 501:
    return "HTTP/1.1 501 Not Implemented";
  case 503:
    return "HTTP/1.1 503 Service Unavailable";
  case 505:
    return "HTTP/1.1 505 HTTP Version Not Supported";
  default:
    return "HTTP/1.1 500 Unknown";
  }
}

void append_number(std::string& out, std::uint64_t value, int base = 10) {
  char digits[20]; // enough for any
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value, base).ptr);
}

void append_range(std::string& out, const response_head& head) {
  out.append("\r\nContent-Range: bytes ");
  if (head.status == 416) {
    out.append("*");
  } else {
    append_number(out, head.first_byte);
    out.append("-");
    append_number(out, head.first_byte + head.content_length - 1);
  }
  out.append("/");
  append_number(out, head.whole_size);
}

} // namespace

std::string etag_of(std::uint64_t seconds, std::uint64_t nanoseconds, std::uint64_t size) {
  std::string tag = "\"";
  append_number(tag, seconds, 16);
  tag.append("-");
  append_number(tag, nanoseconds, 16);
  tag.append("-");
  append_number(tag, size, 16);
  return tag.append("\"");
}

std::string_view reason_of(int status) noexcept {
  return status_line(status).substr(13);
}

void append_head(std::string& out, const response_head& head) {
  char digits[20];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, head.content_length);
  static_cast<void>(error); // twenty digits are enough for any
  out.append(status_line(head.status)).append("\r\nServer: ").append(head.server);
  out.append("\r\nDate: ").append(head.date);
  if (!head.content_type.empty())
    out.append("\r\nContent-Type: ").append(head.content_type);
  if (head.status != 304) // RFC 9110, 15.4.5: it would be the length of what is not sent
    out.append("\r\nContent-Length: ").append(digits, end);
  if (head.status == 405)
    out.append("\r\nAllow: GET, HEAD");
  if (head.status == 206 || head.status == 416)
    append_range(out, head);
  if (!head.location.empty())
    out.append("\r\nLocation: ").append(head.location);
  if (!head.last_modified.empty())
    out.append("\r\nLast-Modified: ").append(head.last_modified);
  if (!head.etag.empty())
    out.append("\r\nAccept-Ranges: bytes\r\nETag: ").append(head.etag);
  out.append(head.keep_alive ? "\r\nConnection: keep-alive\r\n\r\n" : "\r\nConnection: close\r\n\r\n");
}

} // namespace weft::http
