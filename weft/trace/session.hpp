// SPDX-License-Identifier: MIT
// The process's one tracing session: when it is on, what has been recorded, and where that is written. The
// protocol between it and the recorders is argued in recorder.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"
#include "weft/trace/event.hpp"
#include "weft/trace/recorder.hpp"
#include "weft/trace/recording.hpp"
#include "weft/trace/ring.hpp"
#include "weft/trace/summary.hpp"

namespace weft::trace {

// Ownership: everything but `recording_` is guarded by `lock_`, a leaf: nothing is locked under it.
// Invariants: `kept_` is empty while recording; whatever was recorded is in `kept_` from stop() to a write
// that works,
//   or to discard(). The list of recorders holds those whose epoch is the session's.
// Contexts of all members unless they say otherwise: thread, tasklet, foreign kernel thread; not signal
// handlers, nor switch functions. Switches: never (the kernel thread may block on the lock, and on the file
// in write()).
class WEFT_API session {
 public:
  // On whose behalf it records. One session at a time, and only its starter ends it.
  enum class starter : std::uint8_t { program, control };

  static session& of_process() noexcept;

  // Starts recording; `path` is where write() will put it. Errors: std::system_error, and nothing has
  // changed: an empty path (invalid_argument), a session that is on (operation_in_progress), records that
  // have not been written yet (device_or_resource_busy).
  void start(std::string path);
  // The same without a file: take() has what was recorded. Errors: as start() but for the path.
  void start_in_memory(starter who = starter::program);
  // Ends recording and keeps the records. Waits for workers that are just recording an event. Nothing if it
  // is not on, or was started by the other.
  void stop(starter who = starter::program) noexcept;
  // Writes what is kept to `path` or, if that is empty, to the path of start(), in the form that the path
  // says (file_form_of()); then forgets it. Nothing kept: nothing is written. Errors: std::system_error with
  // the path in its text, everything is still kept then (the file may be there in part); invalid_argument, no
  // path is known; operation_in_progress.
  void write(const std::string& path = {});
  // What is kept, which the session forgets; with no events if nothing is. Errors: std::bad_alloc,
  // operation_in_progress; everything is still kept then.
  [[nodiscard]] trace::recording take(starter who = starter::program);
  // The same, summarised; then the session forgets it. Errors: as take().
  [[nodiscard]] summary summarise_kept();
  // Forgets what is kept. Nothing while recording.
  void discard(starter who = starter::program) noexcept;

  // How addresses of functions become names: given once, by a room that knows.
  using describe_function = void (*)(const void* address, char* buffer, std::size_t bytes);
  void describe_with(describe_function describe) noexcept;

  [[nodiscard]] bool active() const noexcept { return recording(); }
  // Events kept since the last stop(), and those that went because a ring was full or could not be had.
  [[nodiscard]] std::uint64_t kept() noexcept;
  [[nodiscard]] std::uint64_t dropped() noexcept;
  // The sum over all recorders there are or were, since the process began.
  [[nodiscard]] counters total() noexcept;

  // (T5) acquire: pairs with the release store in start(). Contexts: any.
  static bool recording() noexcept { return recording_.load_acquire() != 0; }

  // Everything is forgotten in the child of fork(): only one of the recorders' owners exists there.
  void forget_after_fork() noexcept;

 private:
  friend class recorder;
  friend class shared_recorder;

  void attach(recorder& r, unsigned number, const counters* kept, recorder::switch_function on_switch,
              void* owner) noexcept;
  void detach(recorder& r) noexcept;
  void remember(shared_recorder& outside) noexcept;
  void start_locked(std::string path, starter who);
  void stop_locked() noexcept;
  void write_locked(const std::string& path);
  [[nodiscard]] trace::recording view_locked();
  void start_as_environment_says() noexcept;
  void write_at_exit() noexcept;
  void take_ring(recorder& r) noexcept;
  [[nodiscard]] counters total_locked() noexcept;

  static base::atomic<std::uint32_t> recording_;

  std::mutex lock_;
  recorder* recorders_ = nullptr;
  shared_recorder* outside_ = nullptr;
  ring* kept_ = nullptr;
  starter starter_ = starter::program; // of the session that is on, or of what is kept
  describe_function describe_ = nullptr;
  std::string* path_ = nullptr; // of the last start(); never freed, so that the session outlives all statics
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  counters totals_at_stop_;
  counters retired_; // of recorders that have left
  std::uint64_t epoch_ = 1;
  unsigned tracks_ = 0;
  bool environment_read_ = false;
  bool control_read_ = false;
};

} // namespace weft::trace
