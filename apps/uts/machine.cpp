// SPDX-License-Identifier: MIT
// Reads /proc and the cgroup; the build's facts come from a header that the build writes.

#include "apps/uts/machine.hpp"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <sstream>

#include "apps/uts/sha1.hpp"
#include "uts_build_facts.hpp"

namespace weft::uts {
namespace {

// The text after the first `separator` on the first line that starts with `key`; empty if there is none.
std::string line_value(const std::string& path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(separator);
    if (line.rfind(key, 0) == 0 && at != std::string::npos) {
      std::string text = line.substr(at + 1);
      text.erase(0, text.find_first_not_of(" \t\""));
      text.erase(text.find_last_not_of(" \t\"") + 1);
      return text;
    }
  }
  return {};
}

std::size_t kilobytes(const std::string& path, const std::string& key) {
  const std::string text = line_value(path, key, ':');
  return text.empty() ? 0 : std::stoull(text) * 1024;
}

int allowed_processors() {
  // A static set holds 1024 processors; machines with more are asked again with larger sets.
  for (int most = 1024; most <= 1 << 20; most *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(most));
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    const bool known = set != nullptr && sched_getaffinity(0, bytes, set) == 0;
    const int n = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) {
      return n;
    }
  }
  return 1;
}

// Processors' worth of time that cgroup v2 grants to this process and each of its ancestors; 0 if unlimited.
double quota_processors() {
  std::string group = line_value("/proc/self/cgroup", "0:", ':');
  group = group.substr(std::min(group.find('/'), group.size()));
  double least = 0;
  while (true) {
    std::ifstream file("/sys/fs/cgroup" + group + "/cpu.max");
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max" && period > 0) {
      const double share = std::stod(quota) / period;
      least = least == 0 ? share : std::min(least, share);
    }
    if (group.empty()) {
      return least;
    }
    group.erase(group.rfind('/'));
  }
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  char text[40];
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

} // namespace

machine_facts this_machine() {
  machine_facts m;
  m.processor = line_value("/proc/cpuinfo", "model name", ':');
  if (m.processor.empty()) {
    m.processor = "unknown processor";
  }
  m.processors = allowed_processors();
  const double quota = quota_processors();
  m.workers = quota > 0 ? std::clamp(static_cast<int>(std::ceil(quota)), 1, m.processors) : m.processors;
  m.memory = kilobytes("/proc/meminfo", "MemTotal");
  m.memory_available = kilobytes("/proc/meminfo", "MemAvailable");
  utsname names{};
  uname(&names);
  m.kernel = std::string(names.sysname) + " " + names.release + " " + names.machine;
  m.system = line_value("/etc/os-release", "PRETTY_NAME", '=');
  m.compiler = WEFT_UTS_COMPILER;
  m.build_flags = WEFT_UTS_FLAGS;
  m.commit = WEFT_UTS_COMMIT;
  m.sha1 = sha1_form();
  m.date = utc_now();
  return m;
}

std::size_t status_bytes(const char* field) {
  return kilobytes("/proc/self/status", field);
}

std::size_t status_bytes(int process, const char* field) {
  return kilobytes("/proc/" + std::to_string(process) + "/status", field);
}

} // namespace weft::uts
