// SPDX-License-Identifier: MIT
// Who calls, as the C API tells callers apart: the door's kinds, and the stream that one is on; and what
// their ways into the runtime are.
#pragma once

#include "front/abt/abt.h"
#include "weft/door/caller.hpp"
#include "weft/door/section.hpp"
#include "weft/door/stream.hpp"

namespace weft::abt {

struct xstream;

using door::caller;
using door::may_wait;
using door::who;

// The stream that runs the caller; null on kernel threads and on workers that are no streams.
inline xstream* stream_here() noexcept {
  return door::owner_here<xstream>();
}

// The unit that calls, if it runs on a stream; else null. For caller::loop: what stands for the loop.
inline door::descriptor* unit_here() noexcept {
  return stream_here() != nullptr ? &door::unit_here() : nullptr;
}

// A caller who must be a ULT on a stream: it, or null and what it is told instead.
struct ult_caller {
  door::descriptor* self;
  int code;
};
inline ult_caller calling_ult() noexcept {
  const worker* const w = door::stream_here();
  if (w == nullptr)
    return {nullptr, ABT_ERR_INV_XSTREAM};
  if (!door::is_thread(*w->current))
    return {nullptr, ABT_ERR_INV_THREAD};
  return {w->current, ABT_SUCCESS};
}

// `f()` in the runtime: the rare twin of what is inlined where door::needs_no_section().
template <class F>
[[gnu::noinline]] int call_in_section(F f) {
  const door::runtime_section in_runtime;
  return f();
}

} // namespace weft::abt
