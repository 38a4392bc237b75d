// SPDX-License-Identifier: MIT
// Atomic updates by calls: what MKL calls, and compilers of LLVM's ABI where the CPU has no instruction. A
// value of up to 8 bytes is changed by a compare-and-swap, a larger one under a lock that its address names.
#include "front/openmp/kmp/abi.hpp"
#include "weft/door/process.hpp"

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

using namespace weft::openmp;
using namespace weft::openmp::kmp;
namespace door = weft::door;

namespace {

using float4 = float;
using float8 = double;
using float10 = long double;
__extension__ using cmplx4 = __complex__ float;
__extension__ using cmplx8 = __complex__ double;
__extension__ using cmplx10 = __complex__ long double;

struct locks_by_address {
  std::array<door::spin_lock, 64> all;
};

door::spin_lock& lock_of(const void* at) noexcept {
  constexpr unsigned line = 64;
  auto& locks = door::immortal<locks_by_address>().all;
  return locks[reinterpret_cast<std::uintptr_t>(at) / line % locks.size()];
}

template <std::size_t Bytes>
struct bits_of;
template <>
struct bits_of<1> {
  using type [[gnu::may_alias]] = std::uint8_t;
};
template <>
struct bits_of<2> {
  using type [[gnu::may_alias]] = std::uint16_t;
};
template <>
struct bits_of<4> {
  using type [[gnu::may_alias]] = std::uint32_t;
};
template <>
struct bits_of<8> {
  using type [[gnu::may_alias]] = std::uint64_t;
};

// The value before, and the one after.
template <class Value, class Make>
std::pair<Value, Value> change(Value* at, Make make) {
  if constexpr (sizeof(Value) <= sizeof(std::uint64_t)) {
    using bits = typename bits_of<sizeof(Value)>::type;
    auto* const word = reinterpret_cast<bits*>(at);
    bits before = __atomic_load_n(word, __ATOMIC_RELAXED);
    for (;;) {
      Value old;
      std::memcpy(&old, &before, sizeof old);
      const Value fresh = make(old);
      bits after;
      std::memcpy(&after, &fresh, sizeof after);
      if (__atomic_compare_exchange_n(word, &before, after, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        return {old, fresh};
    }
  } else {
    const locked held(lock_of(at));
    const Value old = *at;
    *at = make(old);
    return {old, *at};
  }
}

// Integers come round where they overflow.
template <class Value>
auto wide(Value v) noexcept {
  if constexpr (std::is_integral_v<Value>)
    return static_cast<std::uint64_t>(v);
  else
    return v;
}

} // namespace

// --- x = x op v, and the same with one of both values for the caller ---

#define CHANGE(value, x, v, result)                                                                          \
  change(at, [v]([[maybe_unused]] value x) { return static_cast<value>(result); })
#define UPDATE(type, value, op, other, result)                                                               \
  KMP_EXPORT void __kmpc_atomic_##type##_##op(ident*, int, value* at, other v) {                             \
    CHANGE(value, x, v, result);                                                                             \
  }
#define BOTH(type, value, op, reversed, result)                                                              \
  UPDATE(type, value, op##reversed, value, result)                                                           \
  KMP_EXPORT value __kmpc_atomic_##type##_##op##_cpt##reversed(ident*, int, value* at, value v, int after) { \
    const auto both = CHANGE(value, x, v, result);                                                           \
    return after != 0 ? both.second : both.first;                                                            \
  }
#define READ_AND_WRITE(type, value)                                                                          \
  KMP_EXPORT value __kmpc_atomic_##type##_rd(ident*, int, value* at) {                                       \
    return change(at, [](value x) { return x; }).first;                                                      \
  }                                                                                                          \
  UPDATE(type, value, wr, value, v)                                                                          \
  KMP_EXPORT value __kmpc_atomic_##type##_swp(ident*, int, value* at, value v) {                             \
    return CHANGE(value, x, v, v).first;                                                                     \
  }

#define ARITHMETIC(type, value)                                                                              \
  BOTH(type, value, add, , wide(x) + wide(v))                                                                \
  BOTH(type, value, sub, , wide(x) - wide(v))                                                                \
  BOTH(type, value, sub, _rev, wide(v) - wide(x))                                                            \
  BOTH(type, value, mul, , wide(x) * wide(v))
#define QUOTIENTS(type, value)                                                                               \
  BOTH(type, value, div, , x / v)                                                                            \
  BOTH(type, value, div, _rev, v / x)
#define EXTREMES(type, value)                                                                                \
  BOTH(type, value, max, , x < v ? v : x)                                                                    \
  BOTH(type, value, min, , v < x ? v : x)
#define SHIFTS_TO_THE_RIGHT(type, value)                                                                     \
  BOTH(type, value, shr, , x >> v)                                                                           \
  BOTH(type, value, shr, _rev, v >> x)
#define BY_REALS(type, value)                                                                                \
  UPDATE(type, value, mul_float8, float8, static_cast<float8>(x) * v)                                        \
  UPDATE(type, value, div_float8, float8, static_cast<float8>(x) / v)

#define INTEGERS(type, value)                                                                                \
  ARITHMETIC(type, value)                                                                                    \
  QUOTIENTS(type, value)                                                                                     \
  EXTREMES(type, value)                                                                                      \
  BY_REALS(type, value)                                                                                      \
  READ_AND_WRITE(type, value)                                                                                \
  SHIFTS_TO_THE_RIGHT(type, value)                                                                           \
  BOTH(type, value, shl, , wide(x) << v)                                                                     \
  BOTH(type, value, shl, _rev, wide(v) << x)                                                                 \
  BOTH(type, value, andb, , x& v)                                                                            \
  BOTH(type, value, orb, , x | v)                                                                            \
  BOTH(type, value, xor, , x ^ v)                                                                            \
  BOTH(type, value, neqv, , x ^ v)                                                                           \
  BOTH(type, value, eqv, , ~(x ^ v))                                                                         \
  BOTH(type, value, andl, , x != 0 && v != 0)                                                                \
  BOTH(type, value, orl, , x != 0 || v != 0)                                                                 \
  QUOTIENTS(type##u, std::make_unsigned_t<value>)                                                            \
  SHIFTS_TO_THE_RIGHT(type##u, std::make_unsigned_t<value>)

INTEGERS(fixed1, std::int8_t)
INTEGERS(fixed2, std::int16_t)
INTEGERS(fixed4, std::int32_t)
INTEGERS(fixed8, std::int64_t)

#define REALS(type)                                                                                          \
  ARITHMETIC(type, type)                                                                                     \
  QUOTIENTS(type, type)                                                                                      \
  EXTREMES(type, type)                                                                                       \
  READ_AND_WRITE(type, type)

REALS(float4)
REALS(float8)
REALS(float10)
BY_REALS(float4, float4)
UPDATE(float4, float4, add_float8, float8, static_cast<float8>(x) + v)
UPDATE(float4, float4, sub_float8, float8, static_cast<float8>(x) - v)

ARITHMETIC(cmplx8, cmplx8)
QUOTIENTS(cmplx8, cmplx8)
READ_AND_WRITE(cmplx8, cmplx8)
ARITHMETIC(cmplx10, cmplx10)
QUOTIENTS(cmplx10, cmplx10)
READ_AND_WRITE(cmplx10, cmplx10)

// Of this one the caller's value is written to where he says.
#undef BOTH
#define BOTH(type, value, op, reversed, result)                                                              \
  UPDATE(type, value, op##reversed, value, result)                                                           \
  KMP_EXPORT void __kmpc_atomic_##type##_##op##_cpt##reversed(ident*, int, value* at, value v, value* to,    \
                                                              int after) {                                   \
    const auto both = CHANGE(value, x, v, result);                                                           \
    *to = after != 0 ? both.second : both.first;                                                             \
  }
ARITHMETIC(cmplx4, cmplx4)
QUOTIENTS(cmplx4, cmplx4)
UPDATE(cmplx4, cmplx4, wr, cmplx4, v)
UPDATE(cmplx4, cmplx4, add_cmplx8, cmplx8, static_cast<cmplx8>(x) + v)
UPDATE(cmplx4, cmplx4, sub_cmplx8, cmplx8, static_cast<cmplx8>(x) - v)
UPDATE(cmplx4, cmplx4, mul_cmplx8, cmplx8, static_cast<cmplx8>(x) * v)
UPDATE(cmplx4, cmplx4, div_cmplx8, cmplx8, static_cast<cmplx8>(x) / v)
KMP_EXPORT cmplx4 __kmpc_atomic_cmplx4_rd(ident*, int, cmplx4* at) {
  return change(at, [](cmplx4 x) { return x; }).first;
}
KMP_EXPORT void __kmpc_atomic_cmplx4_swp(ident*, int, cmplx4* at, cmplx4 v, cmplx4* to) {
  *to = CHANGE(cmplx4, x, v, v).first;
}

// --- compare and swap ---

namespace {

// What was there; the wanted one stands there now if that was `expected`.
template <class Value>
Value compare_and_swap(Value* at, Value expected, Value wanted) noexcept {
  __atomic_compare_exchange_n(at, &expected, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}

} // namespace

#define SWAPS(bytes, value)                                                                                  \
  KMP_EXPORT bool __kmpc_atomic_bool_##bytes##_cas(ident*, int, value* at, value expected, value wanted) {   \
    return compare_and_swap(at, expected, wanted) == expected;                                               \
  }                                                                                                          \
  KMP_EXPORT value __kmpc_atomic_val_##bytes##_cas(ident*, int, value* at, value expected, value wanted) {   \
    return compare_and_swap(at, expected, wanted);                                                           \
  }                                                                                                          \
  KMP_EXPORT bool __kmpc_atomic_bool_##bytes##_cas_cpt(ident*, int, value* at, value expected, value wanted, \
                                                       value* seen) {                                        \
    const value was = compare_and_swap(at, expected, wanted);                                                \
    if (was != expected)                                                                                     \
      *seen = was;                                                                                           \
    return was == expected;                                                                                  \
  }                                                                                                          \
  KMP_EXPORT value __kmpc_atomic_val_##bytes##_cas_cpt(ident*, int, value* at, value expected, value wanted, \
                                                       value* seen) {                                        \
    const value was = compare_and_swap(at, expected, wanted);                                                \
    *seen = was == expected ? wanted : was;                                                                  \
    return was;                                                                                              \
  }
SWAPS(1, std::int8_t)
SWAPS(2, std::int16_t)
SWAPS(4, std::int32_t)
SWAPS(8, std::int64_t)

// --- any operation, by a function of the program's: f(to, x, v) ---

#define ANY(bytes, value)                                                                                    \
  KMP_EXPORT void __kmpc_atomic_##bytes(ident*, int, void* at, void* v, void (*f)(void*, void*, void*)) {    \
    change(static_cast<value*>(at), [f, v](value x) {                                                        \
      value fresh{};                                                                                         \
      f(&fresh, &x, v);                                                                                      \
      return fresh;                                                                                          \
    });                                                                                                      \
  }
ANY(1, std::uint8_t)
ANY(2, std::uint16_t)
ANY(4, std::uint32_t)
ANY(8, std::uint64_t)

#define ANY_LARGE(bytes)                                                                                     \
  KMP_EXPORT void __kmpc_atomic_##bytes(ident*, int, void* at, void* v, void (*f)(void*, void*, void*)) {    \
    const locked held(lock_of(at));                                                                          \
    f(at, at, v);                                                                                            \
  }
ANY_LARGE(10)
ANY_LARGE(16)
ANY_LARGE(20)
ANY_LARGE(32)

// Any code between these: one lock for the process.
extern "C" void GOMP_atomic_start();
extern "C" void GOMP_atomic_end();
KMP_EXPORT void __kmpc_atomic_start() {
  GOMP_atomic_start();
}
KMP_EXPORT void __kmpc_atomic_end() {
  GOMP_atomic_end();
}
