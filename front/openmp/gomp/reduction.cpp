// SPDX-License-Identifier: MIT
// Reductions by tasks. The compiler describes them by words: of each description
//   [0] how many variables   [1] bytes of one thread's copies   [2] their alignment, then where they begin
//   [3] an allocator, or -1   [4] the next description, or the one around all of these
//   [5] not 0: the first of those that are registered together   [6] where the copies end
//   from [7] on three words for each variable: its address, the offset of its copy, and the description
#include "front/openmp/gomp/abi.hpp"

#include <cstdlib>
#include <cstring>

using namespace weft::openmp;
using namespace weft::openmp::gomp;
using word = std::uintptr_t;

namespace {

enum field : unsigned { count = 0, bytes = 1, begin = 2, next = 4, is_first = 5, end = 6, variables = 7 };

word* next_of(const word* d) noexcept {
  return reinterpret_cast<word*>(d[next]);
}

// Calls action(d) for all that are registered together, whose last one names `around`.
template <class Action>
void for_each_together(word* first, const word* around, Action action) {
  for (word* d = first;;) {
    word* const following = next_of(d);
    action(d);
    if (following == nullptr || following == around)
      return;
    d = following;
  }
}

void name_around(word* first, word* around) noexcept {
  word* d = first;
  while (d[next] != 0 && next_of(d) != around)
    d = next_of(d);
  d[next] = reinterpret_cast<word>(around);
}

void allocate(word* first, unsigned threads) {
  for_each_together(first, nullptr, [threads](word* d) {
    const std::size_t size = d[bytes] * threads;
    const std::size_t alignment = d[begin] < sizeof(void*) ? sizeof(void*) : d[begin];
    void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory == nullptr)
      fatal("Out of memory allocating %lu bytes", static_cast<unsigned long>(size));
    std::memset(memory, 0, size);
    d[begin] = reinterpret_cast<word>(memory);
    d[end] = d[begin] + size;
    d[is_first] = 0;
  });
  first[is_first] = 1;
}

word* variable(word* d, word i) noexcept {
  return d + variables + 3 * i;
}

// The description that has the variable itself, or a copy of it; then the offset of its copies.
word* find(word* first, word address, word& offset) noexcept {
  for (word* d = first; d != nullptr; d = next_of(d)) {
    for (word i = 0; i < d[count]; ++i) {
      if (variable(d, i)[0] == address) {
        offset = variable(d, i)[1];
        return d;
      }
    }
  }
  for (word* d = first; d != nullptr; d = next_of(d)) {
    if (address >= d[begin] && address < d[end]) {
      offset = (address - d[begin]) % d[bytes];
      return d;
    }
  }
  return nullptr;
}

void* original_at(word* d, word offset) noexcept {
  for (word i = 0; i < d[count]; ++i) {
    if (variable(d, i)[1] == offset)
      return reinterpret_cast<void*>(variable(d, i)[0]);
  }
  return nullptr;
}

void free_copies(word* first) noexcept {
  word* d = first;
  do {
    std::free(reinterpret_cast<void*>(d[begin]));
    d = next_of(d);
  } while (d != nullptr && d[is_first] == 0);
}

} // namespace

namespace weft::openmp::gomp {

std::uintptr_t* allocate_reductions(std::uintptr_t* data, unsigned threads) {
  allocate(data, threads);
  return data;
}

void free_reductions(std::uintptr_t* data) noexcept {
  free_copies(data);
}

// Each thread has a description of its own, and a group; the copies are those of whoever came first.
void begin_reductions(thread& t, std::uintptr_t* data, std::uintptr_t* of_first) {
  begin_group(t);
  task_group& g = *t.current->group;
  g.of_work_share = true;
  word* const around = g.reductions; // that of the group around
  if (of_first != nullptr) {
    word* theirs = of_first;
    for_each_together(data, nullptr, [&](word* d) {
      d[begin] = theirs[begin];
      d[end] = theirs[end];
      d[is_first] = 0;
      theirs = next_of(theirs);
    });
    data[is_first] = 1;
  }
  name_around(data, around);
  g.reductions = data;
}

} // namespace weft::openmp::gomp

OMP_EXPORT void GOMP_taskgroup_reduction_register(std::uintptr_t* data) {
  thread& t = caller();
  task_group& g = *t.current->group;
  allocate(data, t.at.team->size);
  name_around(data, g.reductions);
  g.reductions = data;
}

OMP_EXPORT void GOMP_taskgroup_reduction_unregister(std::uintptr_t* data) {
  free_copies(data);
}

// Replaces addresses of variables, or of another thread's copies, by the caller's copies; of the first
// `originals` the variables' own addresses come behind.
OMP_EXPORT void GOMP_task_reduction_remap(std::size_t number, std::size_t originals, void** addresses) {
  thread& t = caller();
  word* const first = t.current->group != nullptr ? t.current->group->reductions : nullptr;
  for (std::size_t i = 0; i < number; ++i) {
    word offset = 0;
    word* const d = find(first, reinterpret_cast<word>(addresses[i]), offset);
    if (d == nullptr)
      fatal("couldn't find matching task_reduction or reduction with task modifier for %p", addresses[i]);
    if (i < originals)
      addresses[number + i] = original_at(d, offset);
    addresses[i] = reinterpret_cast<void*>(d[begin] + t.at.number * d[bytes] + offset);
  }
}

OMP_EXPORT void GOMP_workshare_task_reduction_unregister(bool cancelled) {
  thread& t = called();
  word* const data = t.current->group->reductions;
  end_group(t);
  if (t.at.number == 0)
    free_copies(data);
  if (!cancelled)
    static_cast<void>(barrier(t, false));
}
