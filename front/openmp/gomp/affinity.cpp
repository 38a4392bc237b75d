// SPDX-License-Identifier: MIT
// Places as programs ask for them, and how a thread's affinity is printed.
#include "front/openmp/gomp/abi.hpp"
#include "front/openmp/gomp/functions.hpp"
#include "front/openmp/places.hpp"
#include "weft/door/process.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

using namespace weft::openmp;
using namespace weft::openmp::gomp;

namespace {

const place* place_of(int number) {
  const auto& all = places();
  return number >= 0 && static_cast<std::size_t>(number) < all.size() ? &all[static_cast<std::size_t>(number)]
                                                                      : nullptr;
}

} // namespace

OMP_EXPORT int omp_get_num_places() {
  return static_cast<int>(places().size());
}
OMP_EXPORT int omp_get_place_num() {
  return places().empty() ? -1 : static_cast<int>(caller().at.place) - 1;
}
OMP_EXPORT int omp_get_place_num_procs(int number) {
  const place* const p = place_of(number);
  return p != nullptr ? static_cast<int>(p->size()) : 0;
}
OMP_EXPORT void omp_get_place_proc_ids(int number, int* ids) {
  if (const place* const p = place_of(number))
    std::copy(p->begin(), p->end(), ids);
}
OMP_EXPORT int omp_get_partition_num_places() {
  return places().empty() ? 0 : static_cast<int>(caller().at.place_count);
}
OMP_EXPORT void omp_get_partition_place_nums(int* numbers) {
  if (places().empty())
    return;
  const position& p = caller().at;
  for (unsigned i = 0; i < p.place_count; ++i)
    numbers[i] = static_cast<int>(p.first_place + i);
}

// --- formats: % [0] [.] [width] letter, or {long name} ---

namespace {

struct form {
  bool zeros = false;
  bool to_the_right = false;
  std::size_t width = 0;
};

// With zeros in front, or spaces on either side.
std::string fill(std::string value, const form& f, bool is_number) {
  if (value.size() >= f.width)
    return value;
  const std::size_t missing = f.width - value.size();
  if (!f.to_the_right)
    return value + std::string(missing, ' ');
  if (!f.zeros || !is_number)
    return std::string(missing, ' ') + value;
  const std::size_t sign = value[0] == '-' ? 1 : 0;
  return value.insert(sign, missing, '0');
}

std::string cpus_as_text(const place& cpus) {
  std::string out;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1)
      ++last;
    out += (out.empty() ? "" : ",") + std::to_string(cpus[i]);
    if (last != i)
      out += "-" + std::to_string(cpus[last]);
    i = last + 1;
  }
  return out;
}

std::string affinity_of(const thread& t) {
  if (t.at.place != 0)
    return cpus_as_text(places()[t.at.place - 1]);
  place cpus;
  static_cast<void>(weft::door::cpus_here(cpus));
  return cpus_as_text(cpus);
}

std::string host() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

struct field_name {
  char letter;
  const char* name;
};
constexpr field_name field_names[] = {{'t', "team_num"},        {'T', "num_teams"},   {'L', "nesting_level"},
                                      {'n', "thread_num"},      {'N', "num_threads"}, {'a', "ancestor_tnum"},
                                      {'A', "thread_affinity"}, {'H', "host"},        {'P', "process_id"},
                                      {'i', "native_thread_id"}};

bool is_text(char letter) noexcept {
  return letter == 'A' || letter == 'H';
}

std::string value_of(const thread& t, char letter) {
  switch (letter) {
  case 't':
    return std::to_string(t.league.number);
  case 'T':
    return std::to_string(t.league.size);
  case 'L':
    return std::to_string(t.at.level);
  case 'n':
    return std::to_string(t.at.number);
  case 'N':
    return std::to_string(t.at.team->size);
  case 'a':
    return std::to_string(t.at.level == 0 ? -1 : static_cast<int>(t.at.team->outer.number));
  case 'A':
    return affinity_of(t);
  case 'H':
    return host();
  case 'P':
    return std::to_string(::getpid());
  default:
    return std::to_string(::gettid());
  }
}

// The letter of a field that begins at `at`, which stands behind it then; 0: there is none of that name.
char take_field(const char*& at) {
  if (*at != '{') {
    for (const field_name& f : field_names) {
      if (f.letter == *at)
        return *at++;
    }
    return 0;
  }
  const char* const end = std::strchr(at, '}');
  for (const field_name& f : field_names) {
    const std::size_t n = std::strlen(f.name);
    if (end != nullptr && static_cast<std::size_t>(end - at) == n + 1 &&
        std::strncmp(at + 1, f.name, n) == 0) {
      at = end + 1;
      return f.letter;
    }
  }
  return 0;
}

// Behind a field that is none.
void pass_field(const char*& at) {
  const char* const end = *at == '{' ? std::strchr(at, '}') : nullptr;
  at = end != nullptr ? end + 1 : *at != '\0' ? at + 1 : at;
}

std::string expand(const thread& t, const char* format, bool of_llvm) {
  std::string out;
  for (const char* at = format; *at != '\0';) {
    if (*at != '%') {
      out += *at++;
      continue;
    }
    if (*++at == '%') {
      out += *at++;
      continue;
    }
    form f;
    if (*at == '0') {
      f.zeros = true;
      if (*++at != '.' && !of_llvm)
        fatal("leading zero not followed by dot in affinity format");
    }
    if (*at == '.') {
      f.to_the_right = true;
      ++at;
    }
    while (std::isdigit(static_cast<unsigned char>(*at)) != 0)
      f.width = f.width * 10 + static_cast<std::size_t>(*at++ - '0');
    const char letter = take_field(at);
    if (letter == 0) {
      if (!of_llvm)
        fatal("unsupported type in affinity format");
      pass_field(at);
    }
    out += fill(letter != 0 ? value_of(t, letter) : "undefined", f, letter != 0 && !is_text(letter));
  }
  return out;
}

// As much as there is room for, and an end; returns how long it is.
std::size_t copy_out(const std::string& text, char* buffer, std::size_t bytes) {
  if (bytes != 0) {
    const std::size_t n = std::min(text.size(), bytes - 1);
    std::memcpy(buffer, text.data(), n);
    buffer[n] = '\0';
  }
  return text.size();
}

const char* format_of_process(bool of_llvm) {
  const settings& s = process();
  return of_llvm && !s.affinity_format_given ? "OMP: pid %P tid %i thread %n bound to OS proc set {%A}"
                                             : s.affinity_format.c_str();
}

std::string expand_for_caller(const char* format, bool of_llvm) {
  const bool is_default = format == nullptr || *format == '\0';
  return expand(caller(), is_default ? format_of_process(of_llvm) : format, of_llvm);
}

// One piece for each line, as several threads print.
void print_line(std::string text, bool of_llvm) {
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), of_llvm ? stdout : stderr);
}

} // namespace

namespace weft::openmp {

void show_affinity(thread& t, bool of_llvm) {
  print_line(expand(t, format_of_process(of_llvm), of_llvm), of_llvm);
}
void display_affinity(const char* format, bool of_llvm) {
  print_line(expand_for_caller(format, of_llvm), of_llvm);
}
std::size_t capture_affinity(char* buffer, std::size_t bytes, const char* format, bool of_llvm) {
  return copy_out(expand_for_caller(format, of_llvm), buffer, bytes);
}
std::size_t affinity_format(char* buffer, std::size_t bytes, bool of_llvm) {
  return copy_out(format_of_process(of_llvm), buffer, bytes);
}

} // namespace weft::openmp

OMP_EXPORT void omp_set_affinity_format(const char* format) {
  process().affinity_format = format;
  process().affinity_format_given = true;
}
OMP_EXPORT std::size_t omp_get_affinity_format(char* buffer, std::size_t bytes) {
  return affinity_format(buffer, bytes, false);
}
OMP_EXPORT std::size_t omp_capture_affinity(char* buffer, std::size_t bytes, const char* format) {
  return capture_affinity(buffer, bytes, format, false);
}
OMP_EXPORT void omp_display_affinity(const char* format) {
  display_affinity(format, false);
}
