// SPDX-License-Identifier: MIT
// fmm with Weft: a thread a node, of each technique as a type; "thread", as the runtime chooses; and
// "serial", plain calls, whatever the workers.
#include "bench/peer/weft.hpp"
#include "bench/fmm/workload.hpp"
#include "bench/peer/weft_techniques.hpp"

namespace bench = weft::bench;
namespace fmm = weft::bench::fmm;
using weft::technique_id;

namespace {

// Joined in reverse: a worker's youngest thread comes first.
template <class Thread>
struct threads {
  template <class F>
  static void for_each(unsigned count, const F& f) {
    std::array<Thread, fmm::most_children> units;
    for (unsigned i = 0; i < count; ++i)
      units[i] = Thread([&f, i] { f(i); });
    while (count-- > 0)
      units[count].join();
  }
};

} // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names = bench::technique_names();
  names.insert(names.begin(), {"thread", "serial"});
  bench::recorder rec(argc, argv, fmm::defaults(), fmm::forms(names));
  const std::string name = fmm::form(rec).technique;
  if (name == "serial")
    return fmm::run<fmm::calls>(rec);
  const weft::runtime::scope runtime(bench::weft_options(rec.opt().workers, true));
  if (name == "thread")
    return fmm::run<threads<weft::thread>>(rec);
  return bench::with_technique(name,
                               [&]<technique_id T>() { return fmm::run<threads<weft::thread_of<T>>>(rec); });
}
