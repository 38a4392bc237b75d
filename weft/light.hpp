// SPDX-License-Identifier: MIT
// libweft's threads and locks behind functions: includes nothing of the standard library, so that a program
// which uses only this compiles as fast as one that uses a C library. A call where weft/thread.hpp and
// weft/mutex.hpp inline; the threads and locks are the same ones, and meet those of the other headers. What
// is not here (attributes, time limits, ...) is there. Figures: docs/design/policies.md.
#pragma once

#include "weft/base/export.hpp"

namespace weft::light {

namespace detail {

// A callable of up to 16 bytes that is copied like bytes, or the address of another one.
struct alignas(8) closure {
  unsigned char bytes[16];
};
using call = void (*)(void* closure);

} // namespace detail

// As weft::thread, which it holds. Contexts, switches, errors of all: as there.
class WEFT_API thread {
 public:
  thread() noexcept = default;
  template <class F>
  explicit thread(F f) {
    detail::closure c{};
    if constexpr (sizeof(F) <= sizeof(c) && alignof(F) <= alignof(detail::closure) &&
                  __is_trivially_copyable(F)) {
      __builtin_memcpy(c.bytes, &f, sizeof(F));
      start([](void* at) { (*static_cast<F*>(at))(); }, c);
    } else {
      F* made = new F(static_cast<F&&>(f));
      __builtin_memcpy(c.bytes, &made, sizeof(made));
      try {
        start(&run_and_delete<F>, c);
      } catch (...) {
        delete made;
        throw;
      }
    }
  }
  thread(thread&& other) noexcept { take(other); }
  thread& operator=(thread&& other) noexcept {
    if (joinable())
      terminate();
    take(other);
    return *this;
  }
  ~thread() {
    if (joinable())
      terminate();
  }

  [[nodiscard]] bool joinable() const noexcept {
    void* unit;
    __builtin_memcpy(&unit, room_, sizeof(unit));
    return unit != nullptr;
  }
  void join();
  void detach();

 private:
  template <class F>
  static void run_and_delete(void* at) {
    struct owner {
      F* f;
      ~owner() { delete f; }
    } o{};
    __builtin_memcpy(&o.f, at, sizeof(o.f));
    (*o.f)();
  }
  void take(thread& other) noexcept {
    __builtin_memcpy(room_, other.room_, sizeof(room_));
    __builtin_memset(other.room_, 0, sizeof(room_));
  }
  void start(detail::call f, const detail::closure& c);
  [[noreturn]] static void terminate() noexcept;

  alignas(8) unsigned char room_[8] = {};
};

// As weft::mutex, which it holds; Lockable.
class WEFT_API mutex {
 public:
  mutex() noexcept;
  ~mutex();
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  void lock();
  [[nodiscard]] bool try_lock() noexcept;
  void unlock() noexcept;

 private:
  friend class condition_variable;
  alignas(8) unsigned char room_[16];
};

// Locks a mutex as long as it lives.
class [[nodiscard]] lock_guard {
 public:
  explicit lock_guard(mutex& m) : mutex_(m) { m.lock(); }
  ~lock_guard() { mutex_.unlock(); }
  lock_guard(const lock_guard&) = delete;
  lock_guard& operator=(const lock_guard&) = delete;

 private:
  mutex& mutex_;
};

// As weft::condition_variable_any, which it holds; waits with the mutex itself, which the caller holds.
class WEFT_API condition_variable {
 public:
  condition_variable();
  ~condition_variable();
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;
  void wait(mutex& held);
  template <class Predicate>
  void wait(mutex& held, Predicate done) {
    while (!done())
      wait(held);
  }
  void notify_one() noexcept;
  void notify_all() noexcept;

 private:
  alignas(8) unsigned char room_[64];
};

WEFT_API void yield();

} // namespace weft::light
