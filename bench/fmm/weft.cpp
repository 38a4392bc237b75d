// SPDX-License-Identifier: MIT
// fmm with Weft: a thread a node, of each technique as a type; "thread", as the runtime chooses; and
// "serial", plain calls, whatever the workers.
#include "bench/peer/weft.hpp"
#include "bench/fmm/workload.hpp"
#include "weft/techniques.hpp"

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

template <technique_id T>
int run_if(bench::recorder& rec, std::string_view name, int otherwise) {
  return name == to_string(T) ? fmm::run<threads<weft::thread_of<T>>>(rec) : otherwise;
}

template <std::size_t... I>
int choose(bench::recorder& rec, const std::string& name, std::index_sequence<I...>) {
  int result = 2;
  ((result = run_if<static_cast<technique_id>(I)>(rec, name, result)), ...);
  return result;
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names = {"thread", "serial"};
  for (unsigned i = 0; i < weft::unit::technique_count; ++i)
    names.emplace_back(to_string(static_cast<technique_id>(i)));
  bench::recorder rec(argc, argv, fmm::defaults(), fmm::forms(names));
  const std::string name = fmm::form(rec).technique;
  if (name == "serial")
    return fmm::run<fmm::calls>(rec);
  const weft::runtime::scope runtime(bench::weft_options(rec.opt().workers, true));
  if (name == "thread")
    return fmm::run<threads<weft::thread>>(rec);
  return choose(rec, name, std::make_index_sequence<weft::unit::technique_count>());
}
