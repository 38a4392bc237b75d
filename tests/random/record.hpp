// SPDX-License-Identifier: MIT
// What a run of a program leaves for the comparison with the model.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>

#include "tests/random/program.hpp"

namespace weft::random_programs {

// Written by its thread, and read when that has ended.
struct thread_record {
  static constexpr unsigned most_choices = 64;

  std::uint32_t runs = 0;
  std::uint32_t ends = 0;
  std::uint32_t steps = 0; // instructions that were carried out, those in bodies counted
  std::uint32_t choices = 0;
  std::uint64_t digest = 0;                        // of all that it was given by others
  std::array<std::uint8_t, most_choices> choice{}; // whether its tries succeeded, in order

  void fold(long value) noexcept { digest = digest * 1099511628211U ^ static_cast<std::uint64_t>(value); }
  void choose(bool success) noexcept {
    if (choices < most_choices)
      choice[choices++] = success ? 1 : 0;
  }
};

struct record {
  std::array<std::atomic<long>, counters> counter{};
  std::array<long, locks> guarded{};                          // by the lock of that number
  std::array<std::atomic<long>, keys> key_ends{}, key_sums{}; // destructors that ran, and of which values
  std::array<thread_record, most_threads> threads{};

  // The first complaint of the run itself is kept. Contexts: all. Switches: never.
  void complain(const char* what, long of) noexcept {
    if (!complained_.exchange(true)) {
      std::snprintf(complaint_.data(), complaint_.size(), "%s %ld", what, of);
      complete_.store(true);
    }
  }
  void check(bool condition, const char* what, long of) noexcept {
    if (!condition)
      complain(what, of);
  }
  // Empty: none. After the run.
  [[nodiscard]] const char* complaint() const noexcept { return complete_ ? complaint_.data() : ""; }

 private:
  std::atomic<bool> complained_{false}, complete_{false};
  std::array<char, 160> complaint_{};
};

} // namespace weft::random_programs
