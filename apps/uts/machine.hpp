// SPDX-License-Identifier: MIT
// Facts that stand beside every result: the machine, the build, and the memory of this process.
#pragma once

#include <cstddef>
#include <string>

namespace weft::uts {

struct machine_facts {
  std::string processor;
  int processors = 0;     ///< that the affinity mask allows
  int workers = 0;        ///< by default: as many as the affinity mask and the cgroup's CPU quota allow
  std::size_t memory = 0; ///< bytes
  std::size_t memory_available = 0; ///< bytes, when asked
  std::string kernel;
  std::string system;
  std::string compiler, build_flags, commit;
  std::string sha1;
  std::string date; ///< UTC
};

machine_facts this_machine();

/// Bytes that a line of /proc/self/status states in kB ("VmHWM", "VmRSS", "VmPTE"); 0 if there is none.
std::size_t status_bytes(const char* field);

/// The same line of another process, by its id.
std::size_t status_bytes(int process, const char* field);

} // namespace weft::uts
