// SPDX-License-Identifier: MIT
// Loops whose iterations wait for earlier ones, and memory: what is left of LLVM's ABI for clang's programs.
// The bounds are given before the loop, and iterations are named by the values of their variables.
#include "front/openmp/gomp/functions.hpp"
#include "front/openmp/kmp/abi.hpp"

#include <vector>

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// kmp_dim.
struct bounds {
  std::int64_t low;
  std::int64_t high;
  std::int64_t step;
};

std::uint64_t count_of(const bounds& b) noexcept {
  if (b.step > 0)
    return b.high < b.low
               ? 0
               : static_cast<std::uint64_t>(b.high - b.low) / static_cast<std::uint64_t>(b.step) + 1;
  return b.low < b.high
             ? 0
             : static_cast<std::uint64_t>(b.low - b.high) / static_cast<std::uint64_t>(-b.step) + 1;
}

struct open_loop : loop_with_bounds {
  std::shared_ptr<doacross> across;
  std::vector<bounds> of;

  // False: there is no such iteration, and nobody waits for it.
  bool numbers(const std::int64_t* values, std::vector<std::uint64_t>& out) const {
    for (std::size_t i = 0; i < of.size(); ++i) {
      const std::int64_t away = of[i].step > 0 ? values[i] - of[i].low : of[i].low - values[i];
      const std::int64_t by = of[i].step > 0 ? of[i].step : -of[i].step;
      if (away < 0 || static_cast<std::uint64_t>(away / by) >= across->counts[i])
        return false;
      out.push_back(static_cast<std::uint64_t>(away / by));
    }
    return true;
  }
};

open_loop& loop_of(thread& t) noexcept {
  return static_cast<open_loop&>(*t.across);
}

// A tool gets the values of the variables.
void tell_iteration(thread& t, const open_loop& loop, const std::int64_t* values,
                    tool::dependence_type type) {
  const std::vector<std::uint64_t> list(values, values + loop.of.size());
  tool::iteration(t, list.data(), list.size(), type);
}

} // namespace

KMP_EXPORT void __kmpc_doacross_init(ident*, int, int dimensions, const bounds* of) {
  thread& t = caller();
  auto loop = std::make_unique<open_loop>();
  std::vector<std::uint64_t> counts;
  for (int i = 0; i < dimensions; ++i) {
    loop->of.push_back(of[i]);
    counts.push_back(count_of(of[i]));
  }
  enter_share(t, [&](work_share& s) { start_doacross(s, static_cast<unsigned>(dimensions), counts.data()); });
  loop->across = t.at.share->across; // lives on when the thread goes on to the loop's own share
  t.across = std::move(loop);
}
KMP_EXPORT void __kmpc_doacross_wait(ident* at, int, const std::int64_t* values) {
  thread& t = called_by(at);
  const open_loop& loop = loop_of(t);
  std::vector<std::uint64_t> numbers;
  if (!loop.numbers(values, numbers))
    return;
  await_doacross(t, *loop.across, numbers.data()); // SWITCH: may resume on another worker
  if (tool::is_on) [[unlikely]]
    tell_iteration(t, loop, values, tool::sink);
}
KMP_EXPORT void __kmpc_doacross_post(ident* at, int, const std::int64_t* values) {
  thread& t = called_by(at);
  const open_loop& loop = loop_of(t);
  std::vector<std::uint64_t> numbers;
  if (!loop.numbers(values, numbers))
    return;
  if (tool::is_on) [[unlikely]]
    tell_iteration(t, loop, values, tool::source);
  post_doacross(t, *loop.across, numbers.data());
}
KMP_EXPORT void __kmpc_doacross_fini(ident*, int) {
  caller().across.reset();
}

// --- memory ---

KMP_EXPORT void* __kmpc_alloc(int, std::size_t bytes, std::uintptr_t allocator) {
  return omp_alloc(bytes, allocator);
}
KMP_EXPORT void* __kmpc_aligned_alloc(int, std::size_t align, std::size_t bytes, std::uintptr_t allocator) {
  return omp_aligned_alloc(align, bytes, allocator);
}
KMP_EXPORT void* __kmpc_calloc(int, std::size_t count, std::size_t bytes, std::uintptr_t allocator) {
  return omp_calloc(count, bytes, allocator);
}
KMP_EXPORT void* __kmpc_realloc(int, void* block, std::size_t bytes, std::uintptr_t allocator,
                                std::uintptr_t from) {
  return omp_realloc(block, bytes, allocator, from);
}
KMP_EXPORT void __kmpc_free(int, void* block, std::uintptr_t allocator) {
  omp_free(block, allocator);
}

// What the compiler makes of traits and of default allocators.
KMP_EXPORT std::uintptr_t __kmpc_init_allocator(int, std::uintptr_t space, int count, const void* traits) {
  return omp_init_allocator(space, count, traits);
}
KMP_EXPORT void __kmpc_destroy_allocator(int, std::uintptr_t allocator) {
  omp_destroy_allocator(allocator);
}
KMP_EXPORT void __kmpc_set_default_allocator(int, std::uintptr_t allocator) {
  omp_set_default_allocator(allocator);
}
KMP_EXPORT std::uintptr_t __kmpc_get_default_allocator(int) {
  return omp_get_default_allocator();
}
