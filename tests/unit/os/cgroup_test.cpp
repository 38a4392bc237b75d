// SPDX-License-Identifier: MIT
#include "weft/os/cgroup.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace {

namespace fs = std::filesystem;

// A root folder that plays /proc and /sys/fs/cgroup.
struct cgroup : testing::Test {
  cgroup() {
    char pattern[] = "/tmp/weft-cgroup-XXXXXX";
    root = ::mkdtemp(pattern);
  }
  ~cgroup() override { fs::remove_all(root); }

  void file(const std::string& path, const std::string& text) const {
    fs::create_directories((root + path).substr(0, (root + path).rfind('/')));
    std::ofstream{root + path} << text;
  }
  void v2(const std::string& group, const std::string& mount_root = "/") const {
    file("/proc/self/mountinfo", "22 1 0:20 / /proc rw - proc proc rw\n"
                                 "35 25 0:30 " +
                                     mount_root +
                                     " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
    file("/proc/self/cgroup", "0::" + group + "\n");
  }
  void v1(const std::string& group) const {
    file("/proc/self/mountinfo",
         "30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n"
         "31 25 0:27 / /sys/fs/cgroup/cpuset rw shared:11 - cgroup cgroup rw,cpuset\n");
    file("/proc/self/cgroup", "5:cpuset:/elsewhere\n4:cpu,cpuacct:" + group + "\n0::/\n");
  }
  double quota() const {
    weft::os::cgroup_paths paths;
    paths.prefix = root.c_str();
    return weft::os::cpu_quota(paths);
  }

  std::string root;
};

TEST_F(cgroup, nothing_readable_is_no_limit) {
  EXPECT_EQ(quota(), 0);
}

TEST_F(cgroup, v2_own_limit) {
  v2("/jobs/mine");
  file("/sys/fs/cgroup/jobs/mine/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 1.5);
}

TEST_F(cgroup, v2_max_is_no_limit) {
  v2("/jobs/mine");
  file("/sys/fs/cgroup/jobs/mine/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 0);
}

TEST_F(cgroup, v2_a_parents_smaller_limit_binds) {
  v2("/jobs/mine");
  file("/sys/fs/cgroup/jobs/mine/cpu.max", "400000 100000\n");
  file("/sys/fs/cgroup/jobs/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 0.5);
}

TEST_F(cgroup, v2_container_sees_its_group_as_root) {
  v2("/");
  file("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 2);
}

TEST_F(cgroup, v2_container_without_a_namespace) {
  v2("/docker/abc/inner", "/docker/abc");
  file("/sys/fs/cgroup/inner/cpu.max", "300000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 3);
}

TEST_F(cgroup, v1_own_and_parent) {
  v1("/jobs/mine");
  file("/sys/fs/cgroup/cpu,cpuacct/jobs/mine/cpu.cfs_quota_us", "250000\n");
  file("/sys/fs/cgroup/cpu,cpuacct/jobs/mine/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(quota(), 2.5);
  file("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "100000\n");
  file("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(quota(), 1);
}

TEST_F(cgroup, v1_minus_one_is_no_limit) {
  v1("/jobs");
  file("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "-1\n");
  file("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 0);
}

TEST_F(cgroup, garbage_is_no_limit) {
  v2("/jobs");
  file("/sys/fs/cgroup/jobs/cpu.max", "lots\n");
  EXPECT_EQ(quota(), 0);
  file("/sys/fs/cgroup/jobs/cpu.max", "100000 0\n");
  EXPECT_EQ(quota(), 0);
}

TEST(cgroup_here, is_never_negative) {
  EXPECT_GE(weft::os::cpu_quota(), 0);
}

} // namespace
