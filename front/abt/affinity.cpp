// SPDX-License-Identifier: MIT
// Streams and CPUs.
#include "front/abt/affinity.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "front/abt/error.hpp"
#include "front/abt/runtime.hpp"
#include "weft/door/process.hpp"
#include "weft/door/section.hpp"

namespace weft::abt {
namespace {

// CPU numbers wrap around the machine, also negative ones.
std::vector<int> on_this_machine(const std::vector<int>& ids) {
  const int cpus = std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF)));
  std::vector<int> wrapped;
  for (const int id : ids)
    wrapped.push_back(((id % cpus) + cpus) % cpus);
  return wrapped;
}

// Any CPU that the process might use.
int unbind(xstream& es) {
  const std::vector<int>& all = current().cpus;
  return all.empty() ? EINVAL : door::keep_on_cpus(es.kernel_thread, all);
}

} // namespace

int bind_stream(xstream& es, std::vector<int> cpus) {
  if (cpus.empty()) {
    const int error = unbind(es);
    es.cpus.clear();
    return error == 0 ? ABT_SUCCESS : ABT_ERR_SYS;
  }
  if (std::any_of(cpus.begin(), cpus.end(), [](int id) { return id < 0; }))
    return ABT_ERR_CPUID;
  const int error = door::keep_on_cpus(es.kernel_thread, on_this_machine(cpus));
  if (error != 0)
    return error == EINVAL ? ABT_ERR_CPUID : ABT_ERR_SYS;
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  es.cpus = std::move(cpus); // as asked: a program that names CPUs beyond the machine compares
  return ABT_SUCCESS;
}

void free_cpus(xstream& es) noexcept {
  if (!es.cpus.empty())
    static_cast<void>(unbind(es));
}

void bind_by_environment(xstream& es) {
  const settings& s = current();
  if (!s.set_affinity || s.affinity.empty())
    return;
  const auto& set = s.affinity[static_cast<std::size_t>(es.rank.load()) % s.affinity.size()];
  if (set.empty() || bind_stream(es, set) != ABT_SUCCESS)
    door::warn("stream %d stays unbound", es.rank.load());
}

} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_xstream_set_cpubind(ABT_xstream handle, int cpuid) {
  const weft::door::runtime_section in_runtime;
  xstream* es = checked<xstream>(handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  return guarded([&] { return bind_stream(*es, {cpuid}); });
}

int ABT_xstream_get_cpubind(ABT_xstream handle, int* cpuid) {
  const weft::door::runtime_section in_runtime;
  const xstream* es = checked<xstream>(handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  if (es->cpus.empty())
    return ABT_ERR_FEATURE_NA;
  *cpuid = es->cpus.front();
  return ABT_SUCCESS;
}

int ABT_xstream_set_affinity(ABT_xstream handle, int num_cpuids, int* cpuids) {
  const weft::door::runtime_section in_runtime;
  xstream* es = checked<xstream>(handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  if (num_cpuids < 0 || (num_cpuids > 0 && cpuids == nullptr))
    return ABT_ERR_INV_ARG;
  return guarded([&] { return bind_stream(*es, std::vector<int>(cpuids, cpuids + num_cpuids)); });
}

int ABT_xstream_get_affinity(ABT_xstream handle, int max_cpuids, int* cpuids, int* num_cpuids) {
  const weft::door::runtime_section in_runtime;
  const xstream* es = checked<xstream>(handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  if (max_cpuids < 0)
    return ABT_ERR_INV_ARG;
  for (int i = 0; cpuids != nullptr && i < max_cpuids && i < static_cast<int>(es->cpus.size()); ++i)
    cpuids[i] = es->cpus[static_cast<std::size_t>(i)];
  if (num_cpuids != nullptr)
    *num_cpuids = static_cast<int>(es->cpus.size());
  return es->cpus.empty() ? ABT_ERR_FEATURE_NA : ABT_SUCCESS;
}

} // extern "C"
