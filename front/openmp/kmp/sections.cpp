// SPDX-License-Identifier: MIT
// Sections that the runtime gives out, scopes, copyprivate in one step, and `omp error`: what clang has
// learned to call, or may, beside what stands in the other files.
#include "front/openmp/kmp/abi.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace weft::openmp;
using namespace weft::openmp::kmp;

// The caller asks for one after the other; what is not below `count` is none.
KMP_EXPORT int __kmpc_sections_init(ident* at, int) {
  thread& t = called_by(at);
  enter_share(t, [](work_share&) {});
  if (tool::is_on) [[unlikely]]
    tool::work_begins(t, tool::work::sections, 0);
  return 1;
}
KMP_EXPORT int __kmpc_next_section(ident* at, int, int count) {
  thread& t = called_by(at);
  // relaxed: only the numbers differ
  const std::uint64_t next = t.at.share->taken.fetch_add_relaxed(1);
  if (tool::is_on && next < static_cast<std::uint64_t>(count)) [[unlikely]]
    tool::section_begins(t);
  return static_cast<int>(std::min(next, static_cast<std::uint64_t>(count)));
}
KMP_EXPORT void __kmpc_end_sections(ident* at, int) {
  tell_end_of_work(at);
}

// scope only tells tools; its barrier is a call of its own.
KMP_EXPORT void __kmpc_scope(ident* at, int, void*) {
  if (tool::is_on) [[unlikely]]
    tool::work_begins(called_by(at), tool::work::scope, 1);
}
KMP_EXPORT void __kmpc_end_scope(ident* at, int, void*) {
  tell_end_of_work(at);
}

// Who executed the single gives its address, the others null; all get it, and copy by themselves. A barrier
// before they read and one after it are the compiler's second call and its own.
KMP_EXPORT void* __kmpc_copyprivate_light(ident* at, int, void* data) {
  thread& t = called_by(at);
  if (data != nullptr)
    t.at.share->copied = data;
  static_cast<void>(barrier(t, false));
  return t.at.share->copied;
}

void kmp::say_error(int severity, const char* text) {
  constexpr int fatal = 2;
  std::fprintf(stderr, "OMP: %s: Encountered user-directed %s: %s.\n",
               severity == fatal ? "Error" : "Warning", severity == fatal ? "error" : "warning", text);
  if (severity == fatal)
    std::abort();
}

KMP_EXPORT void __kmpc_error(ident* at, int severity, const char* message) {
  if (tool::is_on) [[unlikely]]
    tool::error(called_by(at), severity, message != nullptr ? message : "");
  kmp::say_error(severity, message != nullptr ? message : "");
}
