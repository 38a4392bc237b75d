// SPDX-License-Identifier: MIT
// techniques with Weft: each as a type, and RtC (tasklets, which cannot deviate). One worker, a private FIFO.
#include "bench/peer/weft.hpp"
#include "bench/techniques/workload.hpp"
#include "weft/techniques.hpp"

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

template <technique_id T>
int run_if(bench::recorder& rec, std::string_view name, int otherwise) {
  return name == to_string(T) ? run<weft::thread_of<T>>(rec) : otherwise;
}

template <std::size_t... I>
int choose(bench::recorder& rec, const std::string& name, std::index_sequence<I...>) {
  int result = 2;
  ((result = run_if<static_cast<technique_id>(I)>(rec, name, result)), ...);
  return result;
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < weft::unit::technique_count; ++i)
    names.emplace_back(to_string(static_cast<technique_id>(i)));
  auto forms = bench::techniques::forms(names);
  forms.emplace_back("RtC.0");
  bench::recorder rec(argc, argv, bench::techniques::defaults(), forms);
  const bench::techniques::form form(rec);
  const weft::runtime::scope runtime(bench::weft_options(1, false));
  if (form.technique == "RtC")
    return run<weft::tasklet, false>(rec);
  return choose(rec, form.technique, std::make_index_sequence<weft::unit::technique_count>());
}
