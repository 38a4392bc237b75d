// SPDX-License-Identifier: MIT
// Target constructs on the only device there is: the host. The region's function runs at once, by the calling
// thread, which is an initial thread meanwhile: in no region, with control variables of its own. What is
// mapped is there already, so to map and to update is nothing. nowait may be at once.
#include "front/openmp/gomp/abi.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

using namespace weft::openmp;
using namespace weft::openmp::gomp;

namespace {

constexpr unsigned first_private = 12; // GOMP_MAP_FIRSTPRIVATE, in the low byte; above it the alignment

// For as long as a target region runs.
class on_device {
 public:
  on_device(thread& t, unsigned thread_limit)
      : thread_(t), before_(t.at), current_(t.current), league_(t.league), group_(t.group), team_(1) {
    member& m = team_.members[0];
    m.who = &t;
    m.implicit.team = &team_;
    m.implicit.icv = process().first;
    if (thread_limit != 0)
      m.implicit.icv.thread_limit = thread_limit;
    t.at = {};
    t.at.team = &team_;
    t.at.share = &team_.first_share;
    t.at.place = before_.place;
    t.at.first_place = before_.first_place;
    t.at.place_count = before_.place_count;
    t.current = &m.implicit;
    t.league = {};
    t.group = &own_group_;
  }
  ~on_device() {
    leave_share(thread_, nullptr);
    // Its tasks: with one thread they have all ended, but for those with an event.
    team& in = team_;
    const auto done = [&in] { return in.unfinished.load_acquire() == 0; };
    if (!done())
      await(thread_, helping::everything, done); // SWITCH: may resume on another worker
    thread_.at = before_;
    thread_.current = current_;
    thread_.league = league_;
    thread_.group = group_;
  }
  on_device(const on_device&) = delete;
  on_device& operator=(const on_device&) = delete;

 private:
  thread& thread_;
  const position before_;
  task* const current_;
  const league_position league_;
  contention_group* const group_;
  contention_group own_group_;
  team team_;
};

// Copies of what is firstprivate, whose addresses take the originals' places. Null: an argument of Fortran's
// that is not given.
std::vector<char> copy_first_private(std::size_t count, void** addresses, const std::size_t* sizes,
                                     const unsigned short* kinds) {
  std::size_t bytes = 0;
  const auto is_ours = [&](std::size_t i) {
    return (kinds[i] & 0xff) == first_private && addresses[i] != nullptr;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (is_ours(i))
      bytes += sizes[i] + (std::size_t{1} << (kinds[i] >> 8));
  }
  std::vector<char> room(bytes);
  auto at = reinterpret_cast<std::uintptr_t>(room.data());
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_ours(i))
      continue;
    const std::size_t align = std::size_t{1} << (kinds[i] >> 8);
    at = (at + align - 1) / align * align;
    void* const to = reinterpret_cast<void*>(at);
    std::memcpy(to, addresses[i], sizes[i]);
    addresses[i] = to;
    at += sizes[i];
  }
  return room;
}

// Of the list of what the construct says besides: identifiers, with their values in them or behind them.
unsigned thread_limit_in(void** list) noexcept {
  constexpr std::intptr_t value_follows = 1 << 7;
  constexpr std::intptr_t which = 0xff << 8;
  constexpr std::intptr_t thread_limit = 2 << 8;
  unsigned limit = 0;
  while (list != nullptr && *list != nullptr) {
    const auto id = reinterpret_cast<std::intptr_t>(*list++);
    const std::intptr_t value =
        (id & value_follows) != 0 ? reinterpret_cast<std::intptr_t>(*list++) : id >> 16;
    if ((id & which) == thread_limit && value > 0)
      limit = static_cast<unsigned>(std::min<std::intptr_t>(value, INT_MAX));
  }
  return limit;
}

void await_depend(void** depend) {
  if (depend != nullptr)
    wait_for_children(caller(), depend);
}

} // namespace

OMP_EXPORT void GOMP_target_ext(int /*device*/, function f, std::size_t count, void** addresses,
                                std::size_t* sizes, unsigned short* kinds, unsigned /*flags*/, void** depend,
                                void** arguments) {
  const std::vector<char> copies = copy_first_private(count, addresses, sizes, kinds);
  await_depend(depend); // SWITCH: may resume on another worker
  const on_device there(caller(), thread_limit_in(arguments));
  f(addresses);
}
OMP_EXPORT void GOMP_target(int /*device*/, function f, const void* /*unused*/, std::size_t /*count*/,
                            void** addresses, std::size_t* /*sizes*/, unsigned char* /*kinds*/) {
  const on_device there(caller(), 0);
  f(addresses);
}

OMP_EXPORT void GOMP_target_data(int, const void*, std::size_t, void**, std::size_t*, unsigned char*) {}
OMP_EXPORT void GOMP_target_data_ext(int, std::size_t, void**, std::size_t*, unsigned short*) {}
OMP_EXPORT void GOMP_target_end_data() {}
OMP_EXPORT void GOMP_target_update(int, const void*, std::size_t, void**, std::size_t*, unsigned char*) {}
OMP_EXPORT void GOMP_target_update_ext(int, std::size_t, void**, std::size_t*, unsigned short*, unsigned,
                                       void** depend) {
  await_depend(depend);
}
OMP_EXPORT void GOMP_target_enter_exit_data(int, std::size_t, void**, std::size_t*, unsigned short*, unsigned,
                                            void** depend) {
  await_depend(depend);
}

// --- teams inside of a target region ---

namespace {

void limit_threads(thread& t, unsigned limit) noexcept {
  if (limit != 0)
    t.current->icv.thread_limit = std::min(limit, static_cast<unsigned>(INT_MAX));
}

} // namespace

OMP_EXPORT void GOMP_teams(unsigned /*teams*/, unsigned thread_limit) {
  limit_threads(caller(), thread_limit);
}
// Called before each team, until it says that there is none.
OMP_EXPORT bool GOMP_teams4(unsigned least, unsigned /*most*/, unsigned thread_limit, bool first) {
  thread& t = caller();
  if (first) {
    limit_threads(t, thread_limit);
    t.league = {0, std::max(least, 1U)};
    return true;
  }
  if (t.league.number + 1 == t.league.size)
    return false;
  ++t.league.number;
  return true;
}
