// SPDX-License-Identifier: MIT
// Streams and CPUs. The grammar of ABT_SET_AFFINITY, in our words:
//
//   list     := entry { "," entry }
//   entry    := set | set ":" number | set ":" number ":" stride          repeated with a growing offset
//   set      := id | "{" range { "," range } "}"
//   range    := id | id ":" number | id ":" number ":" stride
#include "front/abt/affinity.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "front/abt/error.hpp"
#include "front/abt/runtime.hpp"
#include "weft/base/assert.hpp"
#include "weft/os/affinity.hpp"
#include "weft/sched/user_mode.hpp"

namespace weft::abt {
namespace {

constexpr int most = 1 << 16; // CPUs that a list may name: what goes beyond is a mistake

// Reads from a text; each function is false when the text is something else.
class reader {
 public:
  explicit reader(const char* text) noexcept : at_(text) {}

  bool take(char c) noexcept {
    skip();
    if (*at_ != c)
      return false;
    ++at_;
    return true;
  }
  bool number(int& value) noexcept {
    skip();
    char* end = nullptr;
    errno = 0;
    const long parsed = std::strtol(at_, &end, 10);
    if (end == at_ || errno != 0 || parsed < -most || parsed > most)
      return false;
    at_ = end;
    value = static_cast<int>(parsed);
    return true;
  }
  // [":" number [":" stride]]
  bool repetition(int& count, int& stride) noexcept {
    count = 1;
    stride = 1;
    if (!take(':'))
      return true;
    if (!number(count) || count < 1 || count > most)
      return false;
    return !take(':') || number(stride);
  }
  bool at_end() noexcept {
    skip();
    return *at_ == '\0';
  }

 private:
  void skip() noexcept {
    while (std::isspace(static_cast<unsigned char>(*at_)) != 0)
      ++at_;
  }
  const char* at_;
};

bool read_range(reader& in, std::vector<int>& set) {
  int first = 0;
  int count = 1;
  int stride = 1;
  if (!in.number(first) || !in.repetition(count, stride))
    return false;
  for (int i = 0; i < count; ++i)
    set.push_back(first + i * stride);
  return true;
}

bool read_set(reader& in, std::vector<int>& set) {
  if (!in.take('{')) {
    int id = 0;
    if (!in.number(id))
      return false;
    set.push_back(id);
    return true;
  }
  do {
    if (!read_range(in, set) || set.size() > most)
      return false;
  } while (in.take(','));
  return in.take('}');
}

bool read_entry(reader& in, std::vector<std::vector<int>>& sets) {
  std::vector<int> set;
  int count = 1;
  int stride = 1;
  if (!read_set(in, set) || !in.repetition(count, stride) || sets.size() + count > most)
    return false;
  for (int i = 0; i < count; ++i) {
    std::vector<int> shifted = set;
    for (int& id : shifted)
      id += i * stride;
    sets.push_back(std::move(shifted));
  }
  return true;
}

// CPU numbers wrap around the machine, also negative ones.
std::vector<int> on_this_machine(const std::vector<int>& ids) {
  const int cpus = std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF)));
  std::vector<int> wrapped;
  for (const int id : ids)
    wrapped.push_back(((id % cpus) + cpus) % cpus);
  return wrapped;
}

// Any CPU that the process may use.
int unbind(xstream& es) {
  static const std::vector<int> all = [] {
    std::vector<int> ids;
    static_cast<void>(os::current_affinity(ids));
    return ids;
  }();
  return all.empty() ? EINVAL : os::set_affinity(es.kernel_thread, all);
}

} // namespace

bool parse_affinity(const char* text, std::vector<std::vector<int>>& sets) {
  reader in(text);
  std::vector<std::vector<int>> result;
  do {
    if (!read_entry(in, result))
      return false;
  } while (in.take(','));
  if (!in.at_end())
    return false;
  sets = std::move(result);
  return true;
}

int bind_stream(xstream& es, std::vector<int> cpus) {
  if (cpus.empty()) {
    const int error = unbind(es);
    es.cpus.clear();
    return error == 0 ? ABT_SUCCESS : ABT_ERR_SYS;
  }
  if (std::any_of(cpus.begin(), cpus.end(), [](int id) { return id < 0; }))
    return ABT_ERR_CPUID;
  const int error = os::set_affinity(es.kernel_thread, on_this_machine(cpus));
  if (error != 0)
    return error == EINVAL ? ABT_ERR_CPUID : ABT_ERR_SYS;
  es.cpus = std::move(cpus);
  return ABT_SUCCESS;
}

void bind_by_environment(xstream& es) {
  const settings& s = current();
  if (!s.set_affinity || s.affinity.empty())
    return;
  const auto& set = s.affinity[static_cast<std::size_t>(es.rank.load()) % s.affinity.size()];
  if (bind_stream(es, on_this_machine(set)) != ABT_SUCCESS)
    base::warn("stream %d stays unbound", es.rank.load());
}

} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_xstream_set_cpubind(ABT_xstream handle, int cpuid) {
  const weft::sched::runtime_section in_runtime;
  xstream* es = checked<xstream>(handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  return guarded([&] { return bind_stream(*es, {cpuid}); });
}

int ABT_xstream_get_cpubind(ABT_xstream handle, int* cpuid) {
  const weft::sched::runtime_section in_runtime;
  const xstream* es = checked<xstream>(handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  if (es->cpus.empty())
    return ABT_ERR_FEATURE_NA;
  *cpuid = es->cpus.front();
  return ABT_SUCCESS;
}

int ABT_xstream_set_affinity(ABT_xstream handle, int num_cpuids, int* cpuids) {
  const weft::sched::runtime_section in_runtime;
  xstream* es = checked<xstream>(handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  if (num_cpuids < 0 || (num_cpuids > 0 && cpuids == nullptr))
    return ABT_ERR_INV_ARG;
  return guarded([&] { return bind_stream(*es, std::vector<int>(cpuids, cpuids + num_cpuids)); });
}

int ABT_xstream_get_affinity(ABT_xstream handle, int max_cpuids, int* cpuids, int* num_cpuids) {
  const weft::sched::runtime_section in_runtime;
  const xstream* es = checked<xstream>(handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  if (max_cpuids < 0)
    return ABT_ERR_INV_ARG;
  for (int i = 0; cpuids != nullptr && i < max_cpuids && i < static_cast<int>(es->cpus.size()); ++i)
    cpuids[i] = es->cpus[static_cast<std::size_t>(i)];
  if (num_cpuids != nullptr)
    *num_cpuids = static_cast<int>(es->cpus.size());
  return ABT_SUCCESS;
}

} // extern "C"
