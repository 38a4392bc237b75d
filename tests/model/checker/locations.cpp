// SPDX-License-Identifier: MIT
// The engine's view of addresses: atomic locations, data races on plain ones, freed memory, and reports.
#include "tests/model/checker/engine.hpp"
#include "tests/model/checker/quarantine.hpp"

#include <cinttypes>
#include <cstdio>

namespace weft::model {
namespace {

const char* name_of_order(std::memory_order order) noexcept {
  switch (order) {
  case std::memory_order_relaxed:
    return "relaxed";
  case std::memory_order_consume:
  case std::memory_order_acquire:
    return "acquire";
  case std::memory_order_release:
    return "release";
  case std::memory_order_acq_rel:
    return "acq_rel";
  case std::memory_order_seq_cst:
    return "seq_cst";
  }
  return "?";
}

} // namespace

void engine::refuse_freed(const void* address) noexcept {
  if (quarantine::holds(address)) {
    log("USE AFTER FREE", std::memory_order_relaxed, address, 0);
    fail("use after free of " + name_of(address));
  }
}

void engine::race(const char* what, const void* address, unsigned other) noexcept {
  log(what, std::memory_order_relaxed, address, 0);
  fail("data race on " + name_of(address) + ": " + what + " by T" + std::to_string(current_) +
       " is not ordered after T" + std::to_string(other));
}

int engine::location(const void* address, word bare) noexcept {
  refuse_freed(address);
  location_index& found = locations_.at(address);
  if (found.value < 0) { // if not constructed: static, or constant-initialised, and older than the execution
    found.value = memory_.add_location(found.constructor, found.constructor_clock,
                                       found.constructed ? found.initial : bare);
    names_[static_cast<std::size_t>(found.value)] = mix(reinterpret_cast<std::uintptr_t>(address), 1);
  }
  if (!memory_.constructed_before(me().memory, found.value)) {
    race("use of an atomic whose constructor", address, 0);
  }
  return found.value;
}

void engine::store(int location, std::memory_order order, word value) {
  const unsigned back = choose_outcome(memory_.placements(me().memory, location, order));
  if (back == 0) {
    return memory_.store(me().memory, location, order, value);
  }
  const int index = memory_.make_room(location, back);
  for (unsigned id = 0; id < count_; ++id) {
    thread_state& each = threads_[id];
    for (view* of :
         {&each.memory.now, &each.memory.release_fence, &each.memory.acquire_pending, &each.token_view}) {
      of->make_room(static_cast<std::size_t>(location), index);
    }
  }
  memory_.store_into(me().memory, location, index, order, value);
}

void engine::construct(const void* address, word initial) noexcept {
  if (const location_index* const gone = locations_.find(address); gone != nullptr && gone->value >= 0)
    names_[static_cast<std::size_t>(gone->value)] = 0;
  locations_.at(address) = {-1, current_, me().memory.now.clock[current_], initial, true};
}

void engine::plain_construct(const void* address) noexcept {
  plain_.at(address) = {current_, me().memory.now.clock[current_], {}};
}

void engine::plain_read(const void* address) noexcept {
  refuse_freed(address);
  plain_record& record = plain_.at(address);
  const auto& clock = me().memory.now.clock;
  if (clock[record.writer] < record.write_clock) {
    race("plain read", address, record.writer);
  }
  record.read_clock[current_] = clock[current_];
}

void engine::plain_write(const void* address) noexcept {
  refuse_freed(address);
  plain_record& record = plain_.at(address);
  const auto& clock = me().memory.now.clock;
  if (clock[record.writer] < record.write_clock) {
    race("plain write", address, record.writer);
  }
  for (unsigned id = 0; id < count_; ++id) {
    if (clock[id] < record.read_clock[id]) {
      race("plain write", address, id);
    }
  }
  record = {current_, clock[current_], {}}; // who does not know of a read before does not know of this
}

void engine::log(const char* what, std::memory_order order, const void* address, word value, word second,
                 bool stale) {
  events_.push_back({current_, what, order, address, value, second, stale});
  if (!options_.merge)
    return; // nobody asks whether it has found the same again
  std::uint64_t found = reinterpret_cast<std::uintptr_t>(what);
  found = mix(mix(mix(found, reinterpret_cast<std::uintptr_t>(address)), value), second);
  me().round = mix(me().round, found);
}

std::string engine::name_of(const void* address) {
  if (address == nullptr) {
    return "";
  }
  if (const char* const* const name = labels_.find(address)) {
    return *name;
  }
  if (const location_index* const index = locations_.find(address)) {
    return "a" + std::to_string(index->value);
  }
  char text[32];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}

std::string engine::render() {
  std::string text;
  for (const event& line : events_) {
    char buffer[192];
    std::snprintf(buffer, sizeof buffer, "  %*sT%u %-14s %-8s %-10s %#" PRIx64,
                  static_cast<int>(line.thread) * 4, "", line.thread, line.what, name_of_order(line.order),
                  name_of(line.address).c_str(), line.value);
    text += buffer;
    if (line.second != 0) {
      std::snprintf(buffer, sizeof buffer, " -> %#" PRIx64, line.second);
      text += buffer;
    }
    text += line.stale ? "  (stale)\n" : "\n";
  }
  return text;
}

} // namespace weft::model
