// SPDX-License-Identifier: MIT
// A place on a worker for a model thread: with one, it is a thread of Weft that waits by leaving its worker;
// without, it is a foreign kernel thread, which waits on a futex. What the primitives of weft/sync call of
// the scheduler is doubled in waiting.cpp.
#pragma once

#include "tests/model/checker/model.hpp"
#include "weft/unit/descriptor.hpp"
#include "weft/workers/worker.hpp"

#include <memory>
#include <vector>

namespace weft::model::runtime {

/// What runs once a thread has left its stack: on the model thread that leaves, which is cheaper, or on one
/// of its own, as the worker that was left does it; the thread may go on elsewhere, on another worker, and
/// wait again meanwhile.
enum class arrivals : bool { at_home, apart };

/// To be said at the start of each execution.
void begin(arrivals where = arrivals::at_home);

/// The time of all timers that are armed has come: each fires, unless it is disarmed before.
void expire_timers();

class seat {
 public:
  /// `taken`: false makes it nothing.
  explicit seat(bool taken = true) {
    if (taken)
      take_worker();
  }
  /// On a worker that another has left: what runs there next.
  explicit seat(sched::worker_face* left);
  seat(const seat&) = delete;
  seat& operator=(const seat&) = delete;
  ~seat() { sched::weft_current_worker = &sched::face_of_others(); }

  static seat& of(unit::descriptor& u) {
    return *reinterpret_cast<seat*>(reinterpret_cast<std::byte*>(&u) - offset_of_unit());
  }
  unit::descriptor& unit() { return unit_; }
  static seat& mine() { return of(*sched::weft_current_worker->current); }
  /// Goes on, on a worker that nobody has been on.
  void take_worker();

  unsigned thread = self();
  var<int> context = 0; // what the thread leaves behind, by whoever resumes it
  bool away = false;    // it has left; the checker runs one model thread at a time

 private:
  static std::size_t offset_of_unit();
  struct room {
    alignas(64) std::byte bytes[sizeof(sched::worker)]; // zeros, but for the face and what others refer to
  };
  std::vector<std::unique_ptr<room>> workers_; // those it has been on
  unit::descriptor unit_{};

 public:
  std::vector<std::unique_ptr<model::thread>> left; // who ran what it left to run; they end before the rest
};

/// Who waits: threads on workers, or foreign kernel threads.
enum class who : bool { foreign, threads };

/// A model thread that is one or the other.
class actor {
 public:
  template <class Body>
  actor(who w, Body body)
      : thread_([w, body] {
          const seat here(w == who::threads);
          body();
        }) {}

 private:
  model::thread thread_;
};

} // namespace weft::model::runtime
