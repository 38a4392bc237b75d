// SPDX-License-Identifier: MIT
// A file or socket that is written once from start to end, with one error at the end. Not stdio: a Weft
// thread's stack may be 16 KiB, and an error's errno must survive until close().
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::trace {

// For printf's %llu and %llx: std::uint64_t is another type on some machines.
constexpr unsigned long long wide(std::uint64_t value) noexcept {
  return value;
}

// Contexts: thread, foreign kernel thread, one at a time. Switches: never (the kernel thread may block).
class output_file {
 public:
  output_file() noexcept = default;
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  // Creates or truncates. Errors: errno of open(2), ENOMEM.
  [[nodiscard]] int create(const char* path) noexcept;
  // Writes to what the caller has opened, and closes. Errors: ENOMEM; it is not closed then.
  [[nodiscard]] int adopt(int file) noexcept;
  // printf formats; at most 511 bytes a call. After an error, nothing more is written.
  void print(const char* format, ...) noexcept __attribute__((format(printf, 2, 3)));
  // As the inside of a JSON string; bytes that are not printable ASCII become '?'.
  void print_escaped(const char* text) noexcept;
  void put(const void* bytes, std::size_t count) noexcept;
  // The first error there was, or 0.
  [[nodiscard]] int close() noexcept;

 private:
  void flush() noexcept;

  int file_ = -1;
  int error_ = 0;
  std::size_t used_ = 0;
  char* buffer_ = nullptr;
};

} // namespace weft::trace
