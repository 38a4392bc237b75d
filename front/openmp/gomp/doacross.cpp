// SPDX-License-Identifier: MIT
// Loops whose iterations wait for earlier ones: ordered(n), depend(sink), depend(source). Iterations are
// numbers from 0 here, as the compiler gives them.
#include "front/openmp/gomp/abi.hpp"

#include <cstdarg>
#include <vector>

using namespace weft::openmp;
using namespace weft::openmp::gomp;
using ull = unsigned long long;

namespace {

// The outermost loop runs from 0 to counts[0] by 1.
template <class Value>
bool begin_doacross(thread& t, unsigned dimensions, const Value* counts, const loop_form& f, Value* first,
                    Value* last, std::uintptr_t* reductions = nullptr, void** memory = nullptr) {
  enter_share_with(t, reductions, memory, [&](work_share& s) {
    const std::vector<std::uint64_t> numbers(counts, counts + dimensions);
    set_up(s, {0, 1, numbers[0], numbers[0]}, f);
    start_doacross(s, dimensions, numbers.data());
  });
  return first == nullptr || next_chunk(t, first, last);
}

template <class Value>
void post(const Value* numbers) {
  thread& t = called();
  const doacross& d = *t.at.share->across;
  const std::vector<std::uint64_t> list(numbers, numbers + d.dimensions);
  if (tool::is_on) [[unlikely]]
    tool::iteration(t, list.data(), d.dimensions, tool::source);
  post_doacross(t, d, list.data());
}

template <class Value>
void wait_for(Value first, va_list rest) {
  thread& t = called();
  const doacross& d = *t.at.share->across;
  std::vector<std::uint64_t> list{static_cast<std::uint64_t>(first)};
  while (list.size() < d.dimensions)
    list.push_back(static_cast<std::uint64_t>(va_arg(rest, Value)));
  await_doacross(t, d, list.data()); // SWITCH: may resume on another worker
  if (tool::is_on) [[unlikely]]
    tool::iteration(t, list.data(), d.dimensions, tool::sink);
}

} // namespace

#define DOACROSS_LOOP(name, kind)                                                                            \
  OMP_EXPORT bool GOMP_loop_doacross_##name##_start(unsigned n, long* counts, long chunk, long* first,       \
                                                    long* last) {                                            \
    return begin_doacross(called(), n, counts, {kind, static_cast<std::uint64_t>(chunk)}, first, last);      \
  }                                                                                                          \
  OMP_EXPORT bool GOMP_loop_ull_doacross_##name##_start(unsigned n, ull* counts, ull chunk, ull* first,      \
                                                        ull* last) {                                         \
    return begin_doacross(called(), n, counts, {kind, chunk}, first, last);                                  \
  }

DOACROSS_LOOP(static, schedule::fixed)
DOACROSS_LOOP(dynamic, schedule::dynamic)
DOACROSS_LOOP(guided, schedule::guided)

OMP_EXPORT bool GOMP_loop_doacross_runtime_start(unsigned n, long* counts, long* first, long* last) {
  thread& t = called();
  return begin_doacross(t, n, counts, runtime_form(t), first, last);
}
OMP_EXPORT bool GOMP_loop_ull_doacross_runtime_start(unsigned n, ull* counts, ull* first, ull* last) {
  thread& t = called();
  return begin_doacross(t, n, counts, runtime_form(t), first, last);
}
OMP_EXPORT bool GOMP_loop_doacross_start(unsigned n, long* counts, long kind, long chunk, long* first,
                                         long* last, std::uintptr_t* reductions, void** memory) {
  thread& t = called();
  return begin_doacross(t, n, counts, form_of(t, kind & 0x7fffffff, static_cast<std::uint64_t>(chunk)), first,
                        last, reductions, memory);
}
OMP_EXPORT bool GOMP_loop_ull_doacross_start(unsigned n, ull* counts, long kind, ull chunk, ull* first,
                                             ull* last, std::uintptr_t* reductions, void** memory) {
  thread& t = called();
  return begin_doacross(t, n, counts, form_of(t, kind & 0x7fffffff, chunk), first, last, reductions, memory);
}

OMP_EXPORT void GOMP_doacross_post(long* numbers) {
  post(numbers);
}
OMP_EXPORT void GOMP_doacross_ull_post(ull* numbers) {
  post(numbers);
}
OMP_EXPORT void GOMP_doacross_wait(long first, ...) {
  va_list rest;
  va_start(rest, first);
  wait_for(first, rest);
  va_end(rest);
}
OMP_EXPORT void GOMP_doacross_ull_wait(ull first, ...) {
  va_list rest;
  va_start(rest, first);
  wait_for(first, rest);
  va_end(rest);
}
