// SPDX-License-Identifier: MIT
// leaving: what a program with one worker pays for being let out of waits in the kernel. There is a monitor
// then, so the process has a second kernel thread and `__libc_single_threaded` is false: the C library and
// the standard library lock what they leave unlocked before. One operation is malloc() and free() of a block
// that no cache of a thread's has (malloc), or a copy of a shared_ptr and its end (shared_ptr), with
// WEFT_LEAVE=never (off) and always (on).
#include <cstdlib>
#include <memory>
#include <string>

#include "bench/common/bench.hpp"
#include "bench/peer/weft.hpp"

namespace bench = weft::bench;

namespace {

bench::options defaults() {
  return {.n = 200'000, .rounds = 2, .repeats = 7, .workers = 1, .form = {}};
}

void allocate() {
  constexpr std::size_t not_cached = 4096;
  void* block = std::malloc(not_cached);
  asm volatile("" : "+r"(block) : : "memory");
  std::free(block);
}

void copy(const std::shared_ptr<int>& one) {
  std::shared_ptr<int> other = one;
  asm volatile("" : : "r"(&other) : "memory");
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, defaults(), {"malloc_off", "malloc_on", "shared_ptr_off", "shared_ptr_on"});
  bench::keep_to_cpus(rec.opt().workers);
  const bool leaves = rec.form_is("malloc_on") || rec.form_is("shared_ptr_on");
  const bool allocates = rec.form_is("malloc_on") || rec.form_is("malloc_off");
  ::setenv("WEFT_LEAVE", leaves ? "always" : "never", 1); // read when the runtime starts
  const weft::runtime::scope runtime(bench::weft_options(rec.opt().workers, true));
  const auto one = std::make_shared<int>(1);
  const auto round = [&] {
    for (std::size_t i = 0; i < rec.opt().n; ++i) {
      if (allocates)
        allocate();
      else
        copy(one);
    }
  };
  round();
  rec.time_rounds(rec.opt().n, round);
  rec.check(one.use_count() == 1, "every copy has ended");
  return rec.finish();
}
