// SPDX-License-Identifier: MIT
// What OMP_... and GOMP_... variables say. A value that is none is named and ignored, as libgomp does.
#include "front/openmp/icv.hpp"

#include "front/openmp/crew.hpp"
#include "front/openmp/environment.hpp"
#include "front/openmp/places.hpp"
#include "weft/door/process.hpp"

#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <strings.h>

namespace weft::openmp {
namespace {

const char* skip_spaces(const char* s) noexcept {
  while (std::isspace(static_cast<unsigned char>(*s)) != 0)
    ++s;
  return s;
}

bool is_end(const char* s) noexcept {
  return *skip_spaces(s) == '\0';
}

// A word without regard to case; `s` stands behind it then.
bool take_word(const char*& s, const char* word) noexcept {
  const char* const from = skip_spaces(s);
  const std::size_t n = std::strlen(word);
  if (strncasecmp(from, word, n) != 0 || std::isalnum(static_cast<unsigned char>(from[n])) != 0 ||
      from[n] == '_')
    return false;
  s = from + n;
  return true;
}

bool take_number(const char*& s, unsigned long& n) noexcept {
  const char* const from = skip_spaces(s);
  if (std::isdigit(static_cast<unsigned char>(*from)) == 0)
    return false;
  char* end = nullptr;
  errno = 0;
  n = std::strtoul(from, &end, 10);
  if (errno != 0)
    return false;
  s = end;
  return true;
}

void refuse(const char* name, const char* value) noexcept {
  std::fprintf(stderr, "\nlibgomp: Invalid value for environment variable %s: %s\n", name, value);
}

// Reads a variable by `read(text)`; false: it is named.
template <class Read>
void read_variable(const char* name, Read read) {
  const char* const text = std::getenv(name);
  if (text != nullptr && !read(text))
    refuse(name, text);
}

bool read_boolean(const char* s, bool& out) noexcept {
  for (const bool value : {true, false}) {
    const char* at = s;
    if (take_word(at, value ? "true" : "false") && is_end(at)) {
      out = value;
      return true;
    }
  }
  return false;
}

bool read_whole(const char* s, unsigned long least, unsigned long most, unsigned long& out) noexcept {
  unsigned long n = 0;
  if (!take_number(s, n) || !is_end(s) || n < least || n > most)
    return false;
  out = n;
  return true;
}

template <class T>
void read_number(const char* name, unsigned long least, unsigned long most, T& out) {
  read_variable(name, [&](const char* s) {
    unsigned long n = 0;
    if (!read_whole(s, least, most, n))
      return false;
    out = static_cast<T>(n);
    return true;
  });
}

bool read_threads(const char* s, std::vector<unsigned>& out) {
  std::vector<unsigned> list;
  for (;;) {
    unsigned long n = 0;
    if (!take_number(s, n) || n == 0 || n > INT_MAX)
      return false;
    list.push_back(static_cast<unsigned>(n));
    s = skip_spaces(s);
    if (*s == '\0')
      break;
    if (*s++ != ',')
      return false;
  }
  out = std::move(list);
  return true;
}

bool take_binding(const char*& s, binding& out) noexcept {
  constexpr struct {
    const char* word;
    binding value;
  } words[] = {{"false", binding::off},       {"true", binding::on},     {"master", binding::primary},
               {"primary", binding::primary}, {"close", binding::close}, {"spread", binding::spread}};
  for (const auto& w : words) {
    if (take_word(s, w.word)) {
      out = w.value;
      return true;
    }
  }
  return false;
}

bool read_bindings(const char* s, std::vector<binding>& out) {
  std::vector<binding> list;
  for (;;) {
    binding b{};
    if (!take_binding(s, b))
      return false;
    list.push_back(b);
    s = skip_spaces(s);
    if (*s == '\0')
      break;
    if (*s++ != ',' || list[0] == binding::off || list[0] == binding::on)
      return false;
  }
  out = std::move(list);
  return true;
}

// [modifier:]kind[,chunk]
bool read_schedule(const char* s, icvs& out) noexcept {
  bool monotonic = false;
  bool nonmonotonic = false;
  if (take_word(s, "monotonic"))
    monotonic = true;
  else if (take_word(s, "nonmonotonic"))
    nonmonotonic = true;
  if (monotonic || nonmonotonic) {
    s = skip_spaces(s);
    if (*s++ != ':')
      return false;
  }
  constexpr struct {
    const char* word;
    schedule kind;
  } words[] = {{"static", schedule::fixed},
               {"dynamic", schedule::dynamic},
               {"guided", schedule::guided},
               {"auto", schedule::automatic}};
  for (const auto& w : words) {
    if (!take_word(s, w.word))
      continue;
    unsigned long n = w.kind == schedule::fixed ? 0 : 1;
    s = skip_spaces(s);
    if (*s == ',') {
      ++s;
      if (!take_number(s, n) || n > INT_MAX)
        return false;
      if (n == 0 && w.kind != schedule::fixed)
        n = 1;
    }
    if (!is_end(s))
      return false;
    out.run_schedule = w.kind;
    out.chunk = n;
    out.monotonic = monotonic || (w.kind == schedule::fixed && !nonmonotonic);
    return true;
  }
  return false;
}

bool read_size(const char* s, std::size_t& out) noexcept {
  unsigned long n = 0;
  if (!take_number(s, n))
    return false;
  s = skip_spaces(s);
  unsigned shift = 10;
  switch (std::tolower(static_cast<unsigned char>(*s))) {
  case 'b':
    shift = 0;
    ++s;
    break;
  case 'k':
    ++s;
    break;
  case 'm':
    shift = 20;
    ++s;
    break;
  case 'g':
    shift = 30;
    ++s;
    break;
  default:
    break;
  }
  if (!is_end(s) || (n << shift) >> shift != n)
    return false;
  out = n << shift;
  return true;
}

bool read_spins(const char* s, std::int64_t& out) noexcept {
  if (take_word(s, "infinite") || take_word(s, "infinity")) {
    out = INT64_MAX;
    return is_end(s);
  }
  unsigned long n = 0;
  if (!take_number(s, n))
    return false;
  constexpr struct {
    char letter;
    unsigned long by;
  } units[] = {{'k', 1'000}, {'m', 1'000'000}, {'g', 1'000'000'000}, {'t', 1'000'000'000'000}};
  s = skip_spaces(s);
  for (const auto& u : units) {
    if (std::tolower(static_cast<unsigned char>(*s)) == u.letter) {
      n *= u.by;
      ++s;
      break;
    }
  }
  out = static_cast<std::int64_t>(n);
  return is_end(s);
}

bool read_policy(const char* s, wait_policy& out) noexcept {
  if (take_word(s, "active"))
    out = wait_policy::active;
  else if (take_word(s, "passive"))
    out = wait_policy::passive;
  else
    return false;
  return is_end(s);
}

constexpr const char* allocators[] = {
    "omp_default_mem_alloc", "omp_large_cap_mem_alloc", "omp_const_mem_alloc", "omp_high_bw_mem_alloc",
    "omp_low_lat_mem_alloc", "omp_cgroup_mem_alloc",    "omp_pteam_mem_alloc", "omp_thread_mem_alloc"};

bool read_allocator(const char* s, std::uintptr_t& out) noexcept {
  std::uintptr_t number = 1;
  for (const char* name : allocators) {
    if (take_word(s, name)) {
      out = number;
      return is_end(s);
    }
    ++number;
  }
  return false;
}

void read_levels(settings& p) {
  bool nested = false;
  bool nested_given = false;
  read_variable("OMP_NESTED", [&](const char* s) { return nested_given = read_boolean(s, nested); });
  bool levels_given = false;
  read_variable("OMP_MAX_ACTIVE_LEVELS", [&](const char* s) {
    unsigned long n = 0;
    if (!read_whole(s, 0, INT_MAX, n))
      return false;
    p.first.max_active_levels =
        static_cast<unsigned>(n < supported_active_levels ? n : supported_active_levels);
    return levels_given = true;
  });
  if (levels_given)
    return;
  if (nested_given)
    p.first.max_active_levels = nested ? supported_active_levels : 1;
  else if (p.threads.size() > 1 || p.bindings.size() > 1)
    p.first.max_active_levels = supported_active_levels;
}

void read_binding_and_places(settings& p) {
  bool given = false;
  read_variable("OMP_PROC_BIND", [&](const char* s) { return given = read_bindings(s, p.bindings); });
  p.places_given = std::getenv("OMP_PLACES") != nullptr || std::getenv("GOMP_CPU_AFFINITY") != nullptr;
  if (given)
    p.first.bind = p.bindings[0];
  else if (p.places_given)
    p.first.bind = binding::on;
}

void read_rest(settings& p) {
  read_variable("OMP_SCHEDULE", [&](const char* s) { return read_schedule(s, p.first); });
  read_variable("OMP_DYNAMIC", [&](const char* s) { return read_boolean(s, p.first.dynamic); });
  read_variable("OMP_CANCELLATION", [&](const char* s) { return read_boolean(s, p.cancellation); });
  read_variable("OMP_DISPLAY_AFFINITY", [&](const char* s) { return read_boolean(s, p.display_affinity); });
  read_number("OMP_DEFAULT_DEVICE", 0, INT_MAX, p.first.default_device);
  read_number("OMP_MAX_TASK_PRIORITY", 0, INT_MAX, p.max_task_priority);
  read_number("OMP_THREAD_LIMIT", 1, INT_MAX, p.first.thread_limit);
  read_number("OMP_NUM_TEAMS", 1, INT_MAX, p.teams);
  read_number("OMP_TEAMS_THREAD_LIMIT", 1, INT_MAX, p.teams_thread_limit);
  const char* const stack = std::getenv("OMP_STACKSIZE") != nullptr ? "OMP_STACKSIZE" : "GOMP_STACKSIZE";
  read_variable(stack, [&](const char* s) { return read_size(s, p.stack_size); });
  read_variable("OMP_WAIT_POLICY", [&](const char* s) { return read_policy(s, p.policy); });
  read_variable("GOMP_SPINCOUNT", [&](const char* s) { return read_spins(s, p.spins); });
  read_variable("OMP_ALLOCATOR", [&](const char* s) { return read_allocator(s, p.first.allocator); });
  if (const char* format = std::getenv("OMP_AFFINITY_FORMAT"))
    p.affinity_format = format;
}

// Some 0.2 ms, unless the user says otherwise.
constexpr std::uint32_t looks_by_default = 10'000;
constexpr std::uint32_t looks_for_ever = ~0U;

std::uint32_t looks_of(const settings& s) noexcept {
  if (s.spins >= 0)
    return s.spins > looks_for_ever ? looks_for_ever : static_cast<std::uint32_t>(s.spins);
  if (s.policy == wait_policy::passive)
    return 0;
  return s.policy == wait_policy::active ? looks_for_ever : looks_by_default;
}

struct read_settings : settings {
  read_settings() {
    read_variable("OMP_NUM_THREADS", [&](const char* s) { return read_threads(s, threads); });
    first.threads = threads.empty() ? processors() : threads[0];
    read_binding_and_places(*this);
    read_levels(*this);
    read_rest(*this);
    looks = looks_of(*this);
  }
};

} // namespace

settings& process() noexcept {
  return door::immortal<read_settings>();
}

const char* allocator_name(std::uintptr_t number) noexcept {
  return number >= 1 && number <= std::size(allocators) ? allocators[number - 1] : "omp_null_allocator";
}

} // namespace weft::openmp
