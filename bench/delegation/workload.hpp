// SPDX-License-Identifier: MIT
// delegation: n threads increment one shared number under protection, as often as each other: the
// fetch-and-add microbenchmark of the composable-threads paper (its Fig. 11, with as many threads as
// workers). One operation is one protected increment.
//
// <protection>           each thread increments as fast as it can
// <protection>.convoy    and yields within every 16th of its sections, as if it had lost its CPU there: all
//                        others arrive meanwhile, whatever the number of workers
//
// An untimed round counts how often a section is executed by another kernel thread than the one before
// ("handovers", an operation): so often the number's cache line moves.
#pragma once

#include "bench/common/bench.hpp"

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::bench::delegation {

/// Increments of all threads together in a round, and how many of one thread's pass between two yields.
inline constexpr std::size_t increments = 1 << 19;
inline constexpr std::size_t between_yields = 16;

inline options defaults() {
  return {.n = 2, .rounds = 1, .repeats = 7, .workers = 2, .form = {}};
}

inline std::vector<std::string> forms(const std::vector<std::string>& protections) {
  std::vector<std::string> all = protections;
  for (const std::string& p : protections) {
    all.push_back(p + ".convoy");
  }
  return all;
}
/// Of the form, the part before the point.
inline bool is_protected_by(const recorder& rec, std::string_view protection) {
  const std::string& form = rec.opt().form;
  return form.substr(0, form.find('.')) == protection;
}
inline bool is_convoy(const recorder& rec) {
  return rec.opt().form.find('.') != std::string::npos;
}

/// What is protected, alone on its lines.
struct alignas(128) number {
  std::size_t value = 0;
  std::size_t handovers = 0;
  const void* last = nullptr;
};

/// Tells kernel threads apart.
[[gnu::noinline]] inline const void* this_kernel_thread() {
  static thread_local char mark;
  const void* address = &mark;
  asm volatile("" : "+r"(address)); // not the same before and after a switch
  return address;
}

struct plain {
  number* shared;
  void operator()() const noexcept {
    asm volatile("" : "+m"(shared->value)); // it lives in memory
    ++shared->value;
  }
};
struct counting {
  number* shared;
  void operator()() const noexcept {
    ++shared->value;
    const void* const here = this_kernel_thread();
    if (shared->last != here) {
      ++shared->handovers;
      shared->last = here;
    }
  }
};

/// `peer.threads(n, body)` calls body() in n threads at once; `peer.yield()`; `peer.add(section)` calls
/// section() under protection, `peer.hold(section)` under the lock and yields before it gives that back;
/// `peer.settle()` waits for what add() has left to others.
template <class Peer>
int run(recorder& rec, Peer&& peer) {
  number shared;
  const std::size_t count = increments / rec.opt().n;
  const bool convoy = is_convoy(rec);
  const auto round = [&](auto section) {
    std::atomic<std::size_t> begun = 0;
    peer.threads(rec.opt().n, [&] {
      for (++begun; begun < rec.opt().n;) {
        peer.yield();
      }
      for (std::size_t i = 0; i < count; ++i) {
        convoy&& i % between_yields == 0 ? peer.hold(section) : peer.add(section);
      }
      peer.settle();
    });
  };
  round(counting{&shared});
  const auto ops = static_cast<double>(count * rec.opt().n);
  rec.extra("handovers", static_cast<double>(shared.handovers) / ops);
  rec.time_rounds(count * rec.opt().n, [&] { round(plain{&shared}); });
  rec.check(shared.value == rec.opt().n * count * (1 + rec.opt().rounds * rec.opt().repeats),
            "every increment was made");
  return rec.finish();
}

/// The add(), hold() and settle() of a mutex.
template <class Library, class Mutex>
struct by_mutex : Library {
  Mutex mutex;

  template <class Section>
  void add(Section section) {
    mutex.lock();
    section();
    mutex.unlock();
  }
  template <class Section>
  void hold(Section section) {
    mutex.lock();
    section();
    Library::yield();
    mutex.unlock();
  }
  void settle() {}
};

} // namespace weft::bench::delegation
