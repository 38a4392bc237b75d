// SPDX-License-Identifier: MIT
// What stands in the queue of a delegator: something that whoever owns the delegator shall do for somebody
// else. No scheduler here, so that the checker runs the queues.
#pragma once

#include "weft/base/atomic.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace weft::sync {

struct server;
class posted;

/// One request. It lies in the frame of a thread that waits for it, or is a `posted`.
/// *Ownership*: the requester's until it is pushed; then the delegator's owner's, until it is done. GONE when
/// `run` has returned `done`, unless it is posted.
struct request {
  /// done: executed. put_off: to be tried again later.
  enum class outcome : std::uint8_t { done, put_off };
  using handler = outcome (*)(request&, server&) noexcept;
  /// Moves a posted request's closure to another, or destroys it if that is null.
  using relocator = void (*)(posted& from, posted* to) noexcept;

  constexpr explicit request(handler h) noexcept : run(h) {}
  request(const request&) = delete;
  request& operator=(const request&) = delete;

  /// It is not to be run: it stays the first of the queue until its requester owns the delegator and takes it
  /// out.
  [[nodiscard]] bool wants_lock() const noexcept { return run == nullptr; }
  [[nodiscard]] bool is_posted() const noexcept { return relocate != nullptr; }

  base::plain<request*> next = nullptr; // the queue's
  handler run;                          // null: it wants the delegator itself
  relocator relocate = nullptr;
};

/// A request that nobody waits for, so that it owns its closure: in place up to `room` bytes, as a thread's.
class posted : public request {
 public:
  static constexpr std::size_t room = 24;

  constexpr posted() noexcept : request(nullptr) {}
  posted(posted&& other) noexcept : request(nullptr) { take(other); }
  ~posted() { clear(); }

  /// The closure and all that goes with it; `other` is empty afterwards. *Undefined*: unless *this is empty.
  void take(posted& other) noexcept {
    run = other.run;
    relocate = std::exchange(other.relocate, nullptr);
    relocate(other, this);
  }
  void clear() noexcept {
    if (relocate != nullptr) {
      std::exchange(relocate, nullptr)(*this, nullptr);
    }
  }
  /// `call(server&)` returns an outcome; an exception that leaves it ends the process. *Errors*:
  /// std::bad_alloc if it does not fit; what its move throws. Empty then.
  template <class Call>
  void fill(Call call) {
    using held = std::conditional_t<fits<Call>, Call, std::unique_ptr<Call>>;
    if constexpr (fits<Call>) {
      ::new (static_cast<void*>(closure_)) held(std::move(call));
    } else {
      ::new (static_cast<void*>(closure_)) held(std::make_unique<Call>(std::move(call)));
    }
    run = [](request& r, server& s) noexcept { return called(static_cast<posted&>(r).as<held>(), s); };
    relocate = [](posted& from, posted* to) noexcept {
      held& closure = from.as<held>();
      if (to != nullptr) {
        ::new (static_cast<void*>(to->closure_)) held(std::move(closure));
      }
      std::destroy_at(&closure);
    };
  }

 private:
  template <class Call>
  static constexpr bool fits =
      sizeof(Call) <= room && alignof(Call) <= 8 && std::is_nothrow_move_constructible_v<Call>;

  template <class Held>
  Held& as() noexcept {
    return *std::launder(reinterpret_cast<Held*>(closure_));
  }
  template <class Call>
  static outcome called(Call& call, server& s) {
    return call(s);
  }
  template <class Call>
  static outcome called(std::unique_ptr<Call>& call, server& s) {
    return (*call)(s);
  }

  alignas(8) std::byte closure_[room];
};

/// What became of a push. `owner`: the delegator was free, so the caller owns it now and must serve.
/// `crowded`: there are more requests than the queue was made for.
struct pushed {
  bool owner;
  bool crowded;
};

/// Turns a chain through `next`, youngest first, into one that begins with the oldest; `count` of them.
inline request* oldest_first(request* youngest, std::uint32_t& count) noexcept {
  request* oldest = nullptr;
  count = 0;
  while (youngest != nullptr) {
    request* const older = youngest->next;
    if (older != oldest) { // the only one: its line need not be fetched for writing
      youngest->next = oldest;
    }
    oldest = youngest;
    youngest = older;
    ++count;
  }
  return oldest;
}

} // namespace weft::sync
