// SPDX-License-Identifier: MIT
// Formats: proc(5) /proc/pid/cgroup and mountinfo; kernel Documentation/admin-guide/cgroup-v2.rst, cpu.max.
#include "weft/os/cgroup.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace weft::os {
namespace {

struct hierarchy {
  std::string mount; // where it is mounted
  std::string root;  // which group is shown there ("/" outside containers)
  std::string group; // the group of this process
  bool v2 = false;
};

bool has_word(std::string_view list, std::string_view word) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    if (list.substr(at, end - at) == word) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

// mountinfo: id parent major:minor root mount options [tags...] - type source super-options
std::vector<hierarchy> mounted(const char* path) {
  std::vector<hierarchy> found;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) {
      continue;
    }
    std::istringstream left{line};
    std::istringstream right{line.substr(dash + 3)};
    std::string skip, root, mount, type, source, options;
    left >> skip >> skip >> skip >> root >> mount;
    right >> type >> source >> options;
    if (type == "cgroup2") {
      found.push_back({mount, root, {}, true});
    } else if (type == "cgroup" && has_word(options, "cpu")) {
      found.push_back({mount, root, {}, false});
    }
  }
  return found;
}

// /proc/self/cgroup: "0::/group" for v2, "4:cpu,cpuacct:/group" for v1.
std::string group_of(const char* path, bool v2) {
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string_view controllers = std::string_view{line}.substr(first + 1, second - first - 1);
    if (v2 ? controllers.empty() && line.starts_with("0:") : has_word(controllers, "cpu")) {
      return line.substr(second + 1);
    }
  }
  return {};
}

// "max 100000" or "150000 100000".
double v2_quota(const std::string& folder) {
  std::ifstream file{folder + "/cpu.max"};
  double quota = 0;
  double period = 0;
  return file >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

// cpu.cfs_quota_us is -1 without a limit.
double v1_quota(const std::string& folder) {
  std::ifstream quota_file{folder + "/cpu.cfs_quota_us"};
  std::ifstream period_file{folder + "/cpu.cfs_period_us"};
  double quota = 0;
  double period = 0;
  return quota_file >> quota && period_file >> period && quota > 0 && period > 0 ? quota / period : 0;
}

// In a container without a cgroup namespace the group is named from the host's root, of which `root` is
// mounted here.
std::string below_mount(const hierarchy& tree) {
  if (tree.root != "/" && tree.group.starts_with(tree.root)) {
    return tree.group.substr(tree.root.size());
  }
  return tree.root == "/" ? tree.group : std::string{};
}

double smallest_quota(const hierarchy& tree, const std::string& prefix) {
  const std::string base = prefix + tree.mount;
  std::string group = below_mount(tree);
  double smallest = 0;
  for (;;) {
    while (!group.empty() && group.back() == '/') {
      group.pop_back();
    }
    const double quota = tree.v2 ? v2_quota(base + group) : v1_quota(base + group);
    if (quota > 0 && (smallest == 0 || quota < smallest)) {
      smallest = quota;
    }
    if (group.empty()) {
      return smallest;
    }
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

} // namespace

double cpu_quota(const cgroup_paths& paths) {
  double smallest = 0;
  for (hierarchy& tree : mounted((std::string{paths.prefix} + paths.mounts).c_str())) {
    tree.group = group_of((std::string{paths.prefix} + paths.membership).c_str(), tree.v2);
    const double quota = smallest_quota(tree, paths.prefix);
    if (quota > 0 && (smallest == 0 || quota < smallest)) {
      smallest = quota;
    }
  }
  return smallest;
}

} // namespace weft::os
