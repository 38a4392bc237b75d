// SPDX-License-Identifier: MIT
// mutex with weft::mutex and weft::mcs_mutex, in the primary thread.
#include "bench/peer/weft.hpp"
#include "bench/mutex/workload.hpp"
#include "weft/mutex.hpp"

namespace bench = weft::bench;

namespace {

template <class Mutex>
int measure(bench::recorder& rec) {
  Mutex mutex;
  return bench::mutex::run(rec, [&] { mutex.lock(); }, [&] { mutex.unlock(); });
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::mutex::defaults(), {"mutex", "mcs"});
  const weft::runtime::scope runtime(bench::weft_options(1));
  return rec.form_is("mcs") ? measure<weft::mcs_mutex>(rec) : measure<weft::mutex>(rec);
}
