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

namespace {

// What a tool hears of is the lock by its address. `from` and `stack`: of the program's call.
thread& called_from(const void* from, void* stack) {
  thread& t = caller();
  t.told.called = {from, stack, tool::sync::implementation_barrier};
  return t;
}
[[gnu::noinline, gnu::cold]] void take_and_tell(tool::mutex kind, door::lock_word& lock, const void* from,
                                                void* stack) {
  thread& t = called_from(from, stack);
  tool::acquires(t, kind, &lock);
  take(lock); // SWITCH: may resume on another worker
  tool::acquired(t, kind, &lock);
}
// Before it is free: the next one's taking comes after this.
[[gnu::noinline, gnu::cold]] void release_and_tell(tool::mutex kind, door::lock_word& lock, const void* from,
                                                   void* stack) {
  tool::released(called_from(from, stack), kind, &lock);
  lock.release();
}
[[gnu::noinline, gnu::cold]] int test_and_tell(door::lock_word& lock, const void* from, void* stack) {
  thread& t = called_from(from, stack);
  tool::acquires(t, tool::mutex::test_lock, &lock);
  const bool got = try_take(lock);
  got ? tool::acquired(t, tool::mutex::test_lock, &lock) : tool::stays_free(t);
  return got ? 1 : 0;
}

[[gnu::always_inline]] inline void take_as(tool::mutex kind, door::lock_word& lock) {
  if (tool::is_on) [[unlikely]]
    return take_and_tell(kind, lock, __builtin_return_address(0), __builtin_dwarf_cfa()); // SWITCH: may
  take(lock); // SWITCH: may resume on another worker
}
[[gnu::always_inline]] inline void release_as(tool::mutex kind, door::lock_word& lock) {
  if (tool::is_on) [[unlikely]]
    return release_and_tell(kind, lock, __builtin_return_address(0), __builtin_dwarf_cfa());
  lock.release();
}
// A program's first call may be this one.
[[gnu::always_inline]] inline void begin_lock(tool::mutex kind, const void* lock, int hint) {
  thread& t = gomp::called();
  if (tool::is_on) [[unlikely]]
    tool::lock_begins(t, kind, lock, static_cast<unsigned>(hint));
}
[[gnu::always_inline]] inline void end_lock(tool::mutex kind, const void* lock) {
  if (tool::is_on) [[unlikely]]
    tool::lock_ends(gomp::called(), kind, lock);
}

} // namespace

OMP_EXPORT void GOMP_critical_start() {
  take_as(tool::mutex::critical, one_critical); // SWITCH: may resume on another worker
}
OMP_EXPORT void GOMP_critical_end() {
  release_as(tool::mutex::critical, one_critical);
}
// A pointer's worth of zeros for each name.
OMP_EXPORT void GOMP_critical_name_start(void** name) {
  take_as(tool::mutex::critical, word_in(name)); // SWITCH: may resume on another worker
}
OMP_EXPORT void GOMP_critical_name_end(void** name) {
  release_as(tool::mutex::critical, word_in(name));
}
OMP_EXPORT void GOMP_atomic_start() {
  take_as(tool::mutex::atomic, one_atomic); // SWITCH: may resume on another worker
}
OMP_EXPORT void GOMP_atomic_end() {
  release_as(tool::mutex::atomic, one_atomic);
}

// --- omp_lock_t, 4 bytes ---

OMP_EXPORT void omp_init_lock(void* lock) {
  ::new (lock) door::lock_word;
  begin_lock(tool::mutex::lock, lock, 0);
}
OMP_EXPORT void omp_init_lock_with_hint(void* lock, int hint) {
  ::new (lock) door::lock_word;
  begin_lock(tool::mutex::lock, lock, hint);
}
OMP_EXPORT void omp_destroy_lock(void* lock) {
  end_lock(tool::mutex::lock, lock);
}
OMP_EXPORT void omp_set_lock(void* lock) {
  take_as(tool::mutex::lock, word_in(lock)); // SWITCH: may resume on another worker
}
OMP_EXPORT void omp_unset_lock(void* lock) {
  release_as(tool::mutex::lock, word_in(lock));
}
OMP_EXPORT int omp_test_lock(void* lock) {
  if (tool::is_on) [[unlikely]]
    return test_and_tell(word_in(lock), __builtin_return_address(0), __builtin_dwarf_cfa());
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
  begin_lock(tool::mutex::nest_lock, lock, 0);
}
OMP_EXPORT void omp_init_nest_lock_with_hint(void* lock, int hint) {
  ::new (lock) nest_lock{};
  begin_lock(tool::mutex::nest_lock, lock, hint);
}
OMP_EXPORT void omp_destroy_nest_lock(void* lock) {
  end_lock(tool::mutex::nest_lock, lock);
}
OMP_EXPORT void omp_set_nest_lock(void* memory) {
  nest_lock& lock = nested_in(memory);
  thread& t = gomp::called();
  task& me = *t.current;
  if (tool::is_on) [[unlikely]]
    tool::acquires(t, tool::mutex::nest_lock, memory);
  if (lock.owner.load_relaxed() == &me) {
    ++lock.depth;
    if (tool::is_on) [[unlikely]]
      tool::nests(t, memory, true);
    return;
  }
  take(lock.word); // SWITCH: may resume on another worker
  own(lock, me);
  if (tool::is_on) [[unlikely]]
    tool::acquired(t, tool::mutex::nest_lock, memory);
}
OMP_EXPORT void omp_unset_nest_lock(void* memory) {
  nest_lock& lock = nested_in(memory);
  if (--lock.depth != 0) {
    if (tool::is_on) [[unlikely]]
      tool::nests(gomp::called(), memory, false);
    return;
  }
  if (tool::is_on) [[unlikely]]
    tool::released(gomp::called(), tool::mutex::nest_lock, memory);
  lock.owner.store_relaxed(nullptr);
  lock.word.release();
}

namespace {

int try_nest(nest_lock& lock, task& me) noexcept {
  if (lock.owner.load_relaxed() == &me)
    return ++lock.depth;
  if (!try_take(lock.word))
    return 0;
  own(lock, me);
  return 1;
}

} // namespace

OMP_EXPORT int omp_test_nest_lock(void* memory) {
  thread& t = gomp::called();
  if (!tool::is_on) [[likely]]
    return try_nest(nested_in(memory), *t.current);
  tool::acquires(t, tool::mutex::test_nest_lock, memory);
  const int depth = try_nest(nested_in(memory), *t.current);
  if (depth == 1)
    tool::acquired(t, tool::mutex::test_nest_lock, memory);
  else
    tool::stays_free(t);
  if (depth > 1)
    tool::nests(t, memory, true);
  return depth;
}
