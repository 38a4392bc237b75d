// SPDX-License-Identifier: MIT
// omp_get_... and omp_set_...: what a thread is, and its control variables.
#include "front/openmp/crew.hpp"
#include "front/openmp/gomp/abi.hpp"
#include "front/openmp/gomp/functions.hpp"

#include <algorithm>
#include <climits>
#include <ctime>

using namespace weft::openmp;
using namespace weft::openmp::gomp;

namespace {

icvs& mine() {
  return caller().current->icv;
}

int as_int(unsigned n) noexcept {
  return n > static_cast<unsigned>(INT_MAX) ? INT_MAX : static_cast<int>(n);
}

// The position of the caller, or of its ancestor, at that level; null: there is none.
const position* at_level(const thread& t, int level) noexcept {
  if (level < 0 || static_cast<unsigned>(level) > t.at.level)
    return nullptr;
  const position* p = &t.at;
  while (p->level > static_cast<unsigned>(level))
    p = &p->team->outer;
  return p;
}

} // namespace

// --- the two that static loops call each time: nothing is met for them ---

OMP_EXPORT int omp_get_thread_num() {
  const thread* const t = self;
  return t != nullptr ? static_cast<int>(t->at.number) : 0;
}
OMP_EXPORT int omp_get_num_threads() {
  const thread* const t = self;
  return t != nullptr ? static_cast<int>(t->at.team->size) : 1;
}

// --- where the caller is ---

OMP_EXPORT int omp_in_parallel() {
  const thread* const t = self;
  return t != nullptr && t->at.active_level != 0 ? 1 : 0;
}
OMP_EXPORT int omp_get_level() {
  return static_cast<int>(caller().at.level);
}
OMP_EXPORT int omp_get_active_level() {
  return static_cast<int>(caller().at.active_level);
}
OMP_EXPORT int omp_get_ancestor_thread_num(int level) {
  const position* const p = at_level(caller(), level);
  return p != nullptr ? static_cast<int>(p->number) : -1;
}
OMP_EXPORT int omp_get_team_size(int level) {
  const position* const p = at_level(caller(), level);
  return p != nullptr ? static_cast<int>(p->team->size) : -1;
}
OMP_EXPORT int omp_in_final() {
  return caller().current->is_final ? 1 : 0;
}

// --- control variables ---

OMP_EXPORT void omp_set_num_threads(int n) {
  mine().threads = n > 0 ? static_cast<unsigned>(n) : 1;
}
OMP_EXPORT int omp_get_max_threads() {
  thread& t = caller();
  const icvs& icv = t.current->icv;
  return as_int(std::min(icv.threads, icv.thread_limit));
}
OMP_EXPORT int omp_get_num_procs() {
  return static_cast<int>(processors());
}
OMP_EXPORT void omp_set_dynamic(int on) {
  mine().dynamic = on != 0;
}
OMP_EXPORT int omp_get_dynamic() {
  return mine().dynamic ? 1 : 0;
}
OMP_EXPORT void omp_set_nested(int on) {
  icvs& icv = mine();
  if (on != 0)
    icv.max_active_levels = supported_active_levels;
  else if (icv.max_active_levels > 1)
    icv.max_active_levels = 1;
}
OMP_EXPORT int omp_get_nested() {
  thread& t = caller();
  const unsigned most = t.current->icv.max_active_levels;
  return most > t.at.active_level && most > 1 ? 1 : 0;
}
OMP_EXPORT void omp_set_max_active_levels(int n) {
  if (n >= 0)
    mine().max_active_levels = std::min(static_cast<unsigned>(n), supported_active_levels);
}
OMP_EXPORT int omp_get_max_active_levels() {
  return as_int(mine().max_active_levels);
}
OMP_EXPORT int omp_get_supported_active_levels() {
  return static_cast<int>(supported_active_levels);
}
OMP_EXPORT int omp_get_thread_limit() {
  return as_int(mine().thread_limit);
}
OMP_EXPORT void omp_set_schedule(unsigned kind, int chunk) {
  icvs& icv = mine();
  const unsigned plain = kind & ~monotonic_mark;
  if (plain < 1 || plain > 4)
    return;
  icv.run_schedule = static_cast<schedule>(plain);
  icv.monotonic = (kind & monotonic_mark) != 0;
  icv.schedule_given = true;
  icv.monotonic_given = icv.monotonic;
  const bool given = chunk >= 1 && icv.run_schedule != schedule::automatic;
  icv.chunk = given ? static_cast<std::uint64_t>(chunk) : icv.run_schedule == schedule::fixed ? 0 : 1;
}
OMP_EXPORT void omp_get_schedule(unsigned* kind, int* chunk) {
  const icvs& icv = mine();
  *kind = static_cast<unsigned>(icv.run_schedule) | (icv.monotonic ? monotonic_mark : 0);
  *chunk = static_cast<int>(icv.chunk);
}
OMP_EXPORT int omp_get_cancellation() {
  return process().cancellation ? 1 : 0;
}
OMP_EXPORT int omp_get_max_task_priority() {
  return process().max_task_priority;
}
OMP_EXPORT int omp_get_proc_bind() {
  return static_cast<int>(mine().bind);
}

// --- teams, which are run one after the other here ---

OMP_EXPORT int omp_get_num_teams() {
  return static_cast<int>(caller().league.size);
}
OMP_EXPORT int omp_get_team_num() {
  return static_cast<int>(caller().league.number);
}
OMP_EXPORT void omp_set_num_teams(int n) {
  if (n >= 0)
    process().teams = static_cast<unsigned>(n);
}
OMP_EXPORT int omp_get_max_teams() {
  return as_int(process().teams);
}
OMP_EXPORT void omp_set_teams_thread_limit(int n) {
  if (n >= 0)
    process().teams_thread_limit = static_cast<unsigned>(n);
}
OMP_EXPORT int omp_get_teams_thread_limit() {
  return as_int(process().teams_thread_limit);
}

OMP_EXPORT void GOMP_teams_reg(function f, void* data, unsigned teams, unsigned thread_limit,
                               unsigned /*flags*/) {
  run_league(caller(), teams, thread_limit, f, data);
}

// --- devices: the host is the only one ---

OMP_EXPORT void omp_set_default_device(int n) {
  mine().default_device = std::max(n, 0);
}
OMP_EXPORT int omp_get_default_device() {
  return mine().default_device;
}
OMP_EXPORT int omp_get_num_devices() {
  return 0;
}
OMP_EXPORT int omp_get_initial_device() {
  return 0;
}
OMP_EXPORT int omp_get_device_num() {
  return 0;
}
OMP_EXPORT int omp_is_initial_device() {
  return 1;
}

// --- time ---

namespace {

double seconds(const std::timespec& t) noexcept {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

} // namespace

OMP_EXPORT double omp_get_wtime() {
  std::timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return seconds(now);
}
OMP_EXPORT double omp_get_wtick() {
  std::timespec tick{};
  ::clock_getres(CLOCK_MONOTONIC, &tick);
  return seconds(tick);
}

// --- giving back what is kept between regions ---

namespace {

// 0: done. A thread in a region needs what it has.
int pause_here(int kind) {
  thread& t = caller();
  if ((kind != 1 && kind != 2) || t.mastering != 0 || t.at.level != 0)
    return -1;
  dismiss_crews(t);
  release_pinned(t);
  return 0;
}

} // namespace

OMP_EXPORT int omp_pause_resource(int kind, int device) {
  return device == 0 || device == -1 ? pause_here(kind) : -1;
}
OMP_EXPORT int omp_pause_resource_all(int kind) {
  return pause_here(kind);
}
