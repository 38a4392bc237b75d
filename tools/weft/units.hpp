// SPDX-License-Identifier: MIT
// All units and workers of a process, as they are while it stands still: docs/design/inspection.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/weft/layout.hpp"
#include "tools/weft/target.hpp"

namespace weft::tool {

inline constexpr std::size_t nobody = static_cast<std::size_t>(-1);

struct worker_info {
  address at = 0;
  unsigned number = 0;
  pid_t kernel_thread = 0;
  bool asleep = false;
  address current = 0;
};

// A unit. Indices are places in process_units::units().
struct unit_info {
  address at = 0;
  std::string kind; // thread, tasklet, scheduler
  std::string name; // as the program has set it
  std::string state;
  std::string technique;
  std::size_t worker = nobody; // running on it
  int last_worker = -1;        // by number; -1: none
  int pool_of = -1;            // the worker to which its pool belongs, by number; -1: a shared one
  address stack = 0;           // record; 0: has none
  address stack_low = 0;
  address stack_top = 0;
  address join_word = 0;
  address operations = 0;
  std::string function;     // that it was given to run
  bool has_context = false; // sp, fp and pc say where it goes on
  address sp = 0;
  address fp = 0;
  address pc = 0;
  bool announced = false; // says itself what it waits for, the next three
  std::uint64_t wait_kind = 0;
  std::uint32_t displaced = 0;
  address object = 0;
};

class process_units {
 public:
  // Errors: failure.
  process_units(target& of, const layout& table);

  [[nodiscard]] const std::vector<unit_info>& units() const noexcept { return units_; }
  [[nodiscard]] const std::vector<worker_info>& workers() const noexcept { return workers_; }
  // Slabs of descriptors that the core does not have.
  [[nodiscard]] const std::vector<address>& unreadable() const noexcept { return unreadable_; }
  // By the address of the descriptor; nobody if there is no such unit.
  [[nodiscard]] std::size_t at(address descriptor) const;

 private:
  class reader;

  std::vector<unit_info> units_;
  std::vector<worker_info> workers_;
  std::vector<address> unreadable_;
  std::unordered_map<address, std::size_t> places_;
};

} // namespace weft::tool
