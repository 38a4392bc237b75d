// SPDX-License-Identifier: MIT
// Loops that are first given to the teams of a league and then to the threads of each, in one call: what
// Intel's compilers make of `distribute parallel for`. clang calls kmp/loop.cpp twice.
#include "front/openmp/kmp/bounds.hpp"

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// Narrows the bounds to what the caller's team gets. True: the last iteration is among them.
template <class Value>
bool narrow_to_team(const thread& t, Value* lower, Value* upper, std::make_signed_t<Value> step) {
  std::int32_t is_last = 0;
  std::make_signed_t<Value> stride = 0;
  divide(team_of_league(t), distribute_even, &is_last, lower, upper, &stride, step,
         std::make_signed_t<Value>{1});
  return is_last != 0;
}

} // namespace

#define DISTRIBUTED(suffix, value)                                                                           \
  KMP_EXPORT void __kmpc_dispatch_init_##suffix(ident*, int, std::int32_t, value, value,                     \
                                                std::make_signed_t<value>, std::make_signed_t<value>);       \
  KMP_EXPORT void __kmpc_dist_for_static_init_##suffix(                                                      \
      ident*, int, std::int32_t kind, std::int32_t* is_last, value* lower, value* upper,                     \
      value* upper_of_team, std::make_signed_t<value>* stride, std::make_signed_t<value> step,               \
      std::make_signed_t<value> chunk) {                                                                     \
    const thread& t = caller();                                                                              \
    const bool last_team = narrow_to_team(t, lower, upper, step);                                            \
    *upper_of_team = *upper;                                                                                 \
    divide(member_of_team(t), kind& without_marks, is_last, lower, upper, stride, step, chunk);              \
    if (is_last != nullptr && !last_team)                                                                    \
      *is_last = 0;                                                                                          \
  }                                                                                                          \
  KMP_EXPORT void __kmpc_dist_dispatch_init_##suffix(                                                        \
      ident* place, int id, std::int32_t kind, std::int32_t* is_last, value lower, value upper,              \
      std::make_signed_t<value> step, std::make_signed_t<value> chunk) {                                     \
    const bool last_team = narrow_to_team(caller(), &lower, &upper, step);                                   \
    if (is_last != nullptr)                                                                                  \
      *is_last = last_team ? 1 : 0;                                                                          \
    __kmpc_dispatch_init_##suffix(place, id, kind, lower, upper, step, chunk);                               \
  }                                                                                                          \
  KMP_EXPORT void __kmpc_team_static_init_##suffix(                                                          \
      ident*, int, std::int32_t* is_last, value* lower, value* upper, std::make_signed_t<value>* stride,     \
      std::make_signed_t<value> step, std::make_signed_t<value> chunk) {                                     \
    divide(team_of_league(caller()), distribute_chunked, is_last, lower, upper, stride, step, chunk);        \
  }

DISTRIBUTED(4, std::int32_t)
DISTRIBUTED(4u, std::uint32_t)
DISTRIBUTED(8, std::int64_t)
DISTRIBUTED(8u, std::uint64_t)
