// SPDX-License-Identifier: MIT
// Something of Weft's own that is made at its first use, in place of a static variable with an initialiser:
// who waits in the compiler's guard of such a variable waits as a thread of Weft's (sync/static_guard.cpp),
// which the runtime may not do. libweft imports no guard; tests/system/hardening looks. As with a guard, a
// fork() on another kernel thread meanwhile leaves it half made in the child: what may be met so uses
// first_use.hpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::base {

// Static, and constant-initialised. Ownership: whoever has made `state_` `making`, until it is `made`.
class once {
 public:
  constexpr once() noexcept = default;
  once(const once&) = delete;
  once& operator=(const once&) = delete;

  // Calls make() if nobody has; returns when it is done. Where it throws, who waits or comes next calls its
  // own. Contexts: all but signal handlers; handlers once it is made. Switches: never (the kernel thread
  // blocks).
  template <class F>
  void operator()(F&& make) {
    // acquire: pairs with the release in end()
    if (state_.load(std::memory_order_acquire) != made) [[unlikely]]
      begin(make);
  }

 private:
  enum : std::uint32_t { nobody, making, made };

  template <class F>
  void begin(F&& make) {
    for (;;) {
      std::uint32_t seen = nobody;
      if (state_.compare_exchange_strong(seen, making, std::memory_order_acquire))
        break;
      if (seen == made)
        return;
      state_.wait(making, std::memory_order_acquire);
    }
    struct unless_made {
      once& self;
      std::uint32_t then = nobody;
      ~unless_made() { self.end(then); }
    } at_end{*this};
    make();
    at_end.then = made;
  }
  void end(std::uint32_t then) noexcept {
    state_.store(then, std::memory_order_release);
    state_.notify_all();
  }

  std::atomic<std::uint32_t> state_{nobody};
};

} // namespace weft::base
