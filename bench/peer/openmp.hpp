// SPDX-License-Identifier: MIT
// What programs of OpenMP share: how their threads wait, and which runtime it is that they have got.
#pragma once

#include "bench/common/bench.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <string_view>

namespace weft::bench::openmp {

// A runtime reads its environment before main: a program whose policy is another one starts anew. "default"
// is what the runtime does when it is told nothing.
inline void wait_with_policy(const std::string& policy, char** argv) {
  const char* const set = std::getenv("OMP_WAIT_POLICY");
  if (policy == (set != nullptr ? set : "default"))
    return;
  unsetenv("KMP_BLOCKTIME");
  if (policy == "default")
    unsetenv("OMP_WAIT_POLICY");
  else
    setenv("OMP_WAIT_POLICY", policy.c_str(), 1);
  execv("/proc/self/exe", argv);
  std::perror("execv");
  std::exit(2);
}

// The runtime comes from the folder that BENCH_OPENMP_FOLDER names, if that is set: a path that does not hold
// what it should would else measure the system's runtime under another name.
inline void check_runtime(recorder& rec) {
  const char* const folder = std::getenv("BENCH_OPENMP_FOLDER");
  if (folder == nullptr)
    return;
  Dl_info where{};
  // Not `&`: that may be the program's own stub.
  void* const function = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
  const bool known = function != nullptr && dladdr(function, &where) != 0;
  rec.check(known && std::string_view(where.dli_fname).starts_with(std::string(folder) + "/"),
            "the runtime: of " + std::string(known ? where.dli_fname : "nowhere"));
}

} // namespace weft::bench::openmp
