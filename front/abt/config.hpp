// SPDX-License-Identifier: MIT
// Configurations of schedulers and pools: small maps from a number to a value of one of three types.
#pragma once

#include <cstdarg>
#include <map>
#include <variant>

#include "front/abt/object.hpp"

namespace weft::abt {

using config_value = std::variant<int, double, void*>; // the index is the type's number

// Reads what `from` points to. False: no such type.
inline bool read_value(int type, const void* from, config_value& into) noexcept {
  switch (type) {
  case 0:
    into = *static_cast<const int*>(from);
    return true;
  case 1:
    into = *static_cast<const double*>(from);
    return true;
  case 2:
    into = *static_cast<void* const*>(from);
    return true;
  default:
    return false;
  }
}
inline void write_value(const config_value& value, void* into) noexcept {
  std::visit([into](auto v) { *static_cast<decltype(v)*>(into) = v; }, value);
}

template <kind Kind>
struct config : object {
  static constexpr kind own_kind = Kind;
  config() noexcept : object(Kind) {}

  std::map<int, config_value> values;

  // Null `from`: forgets it. False: no such type. Errors: std::bad_alloc.
  bool set(int key, int type, const void* from) {
    if (from == nullptr) {
      values.erase(key);
      return true;
    }
    config_value v;
    if (!read_value(type, from, v))
      return false;
    values[key] = v;
    return true;
  }
  [[nodiscard]] const config_value* get(int key) const noexcept {
    const auto found = values.find(key);
    return found != values.end() ? &found->second : nullptr;
  }
  [[nodiscard]] int integer(int key, int otherwise) const noexcept {
    const config_value* v = get(key);
    const int* i = v != nullptr ? std::get_if<int>(v) : nullptr;
    return i != nullptr ? *i : otherwise;
  }
};

struct sched_config : config<kind::sched_config> {};
struct pool_config : config<kind::pool_config> {};

inline constexpr int key_automatic_sched = -3;
inline constexpr int key_frequency = -4;
inline constexpr int key_automatic_pool = -2;

} // namespace weft::abt
