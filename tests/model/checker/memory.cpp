// SPDX-License-Identifier: MIT
#include "tests/model/checker/memory.hpp"

#include <cstdio>
#include <cstdlib>

namespace weft::model {
namespace {

bool acquires(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst || order == std::memory_order_consume;
}

bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

} // namespace

void memory::reset() noexcept {
  for (int i = 0; i < count_; ++i) {
    locations_[static_cast<std::size_t>(i)].stores.clear();
  }
  count_ = 0;
  sequential_ = view{};
}

int memory::add_location(unsigned constructor, std::uint32_t constructor_clock, word initial) {
  if (static_cast<std::size_t>(count_) == max_locations) {
    std::fputs("model: more locations than max_locations (tests/model/checker/view.hpp)\n", stderr);
    std::abort();
  }
  if (static_cast<std::size_t>(count_) == locations_.size()) {
    locations_.emplace_back();
  }
  location_record& record = locations_[static_cast<std::size_t>(count_)];
  record.stores.push_back({initial, view{}, false});
  record.constructor = constructor;
  record.constructor_clock = constructor_clock;
  return count_++;
}

bool memory::constructed_before(const thread_memory& by, int location) const noexcept {
  const location_record& record = locations_[static_cast<std::size_t>(location)];
  return by.now.clock[record.constructor] >= record.constructor_clock;
}

unsigned memory::readable(const thread_memory& by, int location, std::memory_order order) const noexcept {
  const auto at = static_cast<std::size_t>(location);
  int oldest = by.now.seen[at];
  if (order == std::memory_order_seq_cst) {
    oldest = std::max<int>(oldest, sequential_.seen[at]);
  }
  // A thread that spins gets to see what it waits for: after relax(), a location that it has read before is
  // read afresh. Everything else keeps its choice.
  if (by.read_at[at] != 0 && by.read_at[at] != by.relaxations) {
    return 1;
  }
  return static_cast<unsigned>(static_cast<int>(locations_[at].stores.size()) - oldest);
}

word memory::peek(int location, unsigned stores_back) const noexcept {
  const auto& stores = locations_[static_cast<std::size_t>(location)].stores;
  return stores[stores.size() - 1 - stores_back].value;
}

unsigned memory::oldest(int location) const noexcept {
  return static_cast<unsigned>(locations_[static_cast<std::size_t>(location)].stores.size()) - 1;
}

void memory::acquire_from(thread_memory& by, const store_record& from, std::memory_order order) noexcept {
  if (acquires(order)) {
    by.now.join(from.published);
  } else {
    by.acquire_pending.join(from.published);
  }
}

load_result memory::load(thread_memory& by, int location, std::memory_order order, unsigned stores_back) {
  const auto at = static_cast<std::size_t>(location);
  const auto& stores = locations_[at].stores;
  const std::size_t index = stores.size() - 1 - stores_back;
  by.now.seen[at] = std::max(by.now.seen[at], static_cast<std::int16_t>(index));
  by.read_at[at] = by.relaxations;
  acquire_from(by, stores[index], order);
  if (order == std::memory_order_seq_cst) {
    sequential_.seen[at] = std::max(sequential_.seen[at], static_cast<std::int16_t>(index));
  }
  return {stores[index].value, stores_back != 0};
}

memory::store_record& memory::append(thread_memory& by, int location, std::memory_order order, word value) {
  const auto at = static_cast<std::size_t>(location);
  auto& stores = locations_[at].stores;
  const auto index = static_cast<std::int16_t>(stores.size());
  by.now.seen[at] = index;
  if (order == std::memory_order_seq_cst) {
    sequential_.seen[at] = index;
  }
  stores.push_back({value, releases(order) ? by.now : by.release_fence, false});
  stores.back().published.seen[at] = index;
  return stores.back();
}

void memory::store(thread_memory& by, int location, std::memory_order order, word value) {
  append(by, location, order, value);
}

unsigned memory::placements(const thread_memory& by, int location, std::memory_order order) const noexcept {
  const auto at = static_cast<std::size_t>(location);
  const auto& stores = locations_[at].stores;
  int oldest = by.now.seen[at];
  if (order == std::memory_order_seq_cst) {
    oldest = std::max<int>(oldest, sequential_.seen[at]);
  }
  unsigned count = 1;
  for (int index = static_cast<int>(stores.size()) - 1;
       index > oldest && !stores[static_cast<std::size_t>(index)].replaces; --index) {
    ++count;
  }
  return count;
}

int memory::make_room(int location, unsigned places_back) noexcept {
  const auto at = static_cast<std::size_t>(location);
  auto& stores = locations_[at].stores;
  const auto index = static_cast<int>(stores.size() - places_back);
  for (int i = 0; i < count_; ++i) {
    for (store_record& each : locations_[static_cast<std::size_t>(i)].stores) {
      each.published.make_room(at, index);
    }
  }
  sequential_.make_room(at, index);
  stores.insert(stores.begin() + index, store_record{});
  return index;
}

void memory::store_into(thread_memory& by, int location, int index, std::memory_order order, word value) {
  const auto at = static_cast<std::size_t>(location);
  by.now.seen[at] = static_cast<std::int16_t>(index);
  if (order == std::memory_order_seq_cst) {
    sequential_.seen[at] = std::max(sequential_.seen[at], static_cast<std::int16_t>(index));
  }
  store_record& made = locations_[at].stores[static_cast<std::size_t>(index)];
  made = {value, releases(order) ? by.now : by.release_fence, false};
  made.published.seen[at] = static_cast<std::int16_t>(index);
}

word memory::replace(thread_memory& by, int location, std::memory_order order, word value) {
  auto& stores = locations_[static_cast<std::size_t>(location)].stores;
  acquire_from(by, stores.back(), order);
  by.read_at[static_cast<std::size_t>(location)] = by.relaxations;
  const word old = stores.back().value;
  const view continued = stores.back().published; // a read-modify-write continues the release sequence
  store_record& made = append(by, location, order, value);
  made.published.join(continued);
  made.replaces = true;
  return old;
}

// Of each location the stores from the oldest on that somebody may still read.
template <class Visit>
void memory::visit_live(const views_told_apart& views, const location_names& names, Visit visit) const {
  for (int i = 0; i < count_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto& stores = locations_[at].stores;
    if (names[at] == 0 || stores.size() < 2) // gone; or never written, and then as if never used
      continue;
    const auto oldest = static_cast<std::size_t>(views.known_to_all().seen[at]);
    for (std::size_t index = oldest; index < stores.size(); ++index)
      visit(at, index);
  }
}

// Whoever may still read a store that is not the newest has seen nothing newer of its location.
view memory::known_to_readers(const readers& live, std::size_t location, std::size_t store) noexcept {
  view known = view::top();
  for (const view* const each : live) {
    if (static_cast<std::size_t>(each->seen[location]) <= store)
      known.meet(*each);
  }
  return known;
}

std::uint64_t memory::hash(const views_told_apart& views, const location_names& names,
                           const readers& live) const noexcept {
  std::uint64_t sum = views.hash(sequential_, views.known_to_all(), names, count_);
  visit_live(views, names, [&](std::size_t at, std::size_t index) {
    const auto& stores = locations_[at].stores;
    const store_record& made = stores[index];
    const std::size_t place = index - static_cast<std::size_t>(views.known_to_all().seen[at]);
    const bool bound = made.replaces && place != 0; // nothing comes before the oldest in any case
    const view& known = index + 1 == stores.size() ? views.known_to_all() : known_to_readers(live, at, index);
    sum += mix(mix(names[at], mix(made.value, 2 * place + (bound ? 1 : 0))),
               views.hash(made.published, known, names, count_));
  });
  return sum;
}

void memory::fence(thread_memory& by, std::memory_order order) noexcept {
  if (acquires(order)) {
    by.now.join(by.acquire_pending);
  }
  if (order == std::memory_order_seq_cst) {
    // Fences alone order what is read (C++20 31.4), they do not make plain data safe: no clocks.
    by.now.join_seen(sequential_);
    sequential_.join_seen(by.now);
  }
  if (releases(order)) {
    by.release_fence = by.now;
  }
}

word apply(rmw_op op, word old, word operand, word mask) noexcept {
  switch (op) {
  case rmw_op::exchange:
    return operand & mask;
  case rmw_op::add:
    return (old + operand) & mask;
  case rmw_op::subtract:
    return (old - operand) & mask;
  case rmw_op::bit_or:
    return old | operand;
  case rmw_op::bit_and:
    return old & operand;
  case rmw_op::bit_xor:
    return old ^ operand;
  }
  return old;
}

} // namespace weft::model
