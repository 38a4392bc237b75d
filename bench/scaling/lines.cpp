// SPDX-License-Identifier: MIT
#include "bench/scaling/lines.hpp"

#include <bitset>
#include <cstdlib>
#include <unordered_map>

#include "weft/simulator/simulation.hpp"

namespace weft::scaling {
namespace {

constexpr std::size_t most_cores = 1024;
constexpr unsigned line_shift = 6;
constexpr unsigned nobody = ~0U;

struct line {
  unsigned writer = nobody; // who has it modified
  std::bitset<most_cores> readers;
};

struct model {
  std::unordered_map<std::uintptr_t, line> lines;
  totals count;
};

model* current = nullptr; // null: not counted
bool inside = false;      // the map's own memory is not the program's

void read(model& m, line& l, unsigned core) {
  if (l.readers[core])
    return;
  ++m.count.moved;
  l.readers.set(core);
  l.writer = nobody; // written back
}

void write(model& m, line& l, unsigned core) {
  if (l.writer == core)
    return;
  if (!l.readers[core]) {
    ++m.count.moved;
  } else if (l.readers.count() > 1) {
    ++m.count.upgraded;
  }
  l.readers.reset();
  l.readers.set(core);
  l.writer = core;
}

} // namespace

void access(const void* address, kind how) noexcept {
  if (current == nullptr || inside || !sched::simulation::is_host())
    return;
  inside = true;
  model& m = *current;
  ++(how == kind::load ? m.count.loads : how == kind::store ? m.count.stores : m.count.changes);
  const unsigned core = sched::simulation::running() % most_cores;
  const auto [place, is_new] = m.lines.try_emplace(reinterpret_cast<std::uintptr_t>(address) >> line_shift);
  line& l = place->second;
  if (is_new) {
    ++m.count.cold;
    l.readers.set(core);
    l.writer = how == kind::load ? nobody : core;
  } else if (how == kind::load) {
    read(m, l, core);
  } else {
    write(m, l, core);
  }
  inside = false;
}

void start() {
  current = new model;
}

totals stop() noexcept {
  const totals result = current->count;
  model* const ended = current;
  current = nullptr;
  delete ended;
  return result;
}

} // namespace weft::scaling
