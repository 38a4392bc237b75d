// SPDX-License-Identifier: MIT
// Starting, stopping and keeping a session; who records; WEFT_TRACE.
#include "weft/trace/session.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

#include "weft/base/assert.hpp"
#include "weft/base/fence.hpp"
#include "weft/base/knob.hpp"
#include "weft/base/refuse.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/interruptible.hpp"
#include "weft/trace/control.hpp"
#include "weft/trace/file_form.hpp"

namespace weft::trace {
namespace {

using base::refuse;

constinit base::text_knob trace_knob{"WEFT_TRACE", nullptr,
                                     "file for a trace of the workers, from their start to the program's "
                                     "exit; *.weft: raw, for the tool weft; "
                                     "else a timeline in JSON"};
const base::knob_list session_knobs{trace_knob};

constinit session the_session;
static_assert(std::is_trivially_destructible_v<session>, "workers may detach while statics are destroyed");

[[noreturn]] void refuse_file(int error, const std::string& path) {
  throw std::system_error(error, std::system_category(),
                          "weft: the trace cannot be written to " + path + "; it is kept for another path");
}

struct ring_list {
  ring_list() = default;
  ring_list(const ring_list&) = delete;
  ~ring_list() { ring::free_list(first); }
  ring* first = nullptr;
};

// No handler before or after the fork in the parent: the child makes the lock anew and leaks what it guards,
// so the lock needs no place in the order in which other rooms take theirs.
[[maybe_unused]] const int registered =
    ::pthread_atfork(nullptr, nullptr, [] { the_session.forget_after_fork(); });

} // namespace

constinit base::atomic<std::uint32_t> session::recording_{0};

session& session::of_process() noexcept {
  static_cast<void>(registered);
  return the_session;
}

// --- recorders ---

void session::attach(recorder& r, unsigned number, const counters* kept, recorder::switch_function on_switch,
                     void* owner) noexcept {
  std::lock_guard held(lock_);
  if (r.epoch_ == epoch_) {
    return;
  }
  // A ring from before fork() is this worker's alone.
  ring::free(
      r.ring_.exchange_relaxed(nullptr)); // relaxed: the owner is not in add(), and the lock orders the rest
  r.lost_ = 0;
  r.epoch_ = epoch_;
  r.number_ = number;
  r.track_ = tracks_++;
  r.kept_ = kept;
  r.on_switch_ = on_switch;
  r.owner_ = owner;
  r.previous_ = nullptr;
  r.next_ = std::exchange(recorders_, &r);
  if (r.next_ != nullptr) {
    r.next_->previous_ = &r;
  }
  if (recording()) {
    on_switch(owner, true);
  } else if (!std::exchange(environment_read_, true)) {
    start_as_environment_says();
  }
  if (!std::exchange(control_read_, true)) {
    open_control_if_asked();
  }
}

void session::detach(recorder& r) noexcept {
  std::lock_guard held(lock_);
  const std::uint64_t attached_in = std::exchange(r.epoch_, 0);
  if (attached_in != epoch_) {
    ring::free(r.ring_.exchange_relaxed(nullptr)); // relaxed: the owner has ended
    return;
  }
  if (r.previous_ != nullptr) {
    r.previous_->next_ = r.next_;
  } else {
    recorders_ = r.next_;
  }
  if (r.next_ != nullptr) {
    r.next_->previous_ = r.previous_;
  }
  if (recording()) {
    r.on_switch_(r.owner_, false);
  }
  if (r.kept_ != nullptr) {
    retired_ += *r.kept_;
  }
  take_ring(r);
}

void session::remember(shared_recorder& outside) noexcept {
  std::lock_guard held(lock_);
  outside_ = &outside;
}

void session::take_ring(recorder& r) noexcept {
  // relaxed: the owner is outside add(), which (T4) or the end of the owner has ordered before
  if (ring* taken = r.ring_.exchange_relaxed(nullptr)) {
    taken->lost += std::exchange(r.lost_, 0);
    taken->following = std::exchange(kept_, taken);
  }
}

// --- starting and stopping ---

void session::start(std::string path) {
  if (path.empty()) {
    refuse(std::errc::invalid_argument, "weft: a trace needs the path of a file");
  }
  std::lock_guard held(lock_);
  start_locked(std::move(path), starter::program);
}

void session::start_in_memory(starter who) {
  std::lock_guard held(lock_);
  start_locked({}, who);
}

void session::start_locked(std::string path, starter who) {
  if (recording()) {
    refuse(std::errc::operation_in_progress, "weft: a trace is being recorded already");
  }
  if (kept_ != nullptr) {
    refuse(std::errc::device_or_resource_busy,
           "weft: the last trace has not been written yet; write it to another path or discard it");
  }
  if (path_ == nullptr) {
    path_ = new std::string;
  }
  *path_ = std::move(path);
  starter_ = who;
  environment_read_ = true; // whoever starts a session by hand has decided
  begin_ns_ = os::now_ns();
  recording_.store_release(
      1); // (T5) release: all rings have been taken; pairs with the acquire in recording()
  for (recorder* r = recorders_; r != nullptr; r = r->next_) {
    r->on_switch_(r->owner_, true);
  }
}

void session::stop(starter who) noexcept {
  std::lock_guard held(lock_);
  if (starter_ == who) {
    stop_locked();
  }
}

void session::stop_locked() noexcept {
  if (!recording()) {
    return;
  }
  for (recorder* r = recorders_; r != nullptr; r = r->next_) {
    r->on_switch_(r->owner_, false);
  }
  recording_.store_relaxed(0); // relaxed: the fence orders it before the loads below
  base::heavy_fence();         // (T2) pairs with the light fence (T1) in recorder::add()
  for (recorder* r = recorders_; r != nullptr; r = r->next_) {
    // (T4) acquire: all that the owner recorded; pairs with (T3) in recorder::add()
    while (r->writing_.load_acquire() != 0) {
      ::sched_yield();
    }
    take_ring(*r);
  }
  end_ns_ = os::now_ns();
  totals_at_stop_ = total_locked();
}

// --- what is kept ---

void session::write(const std::string& path) {
  std::lock_guard held(lock_);
  if (starter_ != starter::program) {
    return;
  }
  if (recording()) {
    refuse(std::errc::operation_in_progress, "weft: the trace is still being recorded; stop it first");
  }
  if (kept_ == nullptr) {
    return;
  }
  if (path.empty() && path_->empty()) {
    refuse(std::errc::invalid_argument, "weft: this trace was started without a file; it is kept");
  }
  write_locked(path.empty() ? *path_ : path);
}

void session::write_locked(const std::string& path) {
  if (const int error = write_in_form_of(path.c_str(), view_locked()); error != 0) {
    refuse_file(error, path);
  }
  ring::free_list(std::exchange(kept_, nullptr));
}

trace::recording session::take(starter who) {
  std::lock_guard held(lock_);
  if (starter_ != who) {
    return {};
  }
  if (recording()) {
    refuse(std::errc::operation_in_progress, "weft: the trace is still being recorded; stop it first");
  }
  trace::recording all = view_locked();
  auto owned = std::make_shared<ring_list>(); // the last that can fail
  owned->first = std::exchange(kept_, nullptr);
  all.memory = std::move(owned);
  return all;
}

summary session::summarise_kept() {
  std::lock_guard held(lock_);
  if (starter_ != starter::program) {
    return {};
  }
  if (recording()) {
    refuse(std::errc::operation_in_progress, "weft: the trace is still being recorded; stop it first");
  }
  summary all = summarise(view_locked());
  ring::free_list(std::exchange(kept_, nullptr));
  return all;
}

trace::recording session::view_locked() {
  trace::recording all;
  all.begin_ns = begin_ns_;
  all.end_ns = end_ns_;
  all.process = ::getpid();
  std::snprintf(all.program, sizeof all.program, "%s", program_invocation_short_name);
  all.totals = totals_at_stop_;
  for (ring* r = kept_; r != nullptr; r = r->following) {
    if (describe_ != nullptr) {
      r->names.resolve(describe_);
    }
    all.tracks.push_back(
        {r->number, r->track, r->outside, r->dropped(), r->older(), r->newer(), r->names.all()});
  }
  std::sort(all.tracks.begin(), all.tracks.end(), [](const track& a, const track& b) { return a.id < b.id; });
  return all;
}

void session::describe_with(describe_function describe) noexcept {
  std::lock_guard held(lock_);
  describe_ = describe;
}

void session::discard(starter who) noexcept {
  std::lock_guard held(lock_);
  if (!recording() && starter_ == who) {
    ring::free_list(std::exchange(kept_, nullptr));
  }
}

std::uint64_t session::kept() noexcept {
  std::lock_guard held(lock_);
  std::uint64_t sum = 0;
  for (const ring* r = kept_; r != nullptr; r = r->following) {
    sum += r->kept();
  }
  return sum;
}

std::uint64_t session::dropped() noexcept {
  std::lock_guard held(lock_);
  std::uint64_t sum = 0;
  for (const ring* r = kept_; r != nullptr; r = r->following) {
    sum += r->dropped();
  }
  return sum;
}

counters session::total() noexcept {
  std::lock_guard held(lock_);
  return total_locked();
}

counters session::total_locked() noexcept {
  counters sum = retired_;
  for (const recorder* r = recorders_; r != nullptr; r = r->next_) {
    if (r->kept_ != nullptr) {
      sum += *r->kept_;
    }
  }
  return sum;
}

// --- the environment, and fork() ---

void session::start_as_environment_says() noexcept {
  const char* path = trace_knob.get();
  if (path == nullptr || *path == '\0') {
    return;
  }
  // At exit nobody is left to catch an error, so it is said now. An existing file keeps its content until
  // then.
  const int file = os::uninterrupted([=] { return ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666); });
  if (file < 0) {
    base::warn("WEFT_TRACE=%s: %s; nothing is traced", path, std::strerror(errno));
    return;
  }
  ::close(file);
  try {
    start_locked(path, starter::program);
    std::atexit([] { the_session.write_at_exit(); });
  } catch (const std::exception& e) {
    base::warn("WEFT_TRACE=%s: %s", path, e.what());
  }
}

void session::write_at_exit() noexcept {
  try {
    stop();
    const auto lost = static_cast<unsigned long long>(dropped());
    write();
    if (lost != 0) {
      base::warn("the trace in WEFT_TRACE lacks its %llu oldest events; WEFT_TRACE_EVENTS keeps more", lost);
    }
  } catch (const std::exception& e) {
    base::warn("%s", e.what());
  }
}

void session::forget_after_fork() noexcept {
  ::new (static_cast<void*>(&lock_)) std::mutex; // another kernel thread may have held it
  recording_.store_relaxed(0);                   // relaxed: there is one kernel thread
  recorders_ = nullptr;
  kept_ = nullptr;
  path_ = nullptr;
  starter_ = starter::program;
  close_control_after_fork();
  if (outside_ != nullptr) {
    outside_->forget_after_fork();
  }
  retired_ = {};
  ++epoch_;
}

} // namespace weft::trace
