// SPDX-License-Identifier: MIT
// Execution streams: a group of the core with one worker each, so that two streams share nothing that they do
// not share by their pools. A stream that has ended keeps its worker, which rests under an empty scheduler
// until it is revived or freed.
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <vector>

#include "front/abt/object.hpp"
#include "front/abt/scheduler.hpp"
#include "weft/door/atomic.hpp"
#include "weft/door/waiting.hpp"
#include "weft/pool.hpp"

namespace weft::abt {

// Ownership: state().streams lists it under state().lock; `main` and `next_main` belong to the stream itself
// while it runs, to whoever revives it while it rests.
struct xstream : object {
  static constexpr kind own_kind = kind::xstream;
  xstream() noexcept : object(own_kind) {}
  ~xstream() { drop_kept_infos(*this); }

  std::atomic<int> rank{-1};
  bool primary = false;
  std::atomic<weft::worker*> worker{nullptr};
  std::unique_ptr<worker_group> group;
  std::atomic<scheduler*> main{nullptr};
  std::atomic<scheduler*> next_main{nullptr}; // replaces `main` when its loop has returned
  std::atomic<std::uint64_t> starts{
      0}; // of core schedulers on its worker: tells when an old one is out of use
  std::shared_ptr<weft::scheduler> rest; // the scheduler of streams that have ended
  std::shared_ptr<weft::pool> loop_pool; // own pool of the ULTs that are a main scheduler's loop
  std::atomic<ABT_xstream_state> condition{ABT_XSTREAM_STATE_RUNNING};
  std::atomic<bool> stopping{false};
  door::spin_lock lock; // guards `ended`, and `main` against being freed while somebody asks it for something
  door::wait_queue ended;           // who waits for TERMINATED
  pthread_t kernel_thread{};        // its worker's
  std::vector<int> cpus;            // asked for; empty: not bound
  std::atomic<bool> patient{false}; // looks at users' pools from time to time
  // Memory for infos of units (unit.cpp); of its worker, while that runs.
  struct kept_info {
    kept_info* next;
  };
  kept_info* first_info = nullptr;
  unsigned kept_infos = 0;

  // On the stream's worker, in its loop: the main scheduler has nothing more to do here.
  void stop_running();
  // On the stream's worker: it rests now.
  void now_resting();
  // Waits until it rests. Contexts: thread, foreign kernel thread. Switches: may.
  void wait_until_ended();
  // Asks its main scheduler, whichever it is at this moment.
  void request(std::uint32_t bits) noexcept;
  // Makes its main scheduler look at its requests.
  void wake() noexcept;
  [[nodiscard]] bool serves(const pool* p) noexcept;
  // What the old one was asked is asked of the new one.
  void set_main(scheduler& next) noexcept;
};

// Whether the caller, a ULT, is scheduled by the stream's main scheduler and by none that runs within
// another.
bool runs_on_main_scheduler(const xstream& es) noexcept;

// Errors: failure, std::bad_alloc, std::system_error. The caller has taken `main`.
xstream& create_stream(scheduler& main, int rank, bool primary);
// `rank` < 0: the smallest that is free.
void join_stream(xstream& es);
void free_stream(xstream& es) noexcept;
void revive_stream(xstream& es);
// `next` is taken. From the stream itself, on its own main scheduler's behalf, or while the stream rests.
void replace_main_scheduler(xstream& es, scheduler& next);

inline ABT_xstream handle_of(xstream& es) noexcept {
  return reinterpret_cast<ABT_xstream>(&es);
}

} // namespace weft::abt
