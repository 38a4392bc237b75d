// SPDX-License-Identifier: MIT
#include "front/openmp/kmp_affinity.hpp"

#include "front/openmp/text_reader.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

namespace weft::openmp {
namespace {

struct word {
  const char* name;
  void (*set)(kmp_affinity&);
};

using type = kmp_affinity::type;
using layer = kmp_affinity::layer;

// Names of later versions of LLVM's for the same stand behind the first.
constexpr word types[] = {
    {"none", [](kmp_affinity& a) { a.order = type::none; }},
    {"disabled", [](kmp_affinity& a) { a.order = type::none; }},
    {"compact", [](kmp_affinity& a) { a.order = type::compact; }},
    {"logical", [](kmp_affinity& a) { a.order = type::compact; }},
    {"scatter", [](kmp_affinity& a) { a.order = type::scatter; }},
    {"physical", [](kmp_affinity& a) { a.order = type::scatter; }},
    {"balanced", [](kmp_affinity& a) { a.order = type::balanced; }},
    {"explicit", [](kmp_affinity& a) { a.order = type::listed; }},
};
// The CPUs that the process may use are respected in any case, and warnings are given.
constexpr word modifiers[] = {
    {"verbose", [](kmp_affinity& a) { a.verbose = true; }},
    {"noverbose", [](kmp_affinity& a) { a.verbose = false; }},
    {"warnings", [](kmp_affinity&) {}},
    {"nowarnings", [](kmp_affinity&) {}},
    {"respect", [](kmp_affinity&) {}},
    {"norespect", [](kmp_affinity&) {}},
    {"reset", [](kmp_affinity&) {}},
    {"noreset", [](kmp_affinity&) {}},
};
constexpr word layers[] = {
    {"fine", [](kmp_affinity& a) { a.granularity = layer::thread; }},
    {"thread", [](kmp_affinity& a) { a.granularity = layer::thread; }},
    {"core", [](kmp_affinity& a) { a.granularity = layer::core; }},
    {"socket", [](kmp_affinity& a) { a.granularity = layer::socket; }},
    {"package", [](kmp_affinity& a) { a.granularity = layer::socket; }},
};

class reader : text_reader {
 public:
  explicit reader(const char* text) : text_reader(text) {}

  bool read(kmp_affinity& out) {
    bool has_type = false;
    unsigned numbers = 0;
    do {
      unsigned n = 0;
      if (has_type && numbers < 2 && number(n)) {
        (numbers++ == 0 ? out.permute : out.offset) = n;
      } else if (take_one_of(types, out)) {
        if (std::exchange(has_type, true))
          return false;
      } else if (!modifier(out)) {
        return false;
      }
    } while (take(','));
    return skip() == '\0' && has_type && (out.order == type::listed) == !out.list.empty();
  }

 private:
  template <std::size_t N>
  bool take_one_of(const word (&words)[N], kmp_affinity& out) {
    for (const word& w : words) {
      if (take_word(at_, w.name)) {
        w.set(out);
        return true;
      }
    }
    return false;
  }
  bool number(unsigned& n) {
    unsigned long all = 0;
    const bool is_one = take_number(at_, all) && all <= INT_MAX;
    n = static_cast<unsigned>(all);
    return is_one;
  }
  bool modifier(kmp_affinity& out) {
    if (take_one_of(modifiers, out))
      return true;
    if (take_word(at_, "granularity") || take_word(at_, "gran"))
      return take('=') && take_one_of(layers, out);
    if (take_word(at_, "proclist"))
      return take('=') && take('[') && list(out.list) && take(']');
    return false;
  }
  // 0,2-8:2,{1,3}: each number is a place, and so is what stands in braces.
  bool list(std::vector<place>& out) {
    do {
      place together;
      if (take('{')) {
        do {
          unsigned n = 0;
          if (!number(n))
            return false;
          together.push_back(static_cast<int>(n));
        } while (take(','));
        if (!take('}'))
          return false;
        std::sort(together.begin(), together.end());
        out.push_back(std::move(together));
      } else if (!range(out)) {
        return false;
      }
    } while (take(','));
    return true;
  }
  bool range(std::vector<place>& out) {
    constexpr unsigned most_cpus = 1U << 16;
    unsigned first = 0;
    if (!number(first))
      return false;
    unsigned last = first;
    unsigned stride = 1;
    if (take('-') && !number(last))
      return false;
    if (last != first && take(':') && !number(stride))
      return false;
    if (stride == 0 || last < first || last >= most_cpus)
      return false;
    for (unsigned cpu = first; cpu <= last; cpu += stride)
      out.push_back({static_cast<int>(cpu)});
    return true;
  }
};

// A CPU by its number among those of its core, of the core in its socket, and of the socket.
struct position_of_cpu {
  std::array<unsigned, 3> levels; // socket, core, thread
  int cpu;
};

std::vector<position_of_cpu> topology() {
  const std::vector<place> sockets = places_by("topology/core_siblings_list");
  const std::vector<place> cores = places_by("topology/thread_siblings_list");
  std::vector<position_of_cpu> out;
  for (unsigned s = 0; s < sockets.size(); ++s) {
    unsigned core = 0;
    for (const place& of_core : cores) {
      if (!std::binary_search(sockets[s].begin(), sockets[s].end(), of_core[0]))
        continue;
      for (unsigned t = 0; t < of_core.size(); ++t)
        out.push_back({{s, core, t}, of_core[t]});
      ++core;
    }
  }
  return out;
}

// The `first` innermost levels from the inside, then the others from the outside: none of them is by sockets,
// all but one is what varies the socket fastest.
void sort_by(std::vector<position_of_cpu>& cpus, unsigned first) {
  std::sort(cpus.begin(), cpus.end(), [first](const position_of_cpu& a, const position_of_cpu& b) {
    constexpr unsigned depth = 3;
    for (unsigned i = 0; i < depth; ++i) {
      const unsigned level = i < first ? depth - 1 - i : i - first;
      if (a.levels[level] != b.levels[level])
        return a.levels[level] < b.levels[level];
    }
    return a.cpu < b.cpu;
  });
}

std::vector<place> in_units(const std::vector<position_of_cpu>& cpus, layer granularity) {
  const std::vector<place> whole = places_by(granularity == layer::thread ? nullptr
                                             : granularity == layer::core ? "topology/thread_siblings_list"
                                                                          : "topology/core_siblings_list");
  std::vector<place> out;
  for (const position_of_cpu& c : cpus) {
    const auto has_it = [&c](const place& p) { return std::binary_search(p.begin(), p.end(), c.cpu); };
    const auto found = std::find_if(whole.begin(), whole.end(), has_it);
    if (found != whole.end() && std::find(out.begin(), out.end(), *found) == out.end())
      out.push_back(*found);
  }
  return out;
}

} // namespace

bool read_kmp_affinity(const char* text, kmp_affinity& out) {
  kmp_affinity read;
  if (!reader(text).read(read))
    return false;
  out = std::move(read);
  return true;
}

// The sorting is that of LLVM's runtime: `compact` counts levels from the outside, `scatter` from the inside.
std::vector<place> places_of(const kmp_affinity& wanted) {
  if (wanted.order == type::none)
    return {};
  std::vector<place> out = wanted.list;
  if (wanted.order != type::listed) {
    constexpr unsigned innermost_but_one = 2;
    const unsigned permute = std::min(wanted.permute, innermost_but_one);
    std::vector<position_of_cpu> cpus = topology();
    sort_by(cpus, wanted.order == type::scatter ? innermost_but_one - permute : permute);
    out = in_units(cpus, wanted.granularity);
  }
  if (!out.empty())
    std::rotate(out.begin(), out.begin() + wanted.offset % out.size(), out.end());
  return out;
}

} // namespace weft::openmp
