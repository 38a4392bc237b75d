// SPDX-License-Identifier: MIT
// tls_blocks with Weft: threads of a preemptible kind, made by one of that kind, or by main().
#include <vector>

#include "bench/peer/weft.hpp"
#include "bench/tls_blocks/workload.hpp"
#include "weft/preemption.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::tls_blocks::defaults(), {"bound_tls", "bound_tls.main", "own_tls"});
  const weft::runtime::scope runtime(bench::weft_options(rec.opt().workers));
  weft::thread_attributes kind;
  kind.preemption = rec.form_is("own_tls") ? weft::preemption::own_tls : weft::preemption::bound_tls;
  const auto measure = [&] {
    std::vector<weft::thread> threads(rec.opt().n);
    bench::tls_blocks::time_rounds(rec, !rec.form_is("own_tls"), [&] {
      for (weft::thread& t : threads)
        t = weft::thread(kind, [] { bench::tls_blocks::body::run(); });
      for (weft::thread& t : threads)
        t.join();
    });
  };
  if (rec.form_is("bound_tls.main")) {
    measure();
  } else {
    weft::thread(kind, measure).join();
  }
  return rec.finish();
}
