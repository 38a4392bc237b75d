// SPDX-License-Identifier: MIT
// What OMP_..., GOMP_... and KMP_... variables say. A value that is none is named and ignored, as libgomp
// does.
#include "front/openmp/icv.hpp"

#include "front/openmp/crew.hpp"
#include "front/openmp/environment.hpp"
#include "front/openmp/kmp_affinity.hpp"
#include "front/openmp/places.hpp"
#include "front/openmp/text_reader.hpp"
#include "weft/door/process.hpp"

#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <strings.h>
#include <utility>
#include <vector>

namespace weft::openmp {
namespace {

bool is_end(const char* s) noexcept {
  return *skip_spaces(s) == '\0';
}

// Where variables are read: the environment, or a program's own "NAME=value|NAME=value".
class source {
 public:
  source() = default;
  source(const char* text, bool complains) : is_given_(true), complains_(complains) {
    while (*text != '\0') {
      const std::size_t n = std::strcspn(text, "|");
      const std::string_view both(text, n);
      if (const std::size_t at = both.find('='); at != std::string_view::npos)
        given_.emplace_back(both.substr(0, at), both.substr(at + 1));
      text += n + (text[n] == '|' ? 1 : 0);
    }
  }
  [[nodiscard]] const char* get(const char* name) const noexcept {
    if (!is_given_)
      return std::getenv(name);
    for (const auto& [known, value] : given_) {
      if (known == name)
        return value.c_str();
    }
    return nullptr;
  }
  void refuse(const char* name, const char* value) const noexcept {
    if (complains_)
      std::fprintf(stderr, "\nlibgomp: Invalid value for environment variable %s: %s\n", name, value);
  }

 private:
  bool is_given_ = false;
  bool complains_ = true;
  std::vector<std::pair<std::string, std::string>> given_;
};

// Reads a variable by `read(text)`; false: it is named.
template <class Read>
void read_variable(const source& from, const char* name, Read read) {
  const char* const text = from.get(name);
  if (text != nullptr && !read(text))
    from.refuse(name, text);
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
void read_number(const source& from, const char* name, unsigned long least, unsigned long most, T& out) {
  read_variable(from, name, [&](const char* s) {
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
    out.schedule_given = true;
    out.monotonic_given = monotonic;
    out.monotonic = monotonic || (w.kind == schedule::fixed && !nonmonotonic);
    return true;
  }
  return false;
}

// `shift`: of the unit of a number alone.
bool read_size(const char* s, std::size_t& out, unsigned shift = 10) noexcept {
  unsigned long n = 0;
  if (!take_number(s, n))
    return false;
  s = skip_spaces(s);
  switch (std::tolower(static_cast<unsigned char>(*s))) {
  case 'b':
    shift = 0;
    ++s;
    break;
  case 'k':
    shift = 10;
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

// "200", "200ms", "50us", "infinite".
bool read_block_time(const char* s, std::int64_t& us) noexcept {
  std::int64_t read = INT64_MAX;
  if (!take_word(s, "infinite") && !take_word(s, "infinity")) {
    unsigned long n = 0;
    if (!take_number(s, n) || n > INT_MAX)
      return false;
    const bool in_us = take_word(s, "us");
    if (!in_us)
      static_cast<void>(take_word(s, "ms"));
    read = static_cast<std::int64_t>(n) * (in_us ? 1 : 1000);
  }
  if (!is_end(s))
    return false;
  us = read;
  return true;
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

// What is none of these is the default, as the others have it.
bool read_offload(const char* s, offloading& out) noexcept {
  out = offloading::by_default;
  if (take_word(s, "disabled"))
    out = offloading::disabled;
  else if (take_word(s, "mandatory"))
    out = offloading::mandatory;
  else if (!take_word(s, "default"))
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

void read_levels(const source& from, settings& p) {
  bool nested = false;
  bool nested_given = false;
  read_variable(from, "OMP_NESTED", [&](const char* s) { return nested_given = read_boolean(s, nested); });
  bool levels_given = false;
  read_variable(from, "OMP_MAX_ACTIVE_LEVELS", [&](const char* s) {
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

// Where OMP_PROC_BIND and OMP_PLACES say nothing.
bool read_kmp_affinity_into(settings& p, const char* text) {
  kmp_affinity wanted;
  if (!read_kmp_affinity(text, wanted))
    return false;
  p.display_affinity = p.display_affinity || wanted.verbose;
  if (wanted.order == kmp_affinity::type::none)
    return true;
  p.kmp_places = places_of(wanted);
  p.bindings = {binding::close};
  p.first.bind = binding::close;
  return true;
}

void read_binding_and_places(const source& from, settings& p) {
  bool given = false;
  read_variable(from, "OMP_PROC_BIND", [&](const char* s) { return given = read_bindings(s, p.bindings); });
  p.places_given =
      p.places_given || from.get("OMP_PLACES") != nullptr || from.get("GOMP_CPU_AFFINITY") != nullptr;
  if (given)
    p.first.bind = p.bindings[0];
  else if (p.places_given)
    p.first.bind = binding::on;
  else
    read_variable(from, "KMP_AFFINITY", [&](const char* s) { return read_kmp_affinity_into(p, s); });
}

void read_rest(const source& from, settings& p) {
  read_variable(from, "OMP_SCHEDULE", [&](const char* s) { return read_schedule(s, p.first); });
  read_variable(from, "OMP_DYNAMIC", [&](const char* s) { return read_boolean(s, p.first.dynamic); });
  read_variable(from, "OMP_CANCELLATION", [&](const char* s) { return read_boolean(s, p.cancellation); });
  read_variable(from, "OMP_DISPLAY_AFFINITY",
                [&](const char* s) { return read_boolean(s, p.display_affinity); });
  read_number(from, "OMP_DEFAULT_DEVICE", 0, INT_MAX, p.first.default_device);
  read_number(from, "OMP_MAX_TASK_PRIORITY", 0, INT_MAX, p.max_task_priority);
  read_number(from, "OMP_THREAD_LIMIT", 1, INT_MAX, p.first.thread_limit);
  read_number(from, "OMP_NUM_TEAMS", 1, INT_MAX, p.teams);
  read_number(from, "OMP_TEAMS_THREAD_LIMIT", 1, INT_MAX, p.teams_thread_limit);
  const char* const stack = from.get("OMP_STACKSIZE") != nullptr ? "OMP_STACKSIZE" : "GOMP_STACKSIZE";
  read_variable(from, stack, [&](const char* s) { return read_size(s, p.stack_size); });
  if (from.get(stack) == nullptr) {
    read_variable(from, "KMP_STACKSIZE", [&](const char* s) { return read_size(s, p.stack_size, 0); });
  }
  read_variable(from, "KMP_BLOCKTIME", [&](const char* s) { return read_block_time(s, p.block_time_us); });
  read_variable(from, "OMP_WAIT_POLICY", [&](const char* s) { return read_policy(s, p.policy); });
  read_variable(from, "GOMP_SPINCOUNT", [&](const char* s) { return read_spins(s, p.spins); });
  read_variable(from, "OMP_ALLOCATOR", [&](const char* s) { return read_allocator(s, p.first.allocator); });
  read_variable(from, "OMP_TARGET_OFFLOAD", [&](const char* s) { return read_offload(s, p.offload); });
  if (const char* format = from.get("OMP_AFFINITY_FORMAT"))
    p.affinity_format = format;
  p.affinity_format_given = p.affinity_format_given || from.get("OMP_AFFINITY_FORMAT") != nullptr;
  read_variable(from, "KMP_ENABLE_TASK_THROTTLING", [&](const char* s) {
    unsigned long n = 0;
    if (read_boolean(s, p.throttles))
      return true;
    const bool is_number = read_whole(s, 0, 1, n);
    if (is_number)
      p.throttles = n != 0;
    return is_number;
  });
}

// Some 0.2 ms, unless the user says otherwise.
constexpr std::uint32_t looks_by_default = 10'000;
constexpr std::uint32_t looks_for_ever = ~0U;

constexpr std::uint32_t looks_in_us = looks_by_default / 200;

std::uint32_t looks_of(const settings& s) noexcept {
  if (s.spins >= 0)
    return s.spins > looks_for_ever ? looks_for_ever : static_cast<std::uint32_t>(s.spins);
  if (s.block_time_us >= 0) {
    const bool is_long = s.block_time_us >= looks_for_ever / looks_in_us;
    return is_long ? looks_for_ever : static_cast<std::uint32_t>(s.block_time_us) * looks_in_us;
  }
  if (s.policy == wait_policy::passive)
    return 0;
  return s.policy == wait_policy::active ? looks_for_ever : looks_by_default;
}

void read_all(const source& from, settings& p) {
  read_variable(from, "OMP_NUM_THREADS", [&](const char* s) {
    if (!read_threads(s, p.threads))
      return false;
    p.first.threads = p.threads[0];
    return true;
  });
  read_binding_and_places(from, p);
  read_levels(from, p);
  read_rest(from, p);
}

struct read_settings : settings {
  read_settings() {
    first.threads = processors();
    read_all({}, *this);
    looks = looks_of(*this);
  }
};

constexpr std::uint32_t looks_in_ms = looks_in_us * 1000;

} // namespace

void read_settings_from(const char* text, icvs& callers) {
  settings& all = process();
  settings of_caller = all;
  of_caller.first = callers;
  read_all({text, false}, of_caller);
  callers = of_caller.first;
  const std::uint32_t looks = looks_of(all);
  read_all({text, true}, all);
  if (looks_of(all) != looks)
    all.looks = looks_of(all);
}

void set_block_time(int ms) noexcept {
  constexpr std::uint32_t most = (looks_for_ever - 1) / looks_in_ms;
  const auto n = static_cast<std::uint32_t>(ms);
  process().looks = n > most ? looks_for_ever : n * looks_in_ms;
}

int block_time() noexcept {
  const std::uint32_t looks = process().looks;
  return looks == looks_for_ever ? INT_MAX : static_cast<int>(looks / looks_in_ms);
}

settings& process() noexcept {
  return door::immortal<read_settings>();
}

const char* allocator_name(std::uintptr_t number) noexcept {
  return number >= 1 && number <= std::size(allocators) ? allocators[number - 1] : "omp_null_allocator";
}

} // namespace weft::openmp
