// SPDX-License-Identifier: MIT
// shared_lines: two streams repeat the same rounds, each on units of its own. Nothing is timed that matters:
// shared_lines.py runs the program under valgrind, which lists all memory accesses, and counts the cache
// lines that one stream wrote and the other one touched. The list does not say which kernel thread made an
// access. So the streams take turns while everybody else sleeps in the kernel, and each turn is between two
// stores to addresses that are known. The first turn of each stream is its warm-up, and has no such stores;
// it is long enough for what a library does only now and then. A round creates n units that yield once,
// joins and frees them; an operation is one unit.
#pragma once

#include <semaphore.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "bench/common/bench.hpp"

namespace weft::bench::shared_lines {

constexpr unsigned streams = 2;
constexpr std::size_t least_warm_up = 1024; // units

inline options defaults() {
  return {.n = 64, .rounds = 20, .repeats = 2, .workers = streams, .form = {}};
}

inline std::size_t warm_up_rounds(const options& o) {
  return std::max(o.rounds, least_warm_up / o.n + 1);
}

// Ownership: place k and mark k are stream k's, and the last place is main's, but for the semaphores.
class turns {
 public:
  explicit turns(recorder& rec) : rec_(rec) {
    for (place& p : places_)
      sem_init(&p.go, 0, 0);
    for (mark& m : marks_) {
      const void* ends[] = {const_cast<int*>(&m.begin), const_cast<int*>(&m.end)};
      std::fprintf(stderr, "marks %p %p\n", ends[0], ends[1]);
    }
  }

  // Stream k calls this, once, on the stack of its root.
  template <class Round>
  void serve(unsigned k, Round&& round) {
    place& own = places_[k];
    const options& o = rec_.opt();
    for (std::size_t turn = 0; turn <= o.repeats; ++turn) {
      sleep_until_called(own);
      if (turn > 0)
        marks_[k].begin = 1;
      const std::size_t rounds = turn > 0 ? o.rounds : warm_up_rounds(o);
      for (std::size_t r = 0; r < rounds; ++r)
        round();
      if (turn > 0)
        marks_[k].end = 1;
      sem_post(&places_[streams].go);
    }
    sleep_until_called(own); // a scheduler without a unit would search for one in the other's turn
  }

  // Main calls this when both roots can run; it keeps main's kernel thread asleep.
  void run_all() {
    place& own = places_[streams];
    for (std::size_t turn = 0; turn <= rec_.opt().repeats; ++turn) {
      for (unsigned k = 0; k < streams; ++k) {
        const std::int64_t begin = now_ns();
        sem_post(&places_[k].go);
        sleep_until_called(own);
        if (turn > 0)
          rec_.add_sample(static_cast<double>(now_ns() - begin));
      }
    }
    for (const place& p : places_)
      std::fprintf(stderr, "frame %p\n", p.frame);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      std::fprintf(stderr, "map %s\n", line.c_str());
    for (unsigned k = 0; k < streams; ++k)
      sem_post(&places_[k].go);
  }

 private:
  struct alignas(128) place {
    sem_t go;
    void* frame = nullptr; // if others touch what is below it, somebody has been awake in their turn
  };
  struct alignas(128) mark {
    volatile int begin = 0, end = 0;
  };

  // The caller is woken before its waker goes to sleep, so it gives the waker time.
  [[gnu::noinline]] static void sleep_until_called(place& own) {
    own.frame = __builtin_frame_address(0);
    while (sem_wait(&own.go) != 0) {
    }
    const timespec until_others_sleep{0, 20'000'000};
    nanosleep(&until_others_sleep, nullptr);
  }

  recorder& rec_;
  place places_[streams + 1];
  mark marks_[streams];
};

// A stream's own counter of units that have run.
struct alignas(128) lane {
  std::size_t ran = 0;
};

// launch(turns, lanes) starts a root on each stream k, calls run_all(), and returns when all have ended. The
// roots call serve(k, round); each unit of a round adds one to lanes[k].ran.
template <class Launch>
int run(recorder& rec, Launch&& launch) {
  const options& o = rec.opt();
  rec.unit("ns/turn");
  lane lanes[streams];
  turns all(rec);
  launch(all, lanes);
  for (const lane& l : lanes)
    rec.check(l.ran == o.n * (warm_up_rounds(o) + o.rounds * o.repeats), "every unit has run exactly once");
  rec.add_ops(o.n * o.rounds * o.repeats * streams);
  return rec.finish();
}

} // namespace weft::bench::shared_lines
