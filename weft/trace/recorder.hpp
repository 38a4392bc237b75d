// SPDX-License-Identifier: MIT
// Where a worker records events while a session (session.hpp) is on: a ring of its own, written by the owner
// with plain stores. When it is full the oldest events go, and how many went is told in the file.
#pragma once

#include <cstdint>
#include <mutex>

#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"
#include "weft/trace/event.hpp"
#include "weft/trace/record.hpp"

namespace weft::trace {

struct ring;
struct unit_name;

// Ownership: `writing_` and what `ring_` points to belong to the worker (whoever calls add()); `ring_` goes
// over
//   to the session in session::stop(), after the worker has been seen outside add(). The rest belongs to the
//   session and is guarded by its lock.
// Invariants: ring_ != nullptr only while a session is on. Between sessions add() writes nothing.
// Ordering: Dekker's entry protocol between add() and session::stop(), the cheap side in add().
//   (T1) add():  writing_ = 1; light fence; look at session::recording
//   (T2) stop(): recording = 0; heavy fence; look at writing_
//   One of the two sees the other's store: either add() sees that recording has ended and writes nothing, or
//   stop() sees writing_ == 1 and waits for (T3), the release store of 0, with an acquire load (T4). So when
//   stop() has seen 0 of every recorder, all records happened before, and none will follow. (T5)
//   session::start() publishes recording = 1 with release after all rings have been taken; the acquire load
//   in add() pairs with it, so an owner never writes to a ring of an earlier session.
class WEFT_API recorder {
 public:
  // Turns the owner's recording on or off. Called with the session's lock held, at the earliest in attach(),
  // at the latest before detach() returns; so it must neither wait, nor throw, nor call into this room.
  using switch_function = void (*)(void* owner, bool on);

  recorder() noexcept = default;
  // As detach().
  ~recorder();
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  // Joins the process's session under a number for display ("worker 3"); from now on `on_switch(owner, ...)`
  // is called whenever recording starts or stops, and at once if it is on. If WEFT_TRACE is set, the first
  // attach() of the process starts a session. `kept`, which must live until detach(), counts towards
  // session::total(). A second call on the same object does nothing, but in the child of fork(), where
  // everything must be attached again. Contexts: thread, foreign kernel thread. Switches: never. Errors:
  // none.
  void attach(unsigned number, const counters& kept, switch_function on_switch, void* owner) noexcept;
  // Leaves the session, which keeps the records. Nobody may call add() from now on. Contexts, switches: as
  // attach().
  void detach() noexcept;

  // Appends, if a session is on; overwrites the oldest when the ring is full. The first event of a session
  // allocates the ring; without memory for it, events are counted as dropped.
  // `name`: of the unit that runs, for event::run; its number goes into the argument.
  // Contexts: the worker that owns it. Switches: never. Errors: none.
  void add(event what, const void* unit, std::uint32_t argument = 0,
           const unit_name* name = nullptr) noexcept;

  // What the argument of event::steal calls this one. Contexts: any, between attach() and the end of its
  // life.
  [[nodiscard]] std::uint32_t track() const noexcept { return track_; }

 private:
  friend class session;
  friend class shared_recorder;

  void append(record r, const unit_name* name) noexcept;

  base::atomic<ring*> ring_{nullptr};
  base::atomic<std::uint32_t> writing_{0};
  std::uint64_t lost_ = 0; // events that found no ring; the owner's, as the ring's content
  bool outside_ = false;

  recorder* next_ = nullptr;
  recorder* previous_ = nullptr;
  std::uint64_t epoch_ = 0; // of the process at attach(), 0: not attached; fork() begins a new one
  unsigned number_ = 0;
  std::uint32_t track_ = 0; // no two recorders of a process have the same
  const counters* kept_ = nullptr;
  switch_function on_switch_ = nullptr;
  void* owner_ = nullptr;
};

// For all kernel threads that are no workers, together: one records at a time.
class WEFT_API shared_recorder {
 public:
  // As recorder::attach(). Once a process; *this must live as long. `on_switch` may be called in the child of
  // fork(), too.
  void attach(recorder::switch_function on_switch, void* owner) noexcept;
  // As recorder::add(). Contexts: thread, foreign kernel thread. Switches: never (may block on a lock).
  void add(event what, const void* unit, std::uint32_t argument = 0) noexcept;

 private:
  friend class session;
  void forget_after_fork() noexcept;

  std::mutex lock_;
  recorder recorder_;
};

} // namespace weft::trace
