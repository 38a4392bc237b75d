// SPDX-License-Identifier: MIT
// A callable and its arguments as one callable, as std::thread keeps them.
#pragma once

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::base {

// What bind_call() makes of a callable with arguments. The callable stands first, so that debuggers find the
// address of a function.
template <class F, class... Arguments>
struct bound_call {
  F function;
  std::tuple<Arguments...> arguments;
  void operator()() {
    std::apply([this](auto&&... parts) { std::invoke(std::move(function), std::move(parts)...); },
               std::move(arguments));
  }
};

// Whether the first word of a callable is the address of a function.
template <class Callable>
inline constexpr bool begins_with_function = false;
template <class Result, class... Parameters>
inline constexpr bool begins_with_function<Result (*)(Parameters...)> = true;
template <class Result, class... Parameters>
inline constexpr bool begins_with_function<Result (*)(Parameters...) noexcept> = true;
template <class F, class... Arguments>
inline constexpr bool begins_with_function<bound_call<F, Arguments...>> = begins_with_function<F>;

// Decayed copies of all; calling the result moves them into the call, so once only. Contexts: any. Switches:
// never of itself. Errors: what the copies throw.
template <class F, class... Arguments>
auto bind_call(F&& f, Arguments&&... arguments) {
  if constexpr (sizeof...(Arguments) == 0) {
    return std::decay_t<F>(std::forward<F>(f));
  } else {
    return bound_call<std::decay_t<F>, std::decay_t<Arguments>...>{
        std::forward<F>(f), std::tuple<std::decay_t<Arguments>...>(std::forward<Arguments>(arguments)...)};
  }
}

} // namespace weft::base
