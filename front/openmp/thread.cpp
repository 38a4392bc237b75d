// SPDX-License-Identifier: MIT
#include "front/openmp/thread.hpp"

#include "front/openmp/crew.hpp"
#include "front/openmp/dependence.hpp"
#include "front/openmp/places.hpp"
#include "weft/door/process.hpp"
#include "weft/door/workers.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <pthread.h>
#include <utility>

namespace weft::openmp {

__thread thread* self __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constexpr std::size_t room_for_shares = 8;

// What a kernel thread of the program's leaves when it ends.
void leave(void* t) {
  auto* const met = static_cast<thread*>(t);
  self = met; // destructors of other keys may call the runtime afterwards, and then meet it anew
  dismiss_crews(*met);
  release_pinned(*met);
  if (tool::is_on)
    tool::thread_ends(*met);
  self = nullptr;
  delete met;
}

pthread_key_t end_of_thread() noexcept {
  struct made {
    made() noexcept { static_cast<void>(::pthread_key_create(&key, &leave)); }
    pthread_key_t key{};
  };
  return door::immortal<made>().key;
}

} // namespace

namespace {

int next_id() noexcept {
  static constinit door::atomic<int> next{0};
  return next.fetch_add_relaxed(1); // relaxed: only the numbers differ
}

} // namespace

std::int64_t theft_pause::now() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

// Not where threads share CPUs: who looked away there would keep the maker from its own.
std::int64_t theft_pause::begin() noexcept {
  return threads_running().load_relaxed() <= processors() ? now() : 0; // relaxed: a hint
}

void theft_pause::end(std::int64_t began, unsigned tasks) noexcept {
  constexpr std::int32_t shortest = 250;
  constexpr std::int32_t longest = 4000;
  constexpr std::int64_t little = 500; // and for each task:
  constexpr std::int64_t little_each = 250;
  const std::int64_t at = now();
  last_ = at - began < little + little_each * tasks ? std::min(std::max(2 * last_, shortest), longest) : 0;
  until_ = last_ != 0 ? at + last_ : 0;
}

bool theft_pause::is_over() noexcept {
  if (now() < until_) {
    door::relax();
    return false;
  }
  until_ = 0;
  return true;
}

thread::thread() : id(next_id()), alone(std::make_unique<team>(1)) {
  spare_shares.reserve(room_for_shares);
  member& m = alone->members[0];
  m.who = this;
  m.implicit.team = alone.get();
  at.team = alone.get();
  at.share = &alone->first_share;
  current = &m.implicit;
}

thread::~thread() {
  if (at.share != nullptr && alone != nullptr && at.share != &alone->first_share)
    delete at.share;
  for (work_share* s : spare_shares)
    delete s;
}

thread& meet_caller() {
  auto* const t = new thread;
  t->own_group = std::make_unique<contention_group>();
  t->group = t->own_group.get();
  t->current->icv = process().first;
  ::pthread_setspecific(end_of_thread(), t);
  self = t;
  t->runs_on_own_variables = door::calls_on_own_variables();
  if (!t->runs_on_own_variables) // else there is no kernel thread to put on a place
    meet_places(*t);
  tool::meet(*t);
  return *t;
}

void forget_others(thread& t) noexcept {
  t.has_pinned = false;
  for (auto& c : t.crews)
    c->forget();
}

} // namespace weft::openmp
