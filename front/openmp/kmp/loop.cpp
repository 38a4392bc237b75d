// SPDX-License-Identifier: MIT
// Loops of clang's programs. Bounds are inclusive here. Static loops ask for their part once; others for
// chunk after chunk (dispatch).
#include "front/openmp/kmp/bounds.hpp"

#include <algorithm>

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// --- dispatch ---

struct form {
  schedule kind;
  std::uint64_t chunk;
  bool ordered;
  std::uint64_t multiple = 1;
};

// What schedule(runtime) is, by OMP_SCHEDULE or omp_set_schedule(): chunks of so many times `unit`.
void choose_at_run_time(const icvs& icv, std::uint64_t unit, form& f) noexcept {
  if (!icv.schedule_given || icv.run_schedule == schedule::automatic) {
    f.kind = schedule::fixed;
    f.chunk = 0;
  } else {
    f.kind = icv.run_schedule;
    f.chunk = icv.chunk * unit;
  }
}

form form_of(const thread& t, std::int32_t kind, std::uint64_t chunk) noexcept {
  kind &= without_marks;
  form f{schedule::fixed, chunk, kind >= first_ordered && kind < distribute_chunked};
  if (f.ordered)
    kind -= ordered_distance;
  const icvs& icv = t.current->icv;
  switch (kind) {
  case static_chunked:
    break;
  case static_simd:
    f.multiple = std::max<std::uint64_t>(chunk, 1);
    f.chunk = 0;
    break;
  case guided_simd:
    f.kind = schedule::guided;
    f.multiple = std::max<std::uint64_t>(chunk, 1);
    break;
  case runtime_simd:
    f.multiple = std::max<std::uint64_t>(chunk, 1);
    choose_at_run_time(icv, f.multiple, f);
    if (f.kind == schedule::guided)
      f.multiple = f.chunk;
    break;
  case dynamic_chunked:
  case 44: // static with stealing
    f.kind = schedule::dynamic;
    break;
  case guided_chunked:
  case 39: // trapezoidal
  case 42:
  case 43: // guided, by iterations and by a formula
    f.kind = schedule::guided;
    break;
  case by_runtime:
    choose_at_run_time(icv, 1, f);
    break;
  default:
    f.chunk = 0;
    break;
  }
  return f;
}

tool::work work_of(const ident* at, const work_share& s) noexcept {
  const std::int32_t flags = at != nullptr ? at->flags : 0;
  if ((flags & for_sections) != 0)
    return tool::work::sections;
  if ((flags & for_distribute) != 0)
    return tool::work::distribute;
  switch (s.kind) {
  case schedule::dynamic:
    return tool::work::dynamic_loop;
  case schedule::guided:
    return tool::work::guided_loop;
  default:
    return tool::work::static_loop;
  }
}

template <class Value>
void begin(thread& t, const ident* at, std::int32_t kind, Value lower, Value upper,
           std::make_signed_t<Value> step, std::make_signed_t<Value> chunk) {
  const form f = form_of(t, kind, chunk < 0 ? 0 : static_cast<std::uint64_t>(chunk));
  enter_share(t, [&](work_share& s) {
    s.space = {static_cast<std::uint64_t>(lower), static_cast<std::uint64_t>(step), 0,
               count_of(lower, upper, step)};
    s.kind = f.kind;
    s.chunk_size = f.chunk;
    s.is_ordered = f.ordered;
    s.multiple = f.multiple;
  });
  if (tool::is_on) [[unlikely]]
    tool::work_begins(t, work_of(at, *t.at.share), t.at.share->space.count);
}

// The next chunk, or that there is none.
void tell_next(thread& t, const work_share& s, bool some, const chunk& c) {
  if (!some)
    return tool::work_ends(t);
  if (t.current->told.share == tool::work::sections)
    return tool::section_begins(t);
  const auto kind =
      t.current->told.share == tool::work::distribute ? tool::chunk_of::distribute : tool::chunk_of::loop;
  tool::chunk_begins(t, kind, s.space.first + c.low * s.space.step, c.high - c.low);
}

// A static loop, all of it at once; `first` and `last`: the caller's first chunk.
template <class Value>
void tell_static(thread& t, const ident* at, std::uint64_t count, Value first, Value last,
                 std::make_signed_t<Value> step) {
  const std::int32_t flags = at != nullptr ? at->flags : 0;
  const bool is_distribute = (flags & for_distribute) != 0;
  const tool::work kind = (flags & for_sections) != 0 ? tool::work::sections
                          : is_distribute             ? tool::work::distribute
                                                      : tool::work::static_loop;
  tool::work_begins(t, kind, count);
  if (kind == tool::work::sections)
    return tool::section_begins(t);
  const std::uint64_t mine = count_of(first, last, step);
  if (count != 0 && mine != 0)
    tool::chunk_begins(t, is_distribute ? tool::chunk_of::distribute : tool::chunk_of::loop,
                       static_cast<std::uint64_t>(first), mine);
}

template <class Value>
int next(thread& t, std::int32_t* is_last, Value* lower, Value* upper, std::make_signed_t<Value>* step) {
  work_share& s = *t.at.share;
  chunk c;
  const bool some = s.is_ordered ? take_ordered(t, c) : take(t, c); // SWITCH: may resume, if ordered
  if (tool::is_on) [[unlikely]]
    tell_next(t, s, some, c);
  if (!some)
    return 0;
  *lower = static_cast<Value>(s.space.first + c.low * s.space.step);
  *upper = static_cast<Value>(s.space.first + (c.high - 1) * s.space.step);
  if (step != nullptr)
    *step = static_cast<std::make_signed_t<Value>>(s.space.step);
  if (is_last != nullptr)
    *is_last = c.high == s.space.count ? 1 : 0;
  return 1;
}

} // namespace

#define LOOPS(suffix, value)                                                                                 \
  KMP_EXPORT void __kmpc_for_static_init_##suffix(                                                           \
      ident* at, int, std::int32_t kind, std::int32_t* is_last, value* lower, value* upper,                  \
      std::make_signed_t<value>* stride, std::make_signed_t<value> step, std::make_signed_t<value> chunk) {  \
    thread& t = called_by(at);                                                                               \
    const std::uint64_t count = tool::is_on ? count_of(*lower, *upper, step) : 0;                            \
    kind &= without_marks;                                                                                   \
    const bool over_teams = kind == distribute_chunked || kind == distribute_even;                           \
    divide(over_teams ? team_of_league(t) : member_of_team(t), kind, is_last, lower, upper, stride, step,    \
           chunk);                                                                                           \
    if (tool::is_on) [[unlikely]]                                                                            \
      tell_static(t, at, count, *lower, *upper, step);                                                       \
  }                                                                                                          \
  KMP_EXPORT void __kmpc_dispatch_init_##suffix(ident* at, int, std::int32_t kind, value lower, value upper, \
                                                std::make_signed_t<value> step,                              \
                                                std::make_signed_t<value> chunk) {                           \
    begin(called_by(at), at, kind, lower, upper, step, chunk);                                               \
  }                                                                                                          \
  KMP_EXPORT int __kmpc_dispatch_next_##suffix(ident* at, int, std::int32_t* is_last, value* lower,          \
                                               value* upper, std::make_signed_t<value>* step) {              \
    return next(called_by(at), is_last, lower, upper, step);                                                 \
  }                                                                                                          \
  KMP_EXPORT void __kmpc_dispatch_fini_##suffix(ident*, int) {}

LOOPS(4, std::int32_t)
LOOPS(4u, std::uint32_t)
LOOPS(8, std::int64_t)
LOOPS(8u, std::uint64_t)

KMP_EXPORT void __kmpc_for_static_fini(ident* at, int) {
  tell_end_of_work(at);
}
KMP_EXPORT void __kmpc_dispatch_deinit(ident*, int) {}

KMP_EXPORT void __kmpc_ordered(ident* at, int) {
  begin_ordered(called_by(at)); // SWITCH: may resume on another worker
}
// The turn ends with the chunk.
KMP_EXPORT void __kmpc_end_ordered(ident* at, int) {
  if (tool::is_on) [[unlikely]]
    end_ordered(called_by(at));
}
