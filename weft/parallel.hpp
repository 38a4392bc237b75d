// SPDX-License-Identifier: MIT
// Loops and reductions over index ranges by recursive halving: each half is a fork that idle workers steal,
// so the split follows the load and no grain has to be guessed for balance, only for overhead.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/fork_join.hpp"
#include "weft/thread.hpp"

namespace weft {

namespace detail {

// How many indices [first, last) has, also where the difference of two Index overflows.
template <std::integral Index>
std::size_t count_of(Index first, Index last) {
  using bits = std::make_unsigned_t<Index>;
  return static_cast<bits>(static_cast<bits>(last) - static_cast<bits>(first));
}

template <std::integral Index>
Index middle_of(Index first, Index last) {
  using bits = std::make_unsigned_t<Index>;
  return static_cast<Index>(static_cast<bits>(first) + static_cast<bits>(count_of(first, last) / 2));
}

// About eight pieces a worker: enough to balance bodies that differ, few enough that a fork's cost does not
// show.
inline std::size_t automatic_grain(std::size_t count) {
  return std::max<std::size_t>(count / (std::size_t{8} * thread::hardware_concurrency()), 1);
}

template <std::integral Index>
std::size_t grain_of(Index first, Index last, Index wanted) {
  return wanted > 0 ? static_cast<std::size_t>(wanted) : automatic_grain(count_of(first, last));
}

// Makes a call of the user's functions for a loop, which needs what they bring: if one of them ends its unit
// by this_thread::exit(), the loop is told by an exception, as a joiner is that is owed a result. Whose unit
// that was depends on who has taken which part.
template <class Call>
decltype(auto) call_for_loop(Call&& call) {
  try {
    return call();
  } catch (const unit::exit_request& request) {
    if (request.cancelled) // of the thread that called the loop
      throw;
    throw ended_without_result();
  }
}

// Calls run(from, to) for the parts of one piece, in order. Between two of them whoever has waited for a
// timer that is due goes first: a piece may take long. So few parts that asking is cheap beside the fork of
// the piece.
template <std::integral Index, class Run>
void for_parts(Index first, Index last, Run&& run) {
  constexpr std::size_t parts = 16;
  const std::size_t part = (count_of(first, last) + parts - 1) / parts;
  while (count_of(first, last) > part) {
    const auto middle = static_cast<Index>(static_cast<std::make_unsigned_t<Index>>(first) + part);
    run(first, middle);
    first = middle;
    sched::pause_if_time_passed();
  }
  run(first, last);
}

template <std::integral Index, class Body>
void for_range(Index first, Index last, std::size_t grain, Body& body) {
  if (count_of(first, last) <= grain) {
    call_for_loop([&] {
      for_parts(first, last, [&body](Index from, Index to) {
        for (; from != to; ++from)
          body(from);
      });
    });
    return;
  }
  const Index middle = middle_of(first, last);
  auto right = fork([&, middle] { for_range(middle, last, grain, body); });
  for_range(first, middle, grain, body);
  right.join();
}

template <std::integral Index, class T, class Body, class Combine>
T reduce_range(Index first, Index last, std::size_t grain, const T& identity, Body& body, Combine& combine) {
  if (count_of(first, last) <= grain) {
    return call_for_loop([&] {
      T sum = identity;
      for_parts(first, last, [&](Index from, Index to) {
        for (; from != to; ++from)
          sum = combine(std::move(sum), body(from));
      });
      return sum;
    });
  }
  const Index middle = middle_of(first, last);
  auto right = fork([&, middle] { return reduce_range(middle, last, grain, identity, body, combine); });
  T left = reduce_range(first, middle, grain, identity, body, combine);
  return call_for_loop([&] { return combine(std::move(left), right.join()); });
}

// Values up to this size stand in the frames of a reduction, up to five a level; 20 levels then use less than
// half of a default stack.
inline constexpr std::size_t value_in_frame = 256;

// A larger value, on the heap: empty, or made where it lies by the call whose result it is.
template <class T>
class heap_value {
 public:
  heap_value() : room_(std::allocator<T>().allocate(1)) {}
  heap_value(heap_value&& other) noexcept
      : room_(std::exchange(other.room_, nullptr)), full_(std::exchange(other.full_, false)) {}
  heap_value& operator=(heap_value&& other) noexcept {
    std::swap(room_, other.room_);
    std::swap(full_, other.full_);
    return *this;
  }
  ~heap_value() {
    clear();
    if (room_ != nullptr)
      std::allocator<T>().deallocate(room_, 1);
  }
  template <class Make>
  void fill(Make&& make) {
    clear();
    ::new (static_cast<void*>(room_)) T(make());
    full_ = true;
  }
  T& operator*() noexcept { return *room_; }

 private:
  void clear() noexcept {
    if (std::exchange(full_, false))
      std::destroy_at(room_);
  }

  T* room_;
  bool full_ = false;
};

// Runs `call` on a thread of its own with so much stack; what it throws is thrown here. Errors: also those of
// a thread's creation.
template <class Call>
void call_on_stack_of(std::size_t bytes, Call& call) {
  std::exception_ptr thrown;
  thread_attributes roomy;
  roomy.stack_size = bytes;
  roomy.preemption = sched::inherited_preemption();
  thread(roomy, [&] {
    try {
      call_for_loop(call);
    } catch (const unit::exit_request&) {
      throw;
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join(); // SWITCH: may resume on another worker
  if (thrown != nullptr)
    std::rethrow_exception(std::move(thrown));
}

// What the user's functions may need when they are handed values of T: arguments, results, and what they keep
// of them in their own frames, which may be larger than any guard.
template <class T>
inline constexpr std::size_t stack_for_values = 12 * sizeof(T) + (16 << 10);

// Calls it here if there is so much stack left, or nobody knows; else where there is, and half as much again.
template <class T, class Call>
void call_with_room(Call&& call) {
  const std::size_t left = this_thread::stack_left();
  if (left == 0 || left >= stack_for_values<T>) {
    call_for_loop(call);
  } else {
    call_on_stack_of(stack_for_values<T> + stack_for_values<T> / 2 + (32 << 10), call);
  }
}

// Not inlined, nor the next: what they need for the user's calls stands in their frames, and must not stand
// in the frame of each level.
template <std::integral Index, class T, class Body, class Combine>
[[gnu::noinline]] void reduce_piece(Index first, Index last, heap_value<T>& sum, Body& body,
                                    Combine& combine) {
  heap_value<T> next;
  for_parts(first, last, [&](Index from, Index to) {
    for (; from != to; ++from) {
      next.fill([&]() -> decltype(auto) { return combine(std::move(*sum), body(from)); });
      sum = std::move(next);
    }
  });
}
template <class T, class Combine>
[[gnu::noinline]] void combine_values(heap_value<T>& sum, heap_value<T>& left, heap_value<T>& right,
                                      Combine& combine) {
  sum.fill([&]() -> decltype(auto) { return combine(std::move(*left), std::move(*right)); });
}

template <std::integral Index, class T, class Body, class Combine>
heap_value<T> reduce_on_heap(Index first, Index last, std::size_t grain, const T& identity, Body& body,
                             Combine& combine) {
  heap_value<T> sum;
  if (count_of(first, last) <= grain) {
    sum.fill([&]() -> const T& { return identity; });
    call_with_room<T>([&] { reduce_piece(first, last, sum, body, combine); });
    return sum;
  }
  const Index middle = middle_of(first, last);
  auto right = fork([&, middle] { return reduce_on_heap(middle, last, grain, identity, body, combine); });
  heap_value<T> left = reduce_on_heap(first, middle, grain, identity, body, combine);
  heap_value<T> other = right.join();
  call_with_room<T>([&] { combine_values(sum, left, other, combine); });
  return sum;
}

} // namespace detail

// body(i) for each i in [first, last), in any order and in parallel; `grain` indices at a time, 0: chosen
// from the number of workers. An exception of a body is thrown when the forked parts have been joined; which
// one, if several throw, is open; the indices behind it in its part are left out. Contexts: thread, foreign
// kernel thread. Switches: may. Errors: what a body throws; std::system_error(operation_canceled) if one
// calls this_thread::exit(), which ends its part, and not the caller; std::bad_alloc.
template <std::integral Index, class Body>
void parallel_for(Index first, std::type_identity_t<Index> last, Body&& body,
                  std::type_identity_t<Index> grain = 0) {
  if (first >= last)
    return;
  sched::let_others_begin();
  detail::for_range<Index>(first, last, detail::grain_of<Index>(first, last, grain), body);
}

// combine over body(i) for each i, starting from `identity`; combine must be associative, and keeps the order
// of operands. Contexts, switches, errors: as parallel_for. T may be of any size: values of more than 256
// bytes lie on the heap, and where less stack is left than twelve of them and 16 KiB need, body and combine
// are called on threads with larger stacks, made for that. Errors: then also as those of a thread's creation
// (invalid_argument for a stack above 1 GiB).
template <std::integral Index, class T, class Body, class Combine>
T parallel_reduce(Index first, std::type_identity_t<Index> last, T identity, Body&& body, Combine&& combine,
                  std::type_identity_t<Index> grain = 0) {
  if (first >= last)
    return identity;
  sched::let_others_begin();
  const std::size_t pieces_of = detail::grain_of<Index>(first, last, grain);
  if constexpr (sizeof(T) <= detail::value_in_frame) {
    return detail::reduce_range<Index, T>(first, last, pieces_of, identity, body, combine);
  } else {
    return std::move(*detail::reduce_on_heap<Index, T>(first, last, pieces_of, identity, body, combine));
  }
}

} // namespace weft
