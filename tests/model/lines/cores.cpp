// SPDX-License-Identifier: MIT
#include "tests/model/lines/cores.hpp"

#include "weft/base/assert.hpp"
#include "weft/base/fence.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <ucontext.h>
#include <unordered_map>
#include <vector>

namespace weft::lines {
namespace {

struct core {
  double clock = 0;
  int wakes = 0; // less than 0: it sleeps
  bool ended = false;
  ucontext_t machine{};
  std::vector<char> stack = std::vector<char>(std::size_t{256} * 1024);
};

struct line {
  std::uint32_t holders = 0; // a bit for each core
  bool written = false;      // then there is one holder
};

struct machine {
  std::vector<std::unique_ptr<core>> cores;
  std::unordered_map<std::uintptr_t, line> cached;
  std::map<std::uintptr_t, const char*> names; // of lines
  std::map<std::string, std::size_t> moved;
  std::size_t woken = 0;
  std::minstd_rand random;
  const std::function<void(unsigned)>* body = nullptr;
  unsigned now = 0;
  ucontext_t loop{};
};
machine sim;

core& here() {
  return *sim.cores[sim.now];
}

void let_the_earliest_run() {
  swapcontext(&here().machine, &sim.loop);
}

void begin() {
  (*sim.body)(sim.now);
  here().ended = true;
  let_the_earliest_run();
}

std::uintptr_t line_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) / line_bytes;
}

} // namespace

void access(const void* address, kind how) noexcept {
  if (sim.cores.empty()) {
    return; // before and after a run
  }
  let_the_earliest_run();
  line& l = sim.cached[line_of(address)];
  const std::uint32_t mine = 1U << sim.now;
  const bool is_here = how == kind::read ? (l.holders & mine) != 0 : l.holders == mine;
  // What nobody has yet comes from memory, once: not counted.
  if (!is_here && l.holders != 0) {
    here().clock += costs::moved;
    const auto name = sim.names.find(line_of(address));
    ++sim.moved[name != sim.names.end() ? name->second : "requests"];
  }
  if (how == kind::read) {
    l.holders |= mine;
    l.written = l.written && is_here;
  } else {
    l = {mine, true};
  }
  here().clock += how == kind::locked ? costs::locked : costs::hit;
  here().clock += static_cast<double>(sim.random() % 100) / 100;
}

void spend(double ns) noexcept {
  here().clock += ns;
  let_the_earliest_run();
}

void sleep() noexcept {
  --here().wakes;
  let_the_earliest_run();
}

void wake(unsigned which) noexcept {
  core& c = *sim.cores[which];
  if (++c.wakes == 0) {
    ++sim.woken;
    here().clock += costs::notify;
    c.clock = std::max(c.clock, here().clock) + costs::wake;
  }
}

unsigned self() noexcept {
  return sim.now;
}

void label(const void* begin, std::size_t bytes, const char* name) {
  for (std::uintptr_t l = line_of(begin); l <= line_of(static_cast<const char*>(begin) + bytes - 1); ++l) {
    sim.names[l] = name;
  }
}

double run(unsigned count, unsigned seed, const std::function<void(unsigned)>& body) {
  sim.cached.clear();
  sim.moved.clear();
  sim.woken = 0;
  sim.random.seed(seed);
  sim.body = &body;
  for (unsigned i = 0; i < count; ++i) {
    auto& c = *sim.cores.emplace_back(std::make_unique<core>());
    getcontext(&c.machine);
    c.machine.uc_stack.ss_sp = c.stack.data();
    c.machine.uc_stack.ss_size = c.stack.size();
    makecontext(&c.machine, begin, 0);
  }
  for (;;) {
    core* next = nullptr;
    for (unsigned i = 0; i < count; ++i) {
      core& c = *sim.cores[i];
      if (c.ended) {
        const double took = c.clock;
        sim.cores.clear();
        sim.names.clear();
        return took;
      }
      if (c.wakes >= 0 && (next == nullptr || c.clock < next->clock)) {
        next = &c;
        sim.now = i;
      }
    }
    if (next == nullptr) {
      std::fputs("all cores sleep\n", stderr);
      std::abort();
    }
    swapcontext(&sim.loop, &next->machine);
  }
}

std::size_t wakes() noexcept {
  return sim.woken;
}

std::size_t moves(const std::string& name) {
  if (!name.empty()) {
    return sim.moved[name];
  }
  std::size_t all = 0;
  for (const auto& [_, count] : sim.moved) {
    all += count;
  }
  return all;
}

} // namespace weft::lines

namespace weft::base {

bool asymmetric_fences = true;
void heavy_fence() noexcept {
  lines::spend(lines::costs::fence);
}
void panic(const char* format, ...) noexcept {
  std::fprintf(stderr, "panic: %s\n", format);
  std::abort();
}
void warn(const char*, ...) noexcept {}
void assert_failed(const char* file, int line, const char* condition, const char* text) noexcept {
  std::fprintf(stderr, "%s:%d: %s (%s)\n", file, line, text, condition);
  std::abort();
}

} // namespace weft::base
