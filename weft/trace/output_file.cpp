// SPDX-License-Identifier: MIT
#include "weft/trace/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

#include "weft/os/interruptible.hpp"

namespace weft::trace {
namespace {

constexpr std::size_t buffer_bytes = 64 << 10;

} // namespace

output_file::~output_file() {
  static_cast<void>(close());
}

int output_file::create(const char* path) noexcept {
  buffer_ = new (std::nothrow) char[buffer_bytes];
  if (buffer_ == nullptr) {
    return error_ = ENOMEM;
  }
  file_ = os::uninterrupted([=] { return ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); });
  if (file_ < 0) {
    error_ = errno;
  }
  return error_;
}

int output_file::adopt(int file) noexcept {
  buffer_ = new (std::nothrow) char[buffer_bytes];
  if (buffer_ == nullptr) {
    return error_ = ENOMEM;
  }
  file_ = file;
  return 0;
}

void output_file::print(const char* format, ...) noexcept {
  char line[512];
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof line) {
    error_ = error_ != 0 ? error_ : EMSGSIZE;
    return;
  }
  put(line, static_cast<std::size_t>(length));
}

void output_file::print_escaped(const char* text) noexcept {
  for (; *text != '\0'; ++text) {
    const bool plain = *text >= ' ' && *text <= '~';
    if (*text == '"' || *text == '\\') {
      put("\\", 1);
    }
    put(plain ? text : "?", 1);
  }
}

void output_file::put(const void* begin, std::size_t bytes) noexcept {
  const char* text = static_cast<const char*>(begin);
  while (bytes != 0 && error_ == 0) {
    const std::size_t part = std::min(bytes, buffer_bytes - used_);
    std::memcpy(buffer_ + used_, text, part);
    used_ += part;
    text += part;
    bytes -= part;
    if (used_ == buffer_bytes) {
      flush();
    }
  }
}

void output_file::flush() noexcept {
  std::size_t done = 0;
  while (done < used_ && error_ == 0) {
    const ssize_t now = os::uninterrupted([&] { return ::write(file_, buffer_ + done, used_ - done); });
    if (now > 0) {
      done += static_cast<std::size_t>(now);
    } else {
      error_ = now == 0 ? EIO : errno;
    }
  }
  used_ = 0;
}

int output_file::close() noexcept {
  if (file_ >= 0) {
    flush();
    const int error = os::close_descriptor(file_);
    error_ = error_ != 0 ? error_ : error;
    file_ = -1;
  }
  delete[] buffer_;
  buffer_ = nullptr;
  return error_;
}

} // namespace weft::trace
