// SPDX-License-Identifier: MIT
#include "front/openmp/places.hpp"

#include "front/openmp/team.hpp"
#include "front/openmp/text_reader.hpp"
#include "weft/door/process.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <strings.h>
#include <unistd.h>

namespace weft::openmp {
namespace {

std::vector<int> cpus_of_process() {
  std::vector<int> cpus;
  static_cast<void>(door::cpus_here(cpus));
  return cpus;
}

// "0-3,8" as the kernel writes it.
place read_list(const char* path) {
  place out;
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr)
    return out;
  int first = 0;
  while (std::fscanf(file, "%d", &first) == 1) {
    int last = first;
    int mark = std::fgetc(file);
    if (mark == '-') {
      if (std::fscanf(file, "%d", &last) != 1)
        break;
      mark = std::fgetc(file);
    }
    for (int cpu = first; cpu <= last; ++cpu)
      out.push_back(cpu);
    if (mark != ',')
      break;
  }
  std::fclose(file);
  return out;
}

} // namespace

std::vector<place> places_by(const char* what) {
  const std::vector<int> allowed = cpus_of_process();
  std::vector<place> out;
  for (const int cpu : allowed) {
    place p;
    if (what != nullptr) {
      char path[128];
      std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, what);
      for (const int other : read_list(path)) {
        if (std::binary_search(allowed.begin(), allowed.end(), other))
          p.push_back(other);
      }
    }
    if (p.empty())
      p.push_back(cpu);
    if (std::find(out.begin(), out.end(), p) == out.end())
      out.push_back(std::move(p));
  }
  return out;
}

namespace {

// Reads OMP_PLACES' grammar: a list of places or intervals of them, each {cpus} or a number, with ! to leave
// one out.
class reader : text_reader {
 public:
  explicit reader(const char* text) : text_reader(text) {}

  bool read(std::vector<place>& out) {
    for (;;) {
      const bool left_out = take('!');
      place p;
      if (!read_place(p))
        return false;
      if (left_out) {
        std::erase(out, p);
      } else if (!add_interval(p, out)) {
        return false;
      }
      if (skip() == '\0')
        return true;
      if (!take(','))
        return false;
    }
  }

 private:
  bool number(long& n, bool may_be_negative) {
    skip();
    if (std::isdigit(static_cast<unsigned char>(*at_)) == 0 &&
        !(may_be_negative && (*at_ == '-' || *at_ == '+')))
      return false;
    char* end = nullptr;
    n = std::strtol(at_, &end, 10);
    const bool some = end != at_;
    at_ = end;
    return some;
  }
  // :length[:stride]
  bool interval(long& length, long& stride) {
    length = 1;
    stride = 1;
    if (!take(':'))
      return true;
    if (!number(length, false) || length < 1)
      return false;
    return !take(':') || number(stride, true);
  }
  bool read_place(place& p) {
    if (!take('{')) {
      long cpu = 0;
      if (!number(cpu, false))
        return false;
      p.push_back(static_cast<int>(cpu));
      return true;
    }
    do {
      const bool left_out = take('!');
      long cpu = 0;
      long length = 1;
      long stride = 1;
      if (!number(cpu, false) || !interval(length, stride))
        return false;
      for (long i = 0; i < length; ++i) {
        const int n = static_cast<int>(cpu + i * stride);
        left_out ? static_cast<void>(std::erase(p, n)) : p.push_back(n);
      }
    } while (take(','));
    std::sort(p.begin(), p.end());
    p.erase(std::unique(p.begin(), p.end()), p.end());
    return take('}');
  }
  bool add_interval(const place& p, std::vector<place>& out) {
    long length = 1;
    long stride = 1;
    if (!interval(length, stride))
      return false;
    for (long i = 0; i < length; ++i) {
      place moved = p;
      for (int& cpu : moved)
        cpu += static_cast<int>(i * stride);
      out.push_back(std::move(moved));
    }
    return true;
  }
};

bool read_abstract(const char* text, std::vector<place>& out) {
  constexpr struct {
    const char* name;
    const char* file;
  } kinds[] = {{"threads", nullptr},
               {"cores", "topology/thread_siblings_list"},
               {"sockets", "topology/core_siblings_list"},
               {"ll_caches", "cache/index3/shared_cpu_list"},
               {"numa_domains", "topology/core_siblings_list"}};
  while (std::isspace(static_cast<unsigned char>(*text)) != 0)
    ++text;
  for (const auto& k : kinds) {
    const std::size_t n = std::strlen(k.name);
    if (strncasecmp(text, k.name, n) != 0)
      continue;
    out = places_by(k.file);
    const char* at = text + n;
    unsigned most = 0;
    int read = 0;
    if (std::sscanf(at, " ( %u )%n", &most, &read) == 1 && read != 0) {
      at += read;
      if (most == 0)
        return false;
      if (most < out.size())
        out.resize(most);
    }
    while (std::isspace(static_cast<unsigned char>(*at)) != 0)
      ++at;
    return *at == '\0';
  }
  return false;
}

// GOMP_CPU_AFFINITY: "0-3 5 7-9:2", a place each.
bool read_cpu_list(const char* text, std::vector<place>& out) {
  for (const char* at = text; *at != '\0';) {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    if (end == at)
      return false;
    long last = first;
    long stride = 1;
    if (*end == '-')
      last = std::strtol(end + 1, &end, 10);
    if (*end == ':')
      stride = std::strtol(end + 1, &end, 10);
    if (last < first || stride < 1)
      return false;
    for (long cpu = first; cpu <= last; cpu += stride)
      out.push_back({static_cast<int>(cpu)});
    at = end;
    while (*at == ' ' || *at == ',')
      ++at;
  }
  return !out.empty();
}

// CPUs that the process may not use are taken out, and places that are empty then.
void keep_allowed(std::vector<place>& list) {
  const std::vector<int> allowed = cpus_of_process();
  for (place& p : list) {
    std::erase_if(p, [&](int cpu) { return !std::binary_search(allowed.begin(), allowed.end(), cpu); });
  }
  std::erase_if(list, [](const place& p) { return p.empty(); });
}

struct all_places {
  all_places() {
    const char* text = std::getenv("OMP_PLACES");
    const char* const old = std::getenv("GOMP_CPU_AFFINITY");
    bool good = true;
    if (text != nullptr) {
      good = read_places(text, list);
      if (!good)
        std::fprintf(stderr, "\nlibgomp: Invalid value for environment variable OMP_PLACES\n");
    } else if (old != nullptr) {
      good = read_cpu_list(old, list);
      if (!good)
        std::fprintf(stderr, "\nlibgomp: Invalid value for environment variable GOMP_CPU_AFFINITY\n");
    } else {
      list = process().kmp_places;
    }
    if (!good)
      list.clear();
    const bool binds = process().first.bind != binding::off;
    if (list.empty() && binds)
      list = places_by(nullptr);
    if (!binds)
      list.clear();
    keep_allowed(list);
  }
  std::vector<place> list;
};

} // namespace

bool read_places(const char* text, std::vector<place>& out) {
  out.clear();
  return read_abstract(text, out) || (out.clear(), reader(text).read(out));
}

const std::vector<place>& places() noexcept {
  return door::immortal<all_places>().list;
}

void meet_places(thread& t) noexcept {
  const unsigned n = static_cast<unsigned>(places().size());
  t.at.first_place = 0;
  t.at.place_count = n;
  if (n == 0)
    return;
  t.at.place = 1;
  if (::gettid() == ::getpid()) // others go there with their first region
    go_to_place(t);
}

void go_to_place(thread& t) noexcept {
  if (t.at.place == t.bound_to || t.at.place == 0)
    return;
  if (door::keep_on_cpus(::pthread_self(), places()[t.at.place - 1]) == 0)
    t.bound_to = t.at.place;
}

namespace {

// Of `size` members over `count` places: the place that the member has, counted from the first one. The first
// of the places have one member more where there are more members than places.
unsigned group_of(unsigned number, unsigned size, unsigned count) noexcept {
  if (size <= count)
    return number;
  const unsigned each = size / count;
  const unsigned more = size % count;
  const unsigned in_larger = more * (each + 1);
  return number < in_larger ? number / (each + 1) : more + (number - in_larger) / each;
}

} // namespace

void place_member(const team& in, unsigned number, position& p) noexcept {
  const position& outer = in.outer;
  p.place = outer.place;
  p.first_place = outer.first_place;
  p.place_count = outer.place_count;
  if (in.bind == binding::off || outer.place == 0 || outer.place_count == 0)
    return;
  const unsigned count = outer.place_count;
  const unsigned from = outer.place - 1 - outer.first_place; // the master's, in the partition
  switch (in.bind) {
  case binding::primary:
    break;
  case binding::spread: {
    if (in.size <= count) { // a part of the partition each; the master's part is the one around its place
      const auto begin_of = [&](unsigned part) {
        return part * (count / in.size) + std::min(part, count % in.size);
      };
      unsigned mine = 0;
      while (mine + 1 < in.size && begin_of(mine + 1) <= from)
        ++mine;
      const unsigned part = (mine + number) % in.size;
      p.first_place = outer.first_place + begin_of(part);
      p.place_count = begin_of(part + 1) - begin_of(part);
      p.place = number == 0 ? outer.place : p.first_place + 1;
      break;
    }
    p.place = outer.first_place + (from + group_of(number, in.size, count)) % count + 1;
    p.first_place = p.place - 1;
    p.place_count = 1;
    break;
  }
  default:
    p.place = outer.first_place + (from + group_of(number, in.size, count)) % count + 1;
    break;
  }
}

} // namespace weft::openmp
