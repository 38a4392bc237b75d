// SPDX-License-Identifier: MIT
// ComposableThreads as the adapters use it: its default composition with stacks of 16 KiB.
#pragma once

#include <cmpth/sct/def_sct_itf.hpp>

#include <cstdlib>
#include <memory>
#include <string>

namespace weft::bench {

struct composable_policy : cmpth::def_sct_policy {
  static std::size_t get_default_stack_size() noexcept { return 16 * 1024; }
};

class composablethreads {
 public:
  using interface = cmpth::sct_itf<composable_policy>;
  using thread = interface::thread;
  using mutex = interface::mutex;
  using suspended_thread = interface::suspended_thread;
  using this_thread = interface::this_thread;
  using worker = interface::worker;

  explicit composablethreads(unsigned workers) {
    setenv("CMPTH_NUM_WORKERS", std::to_string(workers).c_str(), 1);
    init_ = std::make_unique<interface::initializer>();
  }
  composablethreads(const composablethreads&) = delete;
  composablethreads& operator=(const composablethreads&) = delete;

 private:
  std::unique_ptr<interface::initializer> init_;
};

} // namespace weft::bench
