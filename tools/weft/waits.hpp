// SPDX-License-Identifier: MIT
// Who waits for what, who owns that, and which threads wait in a circle.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/weft/descriptors.hpp"
#include "tools/weft/units.hpp"

namespace weft::tool {

struct wait_info {
  std::string what;        // "mutex 0x..."; empty: it does not wait
  std::size_t on = nobody; // the unit that must do something first, if that is known
  bool hosts = false; // on its own stack: its context is out of date, its frames are behind those of `on`
  std::string owner;  // of what it waits for, where that is no unit
};

class waits {
 public:
  waits(target& of, const layout& table, const process_units& units);

  [[nodiscard]] const wait_info& of(std::size_t unit) const { return waits_[unit]; }
  // Each circle once: its units, each of which waits for the next, the last for the first.
  [[nodiscard]] std::vector<std::vector<std::size_t>> circles() const;

 private:
  struct owner {
    std::size_t unit = nobody;
    std::string other; // if it is no unit
  };
  struct stack_range {
    std::uint32_t low; // half of the lowest address
    std::uint64_t size;
    std::size_t unit; // the outermost one on it
  };

  void find_joins();
  void find_hosts();
  void explain(std::size_t unit);
  [[nodiscard]] std::string until(std::int64_t at) const;
  [[nodiscard]] std::string call_of(address record);
  [[nodiscard]] std::string message_call_of(address record);
  [[nodiscard]] std::string for_how_long(std::int64_t since) const;
  [[nodiscard]] const kernel_thread* kernel_thread_of(const unit_info& u) const;
  void explain_running(const unit_info& u, wait_info& w);
  void index_stacks();
  const owner& owner_of(address mutex);
  [[nodiscard]] owner follow_marks(address mutex) const;
  [[nodiscard]] std::size_t unit_by_mark(std::uint32_t mark) const;
  [[nodiscard]] std::string kernel_thread_by_mark(std::uint32_t mark) const;

  target& target_;
  const layout& table_;
  const process_units& units_;
  std::vector<wait_info> waits_;
  descriptors descriptors_;
  const std::int64_t now_;
  std::vector<stack_range> stacks_; // by `low`
  std::uint64_t largest_stack_ = 0;
  std::map<std::pair<address, address>, std::size_t> on_mutexes_; // (stack, mutex) -> who waits
  std::unordered_map<address, owner> owners_;                     // of mutexes
};

// "#3 \"name\"", or with its function, "#3 (work)": numbers start at 1.
std::string title(const process_units& units, std::size_t unit);
std::string hexadecimal(address at);
// Not longer than `most`.
std::string shorten(const std::string& text, std::size_t most);

} // namespace weft::tool
