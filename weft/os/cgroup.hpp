// SPDX-License-Identifier: MIT
// How much CPU time the control groups of this process allow: v2 (cpu.max) and v1 (cpu.cfs_quota_us), the
// smallest quota on the way from its own group up to the root, because a parent's limit binds its children.
#pragma once

namespace weft::os {

struct cgroup_paths {
  const char* membership = "/proc/self/cgroup";
  // One line a mount, to find where each hierarchy is mounted.
  const char* mounts = "/proc/self/mountinfo";
  // Prepended to every path, so that tests can lay out a tree of their own.
  const char* prefix = "";
};

// CPUs' worth of time, e.g. 1.5; 0 where nothing limits it or nothing can be read.
// Contexts: all but signal handlers. Switches: never. Errors: none; throws std::bad_alloc.
double cpu_quota(const cgroup_paths& paths = {});

} // namespace weft::os
