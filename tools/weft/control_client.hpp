// SPDX-License-Identifier: MIT
// The tool's end of a connection to a process that listens (weft/trace/control.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <sys/types.h>

#include "weft/trace/recording.hpp"

namespace weft::tool {

// Errors of all: std::runtime_error with a sentence that names the process.
class control_client {
 public:
  // Errors: it does not listen, is not there, or is another user's.
  explicit control_client(pid_t process);
  ~control_client();
  control_client(const control_client&) = delete;
  control_client& operator=(const control_client&) = delete;

  // Sends a request and waits for its "ok"; gives what follows that, or throws what it was refused with.
  std::string request(const std::string& line);
  // Ends a recording and gets it.
  [[nodiscard]] trace::recording stop_recording();
  // Until the time has passed or the user interrupts (SIGINT, SIGTERM). Errors: also that the process has
  // ended.
  void wait(std::chrono::nanoseconds length);

 private:
  [[noreturn]] void fail(const std::string& why) const;
  std::string read_line();
  void read(void* to, std::size_t bytes);

  pid_t process_;
  int connection_;
};

} // namespace weft::tool
