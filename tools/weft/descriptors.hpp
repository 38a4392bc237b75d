// SPDX-License-Identifier: MIT
// What a descriptor of a process stands for, as /proc has it: a path, or a socket with its ends.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

namespace weft::tool {

class descriptors {
 public:
  // Of nobody, if `process` is 0: a core does not say.
  explicit descriptors(pid_t process) : process_(process) {}

  // "/dev/tty", "pipe:[123]", "tcp 127.0.0.1:80, peer 127.0.0.1:4711"; empty: not known.
  std::string describe(int descriptor);

 private:
  void read_sockets();
  void read_inet(const char* protocol, bool is_six);
  void read_unix();

  const pid_t process_;
  bool has_sockets_ = false;
  std::map<std::string, std::string> sockets_; // by inode
};

} // namespace weft::tool
