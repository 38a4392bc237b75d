// SPDX-License-Identifier: MIT
// lateness with Weft: the sleeper is a thread like all others. preemptible.*: the computation is made by a
// thread that may be preempted (own_tls), as a library that computes might be called.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/lateness/workload.hpp"
#include "weft/future.hpp"
#include "weft/preemption.hpp"
#include "weft/runtime.hpp"
#include "weft/weft.hpp"

namespace bench = weft::bench;
using bench::lateness::computation;

namespace {

// One half is offered, the other computed.
void halves(computation& c, std::size_t leaves) {
  if (leaves == 1)
    return c.leaf();
  auto offered = weft::fork([&c, leaves] { halves(c, leaves / 2); });
  halves(c, leaves - leaves / 2);
  offered.join();
}

void threads(computation& c, std::size_t leaves) {
  std::vector<weft::thread> all;
  for (std::size_t i = 0; i < leaves; ++i)
    all.emplace_back([&c] { c.leaf(); });
  for (auto& one : all)
    one.join();
}

void group(computation& c, std::size_t leaves) {
  weft::task_group all;
  for (std::size_t i = 0; i < leaves; ++i)
    all.run([&c] { c.leaf(); });
  all.wait();
}

void futures(computation& c, std::size_t leaves) {
  std::vector<weft::future<void>> all;
  for (std::size_t i = 0; i < leaves; ++i) {
    weft::packaged_task<void()> task([&c] { c.leaf(); });
    all.push_back(task.get_future());
    weft::thread(std::move(task)).detach();
  }
  for (auto& one : all)
    one.get();
}

void loop(computation& c, std::size_t leaves) {
  weft::parallel_for(std::size_t{0}, leaves, [&c](std::size_t) { c.leaf(); });
}

void sum(computation& c, std::size_t leaves) {
  static_cast<void>(weft::parallel_reduce(
      std::size_t{0}, leaves, 0,
      [&c](std::size_t) {
        c.leaf();
        return 1;
      },
      std::plus<>()));
}

void yields(computation& c, std::size_t leaves) {
  for (std::size_t i = 0; i < leaves; ++i) {
    c.leaf();
    weft::this_thread::yield();
  }
}

void alone(computation& c, std::size_t leaves) {
  for (std::size_t i = 0; i < leaves; ++i)
    c.leaf();
}

struct form {
  const char* name;
  void (*compute)(computation& c, std::size_t leaves);
};
constexpr form forms[] = {{"fork_join", &halves}, {"parallel_for", &loop}, {"parallel_reduce", &sum},
                          {"task_group", &group}, {"threads", &threads},   {"futures", &futures},
                          {"yield", &yields},     {"alone", &alone}};
constexpr std::string_view preemptible = "preemptible.";

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const form& f : forms)
    all.emplace_back(f.name);
  for (const form& f : forms)
    all.push_back(std::string(preemptible) + f.name);
  return all;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::lateness::defaults(), names());
  bench::keep_to_cpus(rec.opt().workers);
  weft::runtime::start({.workers = rec.opt().workers});
  std::string_view name = rec.opt().form;
  const bool preempted = name.starts_with(preemptible);
  if (preempted)
    name.remove_prefix(preemptible.size());
  const form& chosen =
      *std::find_if(std::begin(forms), std::end(forms), [name](const form& f) { return f.name == name; });
  computation c(rec);
  std::optional<weft::thread> sleeper;
  const int result = c.run(
      [&] {
        sleeper.emplace(
            [&c] { c.beat([] { weft::this_thread::sleep_for(bench::lateness::sleep_length); }); });
        weft::this_thread::yield();
      },
      [&](std::size_t leaves) {
        if (!preempted)
          return chosen.compute(c, leaves);
        weft::thread_attributes a;
        a.preemption = weft::preemption::own_tls;
        weft::thread(a, [&] { chosen.compute(c, leaves); }).join();
      },
      [&] { sleeper->join(); });
  weft::runtime::stop();
  return result;
}
