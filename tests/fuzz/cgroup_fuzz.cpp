// SPDX-License-Identifier: MIT
// What /proc and the control groups say: the input is the text of all four files, split at NUL bytes.
#include "weft/os/cgroup.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace {

// Never destroyed: it is needed until all of the program has ended.
const std::string& folder() {
  static const std::string* const made = [] {
    const char* base = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    auto* name = new std::string(std::string(base) + "/weft_fuzz_XXXXXX");
    if (::mkdtemp(name->data()) == nullptr)
      std::abort();
    std::filesystem::create_directory(*name + "/group");
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return name;
  }();
  return *made;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string& root = folder();
  std::string_view left(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"/membership", "/mounts", "/group/cpu.max", "/group/cpu.cfs_quota_us"}) {
    const std::string_view text = left.substr(0, left.find('\0'));
    left.remove_prefix(std::min(left.size(), text.size() + 1));
    std::ofstream(root + name) << text;
  }
  weft::os::cgroup_paths paths;
  paths.membership = "/membership";
  paths.mounts = "/mounts";
  paths.prefix = root.c_str();
  const double quota = weft::os::cpu_quota(paths);
  if (!(quota >= 0) || std::isinf(quota))
    std::abort();
  return 0;
}
