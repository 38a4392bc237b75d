// SPDX-License-Identifier: MIT
// techniques with Weft: each as a type, and RtC (tasklets, which cannot deviate). One worker, a private FIFO.
#include "bench/peer/weft.hpp"
#include "bench/peer/weft_techniques.hpp"
#include "bench/techniques/workload.hpp"

namespace bench = weft::bench;
using weft::technique_id;

namespace {

template <class Unit, bool Deviates = true>
int run(bench::recorder& rec) {
  std::vector<Unit> units(rec.opt().n);
  return bench::techniques::run(rec, [&]<class Body>(const std::vector<char>& flags, Body) {
    for (std::size_t i = 0; i < units.size(); ++i) {
      units[i] = Unit([flag = &flags[i]] {
        if (Deviates && *flag != 0)
          weft::this_thread::yield();
        Body::run();
      });
    }
    for (Unit& u : units)
      u.join();
  });
}

} // namespace

int main(int argc, char** argv) {
  auto forms = bench::techniques::forms(bench::technique_names());
  forms.emplace_back("RtC.0");
  bench::recorder rec(argc, argv, bench::techniques::defaults(), forms);
  const bench::techniques::form form(rec);
  const weft::runtime::scope runtime(bench::weft_options(1, false));
  if (form.technique == "RtC")
    return run<weft::tasklet, false>(rec);
  return bench::with_technique(form.technique,
                               [&]<technique_id T>() { return run<weft::thread_of<T>>(rec); });
}
