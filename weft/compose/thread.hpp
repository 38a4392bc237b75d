// SPDX-License-Identifier: MIT
// The thread of a composed runtime: the handle, with the interface of std::thread.
#pragma once

#include <exception>
#include <system_error>
#include <type_traits>
#include <utility>

#include "weft/base/bind_call.hpp"
#include "weft/compose/unit.hpp"

namespace weft::compose {

template <class P>
class thread {
  using worker = typename P::template worker<P>;
  using first_technique = typename P::techniques::first;

 public:
  thread() noexcept = default;

  // Starts a thread that calls f(arguments...), decayed copies of them. Contexts: threads of this runtime.
  // Switches: if the page's first technique is child-first, or its worker part is sequential. Errors:
  // std::bad_alloc; std::system_error(operation_not_permitted) outside of run(). An exception that leaves f
  // ends the process.
  template <class F, class... Arguments>
    requires(!std::is_same_v<std::remove_cvref_t<F>, thread> &&
             !std::is_same_v<std::remove_cvref_t<F>, attributes<P>>)
  [[gnu::always_inline]] explicit thread(F&& f, Arguments&&... arguments)
      : unit_(&worker::template fork<first_technique>(
            attributes<P>{}, base::bind_call(std::forward<F>(f), std::forward<Arguments>(arguments)...))) {}

  // The same, with what the page's scheduler asks to know.
  template <class F, class... Arguments>
  thread(const attributes<P>& a, F&& f, Arguments&&... arguments)
      : unit_(&worker::template fork<first_technique>(
            a, base::bind_call(std::forward<F>(f), std::forward<Arguments>(arguments)...))) {}

  // The same by another technique of the page's set.
  template <class Technique, class F, class... Arguments>
  [[nodiscard, gnu::always_inline]] static thread fork(F&& f, Arguments&&... arguments) {
    thread t;
    t.unit_ = &worker::template fork<Technique>(
        attributes<P>{}, base::bind_call(std::forward<F>(f), std::forward<Arguments>(arguments)...));
    return t;
  }

  thread(thread&& other) noexcept : unit_(std::exchange(other.unit_, nullptr)) {}
  thread& operator=(thread&& other) noexcept {
    if (joinable())
      std::terminate();
    unit_ = std::exchange(other.unit_, nullptr);
    return *this;
  }
  // A joinable thread must not be forgotten: std::terminate, as std::thread.
  ~thread() {
    if (joinable())
      std::terminate();
  }

  [[nodiscard]] bool joinable() const noexcept { return unit_ != nullptr; }

  // Waits until the thread has ended. Contexts: threads of this runtime. Switches: may. Errors:
  // std::system_error: invalid_argument if not joinable, resource_deadlock_would_occur for itself (and where
  // the worker part finds that the wait cannot end), operation_not_permitted outside of run(). It is still
  // joinable then.
  [[gnu::always_inline]] void join() {
    if (unit_ == nullptr) [[unlikely]]
      throw_not_joinable();
    worker::join_and_free(*unit_);
    unit_ = nullptr;
  }
  // Nobody will join; run() waits for its end. Errors: as join().
  void detach() {
    if (unit_ == nullptr)
      throw_not_joinable();
    worker::detach(*unit_);
    unit_ = nullptr;
  }

 private:
  [[noreturn, gnu::cold, gnu::noinline]] static void throw_not_joinable() {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "weft: thread is not joinable");
  }

  unit<P>* unit_ = nullptr;
};

} // namespace weft::compose
