// SPDX-License-Identifier: MIT
// critical, atomic, and the locks that programs have. All are the door's word of four bytes, in memory that
// begins as zeros; a nested lock has 16 bytes here.
#include "front/openmp/gomp/abi.hpp"
#include "weft/door/mutex.hpp"
#include "weft/door/section.hpp"

#include <new>

using namespace weft::openmp;
namespace door = weft::door;

namespace {

constinit door::lock_word one_critical;
constinit door::lock_word one_atomic;

struct nothing_to_announce {
  int operator()() const noexcept { return 0; }
};

void take(door::lock_word& lock) {
  const std::uint32_t displaced = lock.take();
  if (door::lock_word::is_free(displaced))
    return;
  const errno_kept as_it_was;
  const door::runtime_section in;
  lock.lock(door::no_deadline, displaced, nothing_to_announce()); // SWITCH: may resume on another worker
}

door::lock_word& word_in(void* memory) noexcept {
  return *static_cast<door::lock_word*>(memory);
}

bool try_take(door::lock_word& lock) noexcept {
  return lock.try_lock();
}

} // namespace

OMP_EXPORT void GOMP_critical_start() {
  take(one_critical);
}
OMP_EXPORT void GOMP_critical_end() {
  one_critical.release();
}
// A pointer's worth of zeros for each name.
OMP_EXPORT void GOMP_critical_name_start(void** name) {
  take(word_in(name));
}
OMP_EXPORT void GOMP_critical_name_end(void** name) {
  word_in(name).release();
}
OMP_EXPORT void GOMP_atomic_start() {
  take(one_atomic);
}
OMP_EXPORT void GOMP_atomic_end() {
  one_atomic.release();
}

// --- omp_lock_t, 4 bytes ---

OMP_EXPORT void omp_init_lock(void* lock) {
  ::new (lock) door::lock_word;
}
OMP_EXPORT void omp_init_lock_with_hint(void* lock, int /*hint*/) {
  ::new (lock) door::lock_word;
}
OMP_EXPORT void omp_destroy_lock(void* /*lock*/) {}
OMP_EXPORT void omp_set_lock(void* lock) {
  take(word_in(lock));
}
OMP_EXPORT void omp_unset_lock(void* lock) {
  word_in(lock).release();
}
OMP_EXPORT int omp_test_lock(void* lock) {
  return try_take(word_in(lock)) ? 1 : 0;
}

// --- omp_nest_lock_t, 16 bytes: its owner is a task ---

namespace {

struct nest_lock {
  door::lock_word word;
  int depth;
  door::atomic<task*> owner; // RACY for others than the owner: they find anything but themselves
};
static_assert(sizeof(nest_lock) == 16);

nest_lock& nested_in(void* memory) noexcept {
  return *static_cast<nest_lock*>(memory);
}

void own(nest_lock& lock, task& by) noexcept {
  lock.owner.store_relaxed(&by); // relaxed: only its own mark matters to a caller
  lock.depth = 1;
}

} // namespace

OMP_EXPORT void omp_init_nest_lock(void* lock) {
  ::new (lock) nest_lock{};
}
OMP_EXPORT void omp_init_nest_lock_with_hint(void* lock, int /*hint*/) {
  ::new (lock) nest_lock{};
}
OMP_EXPORT void omp_destroy_nest_lock(void* /*lock*/) {}
OMP_EXPORT void omp_set_nest_lock(void* memory) {
  nest_lock& lock = nested_in(memory);
  task& me = *caller().current;
  if (lock.owner.load_relaxed() == &me) {
    ++lock.depth;
    return;
  }
  take(lock.word); // SWITCH: may resume on another worker
  own(lock, me);
}
OMP_EXPORT void omp_unset_nest_lock(void* memory) {
  nest_lock& lock = nested_in(memory);
  if (--lock.depth != 0)
    return;
  lock.owner.store_relaxed(nullptr);
  lock.word.release();
}
OMP_EXPORT int omp_test_nest_lock(void* memory) {
  nest_lock& lock = nested_in(memory);
  task& me = *caller().current;
  if (lock.owner.load_relaxed() == &me)
    return ++lock.depth;
  if (!try_take(lock.word))
    return 0;
  own(lock, me);
  return 1;
}
