// SPDX-License-Identifier: MIT
// Stacks and partners for the tests of the switch: just enough to suspend and resume, no scheduler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <utility>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, high) 0
#define VALGRIND_STACK_DEREGISTER(id) (void)(id)
#endif

#include "weft/arch/arch.hpp"

namespace weft::arch::test {

// A stack with an inaccessible page below it.
class stack {
 public:
  stack() {
    low_ = static_cast<char*>(
        mmap(nullptr, guard + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (low_ == MAP_FAILED || mprotect(low_, guard, PROT_NONE) != 0) {
      std::abort();
    }
    low_ += guard;
    valgrind_id_ = VALGRIND_STACK_REGISTER(low_, low_ + bytes);
  }
  ~stack() {
    VALGRIND_STACK_DEREGISTER(valgrind_id_);
    munmap(low_ - guard, guard + bytes);
  }
  stack(const stack&) = delete;
  stack& operator=(const stack&) = delete;

  void* top() const { return low_ + bytes; }
  static constexpr std::size_t size() { return bytes; }
  bool contains(const void* address) const { return address >= static_cast<void*>(low_) && address < top(); }
  // From now on whoever uses it crashes.
  void forbid() { EXPECT_EQ(mprotect(low_, bytes, PROT_NONE), 0); }

 private:
  static constexpr std::size_t guard = 65536; // at least one page on every CPU
  static constexpr std::size_t bytes = 4 * 65536;
  char* low_;
  unsigned long valgrind_id_ =
      0; // memcheck takes a jump of the stack pointer to an unknown place for a huge frame
};

// The context of the kernel thread's own stack.
struct native_context : context {
  native_context() : context{} { sanitizer::adopt_native(fiber); }
};

// A second stack that runs `body` until it returns. Resume and leave are inlined into their callers.
class partner {
 public:
  using body = std::function<void(partner&)>;

  explicit partner(body what) : body_(std::move(what)) { make(own, memory.top(), stack::size(), &run, this); }
  ~partner() { EXPECT_TRUE(finished) << "a partner was left suspended"; }
  partner(const partner&) = delete;
  partner& operator=(const partner&) = delete;

  [[gnu::always_inline]] void resume(context& here) {
    back = &here;
    swap(here, own);
  }
  [[gnu::always_inline]] void leave() { swap(own, *back); }

  stack memory;
  context own{};
  context* back = nullptr;
  bool finished = false;

 private:
  [[noreturn]] static void run(void* argument) {
    sanitizer::first_arrival();
    auto& self = *static_cast<partner*>(argument);
    self.body_(self);
    self.finished = true;
    restore(*self.back);
  }

  body body_;
};

// Puts rubbish into every register the compiler can spare, here and in memory below the stack pointer's
// frame.
[[gnu::noinline]] inline void scramble() {
  volatile std::uint64_t rubbish[64];
  for (std::size_t i = 0; i < 64; ++i) {
    rubbish[i] = 0xdeadbeefdeadbeefU + i;
  }
  asm volatile("" : : "r"(&rubbish) : "memory");
#if defined(__x86_64__)
  asm volatile("movq $-1, %%rbx\nmovq %%rbx, %%r12\nmovq %%rbx, %%r13\nmovq %%rbx, %%r14\nmovq %%rbx, %%r15\n"
               "pcmpeqd %%xmm0, %%xmm0\nmovaps %%xmm0, %%xmm6\nmovaps %%xmm0, %%xmm7\nmovaps %%xmm0, %%xmm8\n"
               "movaps %%xmm0, %%xmm15\n"
               :
               :
               : "rbx", "r12", "r13", "r14", "r15", "xmm0", "xmm6", "xmm7", "xmm8", "xmm15", "memory");
#endif
}

} // namespace weft::arch::test
