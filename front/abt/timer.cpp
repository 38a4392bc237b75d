// SPDX-License-Identifier: MIT
// Time: the clock, timers, and sleeping.
#include "front/abt/abtx.h"
#include "front/abt/primitive.hpp"
#include "weft/door/deadline.hpp"
#include "weft/door/section.hpp"
#include "weft/thread.hpp"

namespace weft::abt {
namespace {

// *Ownership*: one user at a time, as the program arranges.
class timer : public object {
 public:
  static constexpr kind own_kind = kind::timer;
  timer() noexcept : object(own_kind) {}
  explicit timer(const timer* other) noexcept
      : object(own_kind), start_(other->start_), stop_(other->stop_) {}

  void start() noexcept { start_ = door::now(); }
  void stop() noexcept { stop_ = door::now(); }
  [[nodiscard]] double seconds() const noexcept { return static_cast<double>(stop_ - start_) * 1e-9; }

 private:
  std::int64_t start_ = 0;
  std::int64_t stop_ = 0;
};

template <class F>
int with(ABT_timer handle, F f) noexcept {
  auto* const t = checked<timer>(handle);
  if (t == nullptr)
    return ABT_ERR_INV_TIMER;
  f(*t);
  return ABT_SUCCESS;
}

} // namespace
} // namespace weft::abt

using namespace weft::abt;

extern "C" {

double ABT_get_wtime(void) {
  return static_cast<double>(weft::door::now()) * 1e-9;
}

int ABT_timer_create(ABT_timer* new_timer) {
  const weft::door::runtime_section in_runtime;
  return create<timer>(new_timer, ABT_TIMER_NULL);
}

int ABT_timer_dup(ABT_timer handle, ABT_timer* new_timer) {
  const weft::door::runtime_section in_runtime;
  const auto* const t = checked<timer>(handle); // `handle` may be what *new_timer holds
  *new_timer = ABT_TIMER_NULL;
  if (t == nullptr)
    return ABT_ERR_INV_TIMER;
  return create<timer>(new_timer, ABT_TIMER_NULL, t);
}

int ABT_timer_free(ABT_timer* handle) {
  const weft::door::runtime_section in_runtime;
  return free_object<timer>(handle, ABT_TIMER_NULL, ABT_ERR_INV_TIMER);
}

int ABT_timer_start(ABT_timer handle) {
  const weft::door::runtime_section in_runtime;
  return with(handle, [](timer& t) { t.start(); });
}

int ABT_timer_stop(ABT_timer handle) {
  const weft::door::runtime_section in_runtime;
  return with(handle, [](timer& t) { t.stop(); });
}

int ABT_timer_read(ABT_timer handle, double* seconds) {
  const weft::door::runtime_section in_runtime;
  return with(handle, [=](const timer& t) { *seconds = t.seconds(); });
}

int ABT_timer_stop_and_read(ABT_timer handle, double* seconds) {
  const weft::door::runtime_section in_runtime;
  return with(handle, [=](timer& t) {
    t.stop();
    *seconds = t.seconds();
  });
}

int ABT_timer_stop_and_add(ABT_timer handle, double* seconds) {
  const weft::door::runtime_section in_runtime;
  return with(handle, [=](timer& t) {
    t.stop();
    *seconds += t.seconds();
  });
}

int ABT_timer_get_overhead(double* overhead) {
  const weft::door::runtime_section in_runtime;
  constexpr int rounds = 1000;
  double sum = 0;
  timer t;
  for (int i = 0; i < rounds; ++i) {
    t.start();
    t.stop();
    sum += t.seconds();
  }
  *overhead = sum / rounds;
  return ABT_SUCCESS;
}

int ABTX_self_sleep(double seconds) {
  const weft::door::runtime_section in_runtime;
  if (!(seconds >= 0)) // also what is not a number
    return ABT_ERR_INV_ARG;
  if (!may_wait())
    return ABT_ERR_INV_THREAD;
  const weft::door::deadline until = weft::door::deadline_in(seconds);
  if (weft::door::passed(until)) {
    weft::this_thread::yield(); // SWITCH: may resume on another worker
    // Not guarded: it may be the thread's end.
    return ABT_SUCCESS;
  }
  return guarded([=] {
    weft::door::sleep_until(until); // SWITCH: may resume on another worker
    return ABT_SUCCESS;
  });
}

} // extern "C"
