// SPDX-License-Identifier: MIT
#include "front/openmp/thread.hpp"

#include "front/openmp/crew.hpp"
#include "front/openmp/dependence.hpp"
#include "front/openmp/places.hpp"
#include "weft/door/process.hpp"
#include "weft/door/workers.hpp"

#include <memory>
#include <pthread.h>

namespace weft::openmp {

__thread thread* self __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constexpr std::size_t room_for_shares = 8;
constexpr std::size_t room_for_tasks = 256;

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

thread::thread() : id(next_id()), alone(std::make_unique<team>(1)) {
  spare_shares.reserve(room_for_shares);
  spare_tasks.reserve(room_for_tasks);
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
  take_returned_cells(*this);
  for (void* memory : spare_tasks)
    ::operator delete(memory, std::align_val_t{alignof(task)});
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
