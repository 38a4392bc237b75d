// SPDX-License-Identifier: MIT
// A file that is written once from start to end, with one error at the end. Not stdio: a Weft thread's stack
// may be 16 KiB, and an error's errno must survive until close().
#pragma once

#include <cstddef>

namespace weft::trace {

// Contexts: thread, foreign kernel thread, one at a time. Switches: never (the kernel thread may block).
class text_file {
 public:
  text_file() noexcept = default;
  ~text_file();
  text_file(const text_file&) = delete;
  text_file& operator=(const text_file&) = delete;

  // Creates or truncates. Errors: errno of open(2), ENOMEM.
  [[nodiscard]] int create(const char* path) noexcept;
  // printf formats; at most 511 bytes a call. After an error, nothing more is written.
  void print(const char* format, ...) noexcept __attribute__((format(printf, 2, 3)));
  // As the inside of a JSON string; bytes that are not printable ASCII become '?'.
  void print_escaped(const char* text) noexcept;
  // The first error there was, or 0.
  [[nodiscard]] int close() noexcept;

 private:
  void put(const char* text, std::size_t bytes) noexcept;
  void flush() noexcept;

  int file_ = -1;
  int error_ = 0;
  std::size_t used_ = 0;
  char* buffer_ = nullptr;
};

} // namespace weft::trace
