// SPDX-License-Identifier: MIT
// OMP_DISPLAY_ENV and omp_display_env(): what the environment has set, in libgomp's form.
#include "front/openmp/engine.hpp"
#include "front/openmp/environment.hpp"
#include "front/openmp/gomp/abi.hpp"
#include "front/openmp/places.hpp"

#include <cstdio>
#include <cstdlib>
#include <strings.h>

namespace weft::openmp {
namespace {

const char* name_of(binding b) noexcept {
  constexpr const char* names[] = {"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"};
  return names[static_cast<unsigned>(b)];
}

const char* name_of(bool b) noexcept {
  return b ? "TRUE" : "FALSE";
}

void print(const char* name, const char* value) {
  std::fprintf(stderr, "  %s = '%s'\n", name, value);
}
void print(const char* name, unsigned long value) {
  std::fprintf(stderr, "  %s = '%lu'\n", name, value);
}

template <class List, class Print>
void print_list(const char* name, const List& list, Print one) {
  std::fprintf(stderr, "  %s = '", name);
  const char* between = "";
  for (const auto& value : list) {
    std::fputs(between, stderr);
    one(value);
    between = ",";
  }
  std::fputs("'\n", stderr);
}

void print_schedule(const icvs& icv) {
  constexpr const char* names[] = {"", "STATIC", "DYNAMIC", "GUIDED", "AUTO"};
  const bool is_static = icv.run_schedule == schedule::fixed;
  const char* mark = "";
  if (icv.monotonic && !is_static)
    mark = "MONOTONIC:";
  else if (!icv.monotonic && is_static)
    mark = "NONMONOTONIC:";
  std::fprintf(stderr, "  OMP_SCHEDULE = '%s%s", mark, names[static_cast<unsigned>(icv.run_schedule)]);
  if (icv.chunk > (is_static ? 0 : 1))
    std::fprintf(stderr, ",%llu", static_cast<unsigned long long>(icv.chunk));
  std::fputs("'\n", stderr);
}

void print_places() {
  print_list("OMP_PLACES", places(), [](const place& p) {
    std::fputc('{', stderr);
    for (std::size_t i = 0; i < p.size(); ++i)
      std::fprintf(stderr, "%s%d", i != 0 ? "," : "", p[i]);
    std::fputc('}', stderr);
  });
}

void print_threads(const settings& s) {
  const std::vector<unsigned> one{s.first.threads};
  print_list("OMP_NUM_THREADS", s.threads.empty() ? one : s.threads,
             [](unsigned n) { std::fprintf(stderr, "%u", n); });
}

void print_bindings(const settings& s) {
  const std::vector<binding> one{s.first.bind};
  print_list("OMP_PROC_BIND", s.bindings.empty() ? one : s.bindings,
             [](binding b) { std::fputs(name_of(b), stderr); });
}

void print_verbose(const settings& s) {
  print("GOMP_CPU_AFFINITY", "");
  print("GOMP_STACKSIZE", stack_bytes());
  if (s.spins >= 0)
    print("GOMP_SPINCOUNT", static_cast<unsigned long>(s.spins));
  else
    print("GOMP_SPINCOUNT", "");
}

} // namespace

void display_environment(bool verbose) {
  const settings& s = process();
  std::fputs("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n", stderr);
  print("_OPENMP", "201511");
  print("OMP_DYNAMIC", name_of(s.first.dynamic));
  print("OMP_NESTED", name_of(s.first.max_active_levels > 1));
  print_threads(s);
  print_schedule(s.first);
  print_bindings(s);
  print_places();
  print("OMP_STACKSIZE", stack_bytes());
  print("OMP_WAIT_POLICY", s.policy == wait_policy::active ? "ACTIVE" : "PASSIVE");
  print("OMP_THREAD_LIMIT", s.first.thread_limit);
  print("OMP_MAX_ACTIVE_LEVELS", s.first.max_active_levels);
  print("OMP_NUM_TEAMS", s.teams);
  print("OMP_TEAMS_THREAD_LIMIT", s.teams_thread_limit);
  print("OMP_CANCELLATION", name_of(s.cancellation));
  print("OMP_DEFAULT_DEVICE", static_cast<unsigned long>(s.first.default_device));
  print("OMP_MAX_TASK_PRIORITY", static_cast<unsigned long>(s.max_task_priority));
  print("OMP_DISPLAY_AFFINITY", name_of(s.display_affinity));
  print("OMP_AFFINITY_FORMAT", s.affinity_format.c_str());
  print("OMP_ALLOCATOR", allocator_name(s.first.allocator));
  constexpr const char* offload[] = {"DISABLED", "DEFAULT", "MANDATORY"};
  print("OMP_TARGET_OFFLOAD", offload[static_cast<unsigned>(s.offload)]);
  if (verbose)
    print_verbose(s);
  std::fputs("OPENMP DISPLAY ENVIRONMENT END\n", stderr);
}

void display_environment_if_asked() {
  const char* const asked = std::getenv("OMP_DISPLAY_ENV");
  if (asked == nullptr)
    return;
  if (strcasecmp(asked, "verbose") == 0)
    display_environment(true);
  else if (strcasecmp(asked, "true") == 0 || strcasecmp(asked, "1") == 0)
    display_environment(false);
  else if (strcasecmp(asked, "false") != 0 && strcasecmp(asked, "0") != 0)
    std::fprintf(stderr, "\nlibgomp: Invalid value for environment variable OMP_DISPLAY_ENV\n");
}

namespace {

[[gnu::constructor]] void when_loaded() {
  display_environment_if_asked();
}

} // namespace
} // namespace weft::openmp

OMP_EXPORT void omp_display_env(int verbose) {
  weft::openmp::display_environment(verbose != 0);
}
