// SPDX-License-Identifier: MIT
// Where programs are run: a runtime of a given make, behind one of the two interfaces. One of cxx_stage.cpp
// and abt_stage.cpp is linked into a tool.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/random/program.hpp"
#include "tests/random/record.hpp"

namespace weft::random_programs {

// What the interface has, for the generator.
struct dialect {
  const char* name;
  unsigned arrangements;                     // of set_up::pools
  unsigned sides;                            // of set_up::side
  std::array<std::uint8_t, op_count> ways{}; // in which an instruction can be carried out; 0: not at all
  std::vector<lock_kind> locks{};
  std::vector<semaphore_kind> semaphores{};
  std::vector<std::uint8_t> preemptions{}; // but cooperative ones
  bool unwinds = true;                     // a cancelled thread runs its destructors
  // Whether a thread that was preempted in that pool of that set-up lets all others run before.
  bool (*fair)(const set_up& where, unsigned pool);
};
[[nodiscard]] dialect dialect_here();

// A fault that is put into the interpreter, to see whether it is found.
// `place`: a resumption of who is in a suspended_thread; of the last three one call too few.
enum class sabotage : std::uint8_t { none, lock, release, key, place, hand_over, nest, errand };
class saboteur {
 public:
  // Of `every` times, one goes wrong.
  saboteur(sabotage what, unsigned every) noexcept : what_(what), every_(every) {}

  // Contexts: all. Switches: never.
  bool strikes(sabotage now) noexcept { return what_ == now && count_.fetch_add(1) % every_ == every_ - 1; }

 private:
  const sabotage what_;
  const unsigned every_;
  std::atomic<unsigned> count_{0};
};

class stage {
 public:
  virtual ~stage() = default;
  // The record complains of what is left behind, too. Contexts: the primary thread. Switches: may.
  virtual void run(const program& p, record& r, saboteur& s) = 0;
};
// Starts the runtime; its destructor stops it. Contexts: the process' first kernel thread.
[[nodiscard]] std::unique_ptr<stage> make_stage(const set_up& where);

} // namespace weft::random_programs
