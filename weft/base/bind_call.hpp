// SPDX-License-Identifier: MIT
// A callable and its arguments as one callable, as std::thread keeps them.
#pragma once

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::base {

// Decayed copies of all; calling the result moves them into the call, so once only. Contexts: any. Switches:
// never of itself. Errors: what the copies throw.
template <class F, class... Arguments>
auto bind_call(F&& f, Arguments&&... arguments) {
  if constexpr (sizeof...(Arguments) == 0) {
    return std::decay_t<F>(std::forward<F>(f));
  } else {
    return [call = std::tuple<std::decay_t<F>, std::decay_t<Arguments>...>(
                std::forward<F>(f), std::forward<Arguments>(arguments)...)]() mutable {
      std::apply([](auto&&... parts) { std::invoke(std::move(parts)...); }, std::move(call));
    };
  }
}

} // namespace weft::base
