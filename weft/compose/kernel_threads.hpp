// SPDX-License-Identifier: MIT
// The kernel-thread back end: each thread is a kernel thread of its own. Scheduling stays that of the page;
// only how a thread stops and goes on differs: by a semaphore. So debuggers show every thread, and checkers
// that know nothing of switches (memcheck, ThreadSanitizer without its fibres) see plain kernel threads. Not
// helgrind: it takes every atomic of the queues and locks for a race. A context and the stack source that
// belongs to it; slow, meant for finding faults.
#pragma once

#include <semaphore.h>

#include <csetjmp>
#include <cstddef>
#include <thread>
#include <utility>

#include "weft/compose/here.hpp"
#include "weft/os/interruptible.hpp"

namespace weft::compose {

namespace detail {

inline void wait_for(sem_t& s) noexcept {
  os::uninterrupted([&s] { return ::sem_wait(&s); });
}

} // namespace detail

// A kernel thread that waits to be given a thread; what a stack is elsewhere. Ownership: until it is started,
// whoever took it from the source; then the thread; the source joins it.
class kernel_thread_stack {
 public:
  kernel_thread_stack() {
    ::sem_init(&start_, 0, 0);
    kernel_thread_ = std::thread([this] { body(); });
  }
  ~kernel_thread_stack() {
    if (!started_)
      ::sem_post(&start_);
    kernel_thread_.join();
    ::sem_destroy(&start_);
  }
  kernel_thread_stack(const kernel_thread_stack&) = delete;
  kernel_thread_stack& operator=(const kernel_thread_stack&) = delete;

  void start(void (*entry)(void*), void* argument, face& worker) noexcept {
    entry_ = entry;
    argument_ = argument;
    worker_ = &worker;
    started_ = true;
    ::sem_post(&start_);
  }
  kernel_thread_stack* next_ended = nullptr; // the source's
  // Ends the calling kernel thread, which is one of these.
  [[noreturn]] static void end_this() noexcept { std::longjmp(*way_out_, 1); }

 private:
  void body() noexcept {
    detail::wait_for(start_);
    if (entry_ == nullptr)
      return;
    std::jmp_buf way_out; // no frame between here and end_this() has a destructor
    way_out_ = &way_out;
    weft_compose_here = worker_;
    if (setjmp(way_out) == 0)
      entry_(argument_);
  }

  static inline thread_local std::jmp_buf* way_out_ = nullptr;
  sem_t start_;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  face* worker_ = nullptr;
  bool started_ = false;
  std::thread kernel_thread_; // last: it uses the others
};

// Stack source: a fresh kernel thread for each thread. Ended ones are joined at the next allocation and at
// the end.
class kernel_thread_stacks {
 public:
  using stack = kernel_thread_stack;
  static constexpr bool may_free_running = true;

  kernel_thread_stacks() = default;
  ~kernel_thread_stacks() { join_ended(); }
  kernel_thread_stacks(const kernel_thread_stacks&) = delete;
  kernel_thread_stacks& operator=(const kernel_thread_stacks&) = delete;

  // Null: no kernel thread can be had. The size is the system's (ulimit -s).
  stack* allocate(std::size_t) noexcept {
    join_ended();
    try {
      return new stack;
    } catch (...) {
      return nullptr;
    }
  }
  void free(stack& s) noexcept {
    s.next_ended = ended_;
    ended_ = &s;
  }
  static const std::byte* floor(const stack&) noexcept { return nullptr; }

 private:
  void join_ended() noexcept {
    while (ended_ != nullptr)
      delete std::exchange(ended_, ended_->next_ended);
  }

  stack* ended_ = nullptr;
};

// Context part; contract: native_context's. An arrival runs before the other thread is told to go on, on the
// caller's stack, and not on the other's: who is published by it may be told to go on before it has begun to
// wait, and does not wait then.
struct kernel_thread_context {
  struct type {
    sem_t go;
    face* worker; // whom it runs on when it is told to go on
  };
  using entry = void (*)(void*);
  using arrival = void (*)(void*);
  using condition = bool (*)(void*);
  static constexpr bool keeps_kernel_thread = false;

  static void adopt(type& own) noexcept { ::sem_init(&own.go, 0, 0); }
  static void share(type& guest, const type&) noexcept { adopt(guest); }
  static void arrived() noexcept {}

  static void swap(type& from, type& to) noexcept {
    hand_over(to);
    wait(from);
  }
  static void swap_with(type& from, type& to, arrival f, void* a) noexcept {
    f(a);
    swap(from, to);
  }
  static bool cond_swap(type& from, type& to, condition f, void* a) noexcept {
    if (!f(a))
      return false;
    swap(from, to);
    return true;
  }
  static void save(type& from, type& fresh, kernel_thread_stack& s, entry f, void* a) noexcept {
    adopt(fresh);
    s.start(f, a, current_face());
    wait(from);
  }
  [[noreturn]] static void restore(type& to) noexcept {
    hand_over(to);
    kernel_thread_stack::end_this();
  }
  [[noreturn]] static void restore_with(type& to, arrival f, void* a) noexcept {
    f(a);
    restore(to);
  }

 private:
  static void hand_over(type& to) noexcept {
    to.worker = &current_face();
    ::sem_post(&to.go); // publishes all before it to who waits there
  }
  static void wait(type& from) noexcept {
    detail::wait_for(from.go);
    weft_compose_here = from.worker;
  }
};

} // namespace weft::compose
