// SPDX-License-Identifier: MIT
// hand_over with Weft: main() waits in read(), for a std::mutex, or in weft::io::read(), and a thread of its
// worker is ready.
#include <atomic>
#include <cstdlib>
#include <mutex>

#include <unistd.h>

#include "bench/hand_over/workload.hpp"
#include "bench/peer/weft.hpp"
#include "weft/io.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;

namespace {

struct a_pipe {
  a_pipe() {
    if (::pipe(ends) != 0)
      std::abort();
  }
  ~a_pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  a_pipe(const a_pipe&) = delete;
  a_pipe& operator=(const a_pipe&) = delete;
  int ends[2];
};

void wait_in_read(bench::hand_over::waits& w, const a_pipe& p, bool by_weft) {
  weft::thread other([&] {
    w.taken_over();
    static_cast<void>(!::write(p.ends[1], "x", 1));
  });
  char got = 0;
  w.begin();
  if (by_weft) {
    weft::io::read(p.ends[0], &got, 1);
  } else {
    static_cast<void>(!::read(p.ends[0], &got, 1));
  }
  w.end();
  other.join();
}

// The owner calls Weft while it holds the lock, as a thread does that waits for something there.
void wait_for_mutex(bench::hand_over::waits& w, std::mutex& m) {
  std::atomic<bool> has_it{false}, is_waited_for{false};
  weft::thread owner([&] {
    m.lock();
    has_it = true;
    while (!is_waited_for)
      weft::this_thread::yield();
    w.taken_over();
    m.unlock();
  });
  while (!has_it)
    weft::this_thread::yield();
  w.begin();
  is_waited_for = true;
  m.lock();
  w.end();
  m.unlock();
  owner.join();
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::hand_over::defaults(), {"read", "mutex", "io"});
  bench::keep_to_cpus(rec.opt().workers);
  ::setenv("WEFT_LEAVE", "always", 1); // read when the runtime starts
  const weft::runtime::scope runtime(bench::weft_options(rec.opt().workers, true));
  bench::hand_over::waits w;
  const a_pipe p;
  std::mutex m;
  for (std::size_t i = 0; i < rec.opt().n; ++i) {
    if (rec.form_is("mutex"))
      wait_for_mutex(w, m);
    else
      wait_in_read(w, p, rec.form_is("io"));
  }
  return w.report(rec);
}
