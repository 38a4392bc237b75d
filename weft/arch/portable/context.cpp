// SPDX-License-Identifier: MIT
// Functions that switch are not inlined into each other: each enters and leaves on one stack, as sanitizers
// expect.
#include "weft/arch/portable/context.hpp"

#include <ctime>
#include <utility>

namespace weft::arch {
namespace {

// Goes back to the one that asked, and stays suspended as if nothing had been.
void go_back(context& self, context& asker) noexcept {
  swapcontext(&self.machine, &asker.machine);
}

// Runs a tasklet under its caller's FP control, and puts back what `self` had, which go_back() is about to
// save.
void call(context& self) noexcept {
  std::fenv_t own;
  std::fegetenv(&own);
  std::fesetenv(self.control);
  self.arrive(self.argument);
  std::fesetenv(&own);
}

// The context `self` has control, on its own stack: does what was asked of it. Returns when it is to
// continue.
void land(context& self) noexcept {
  while (true) {
    switch (std::exchange(self.pending, context::request::none)) {
    case context::request::none:
      return;
    case context::request::arrive:
      self.arrive(self.argument); // GONE: the context that was left may be running elsewhere
      return;
    case context::request::ask: {
      context& asker = *self.asker;
      if (self.ask(self.argument)) { // GONE: asker, if true
        return;
      }
      asker.cancelled = true;
      go_back(self, asker);
      break;
    }
    case context::request::call:
      call(self);
      go_back(self, *self.asker);
      break;
    }
  }
}

void request_arrival(context& to, arrival_function arrive, void* argument) noexcept {
  to.pending = context::request::arrive;
  to.arrive = arrive;
  to.argument = argument;
}

[[gnu::always_inline]] inline void leave(context& from, context& to) noexcept {
  sanitizer::before_switch(from.fiber, to.fiber);
  swapcontext(&from.machine, &to.machine); // SWITCH: may resume on another kernel thread
  land(from);
  sanitizer::after_switch(from.fiber);
}

} // namespace

extern "C" void weft_arch_thread_base(unsigned high, unsigned low) {
  const std::uint64_t address = static_cast<std::uint64_t>(high) << 32 | low;
  auto& self = *reinterpret_cast<context*>(static_cast<std::uintptr_t>(address));
  land(self);
  self.entry(self.entry_argument);
  __builtin_trap(); // an entry function returned
}

void swap(context& from, context& to) noexcept {
  leave(from, to);
}

void swap_with(context& from, context& to, arrival_function arrive, void* argument) noexcept {
  request_arrival(to, arrive, argument);
  leave(from, to);
}

void swap_publishing(context& from, context& to, base::atomic<std::uint8_t>& word,
                     std::uint8_t value) noexcept {
  publication p{&word, value};
  swap_with(from, to, &publication::store, &p);
}

bool cond_swap(context& from, context& to, conditional_function arrive, void* argument) noexcept {
  to.pending = context::request::ask;
  to.ask = arrive;
  to.argument = argument;
  to.asker = &from;
  from.cancelled = false;
  sanitizer::before_switch(from.fiber, to.fiber);
  swapcontext(&from.machine, &to.machine); // SWITCH: may resume on another kernel thread, unless cancelled
  if (from.cancelled) {
    sanitizer::cancelled_switch(from.fiber);
    return false;
  }
  land(from);
  sanitizer::after_switch(from.fiber);
  return true;
}

void restore(context& to) noexcept {
  sanitizer::before_last_switch(to.fiber);
  setcontext(&to.machine);
  __builtin_trap();
}

void restore_with(context& to, arrival_function arrive, void* argument) noexcept {
  request_arrival(to, arrive, argument);
  sanitizer::before_last_switch(to.fiber);
  setcontext(&to.machine);
  __builtin_trap();
}

void make(context& fresh, void* top, std::size_t size, entry_function entry, void* argument) noexcept {
  sanitizer::create_fiber(fresh.fiber, top, size);
  fresh.pending = context::request::none;
  fresh.cancelled = false;
  fresh.entry = entry;
  fresh.entry_argument = argument;
  getcontext(&fresh.machine);
  fresh.machine.uc_link = nullptr;
  fresh.machine.uc_stack.ss_sp = static_cast<char*>(top) - size;
  fresh.machine.uc_stack.ss_size = size;
  // makecontext passes ints only, hence the two halves.
  const std::uint64_t self = reinterpret_cast<std::uintptr_t>(&fresh);
  makecontext(&fresh.machine, reinterpret_cast<void (*)()>(&weft_arch_thread_base), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  // ASan's swapcontext wipes its knowledge of the stack it reads here at every switch; sanitizer.hpp does
  // better.
  fresh.machine.uc_stack.ss_size = 0;
}

void save(context& from, context& fresh, void* top, std::size_t size, entry_function entry,
          void* argument) noexcept {
  make(fresh, top, size, entry, argument);
  leave(from, fresh);
}

// On the caller's own stack makecontext writes over its topmost words: frames that are abandoned, far above
// this one.
void begin(context& fresh, void* top, std::size_t size, entry_function entry, void* argument) noexcept {
  make(fresh, top, size, entry, argument);
  sanitizer::before_last_switch(fresh.fiber);
  setcontext(&fresh.machine);
  __builtin_trap();
}

// A switch to `below` and back, by which it does not notice anything.
void call_on(context& below, entry_function function, void* argument) noexcept {
  context here{};
  std::fenv_t control;
  std::fegetenv(&control);
  below.pending = context::request::call;
  below.arrive = function;
  below.argument = argument;
  below.asker = &here;
  below.control = &control;
  sanitizer::before_switch(here.fiber, below.fiber);
  swapcontext(&here.machine, &below.machine);
  sanitizer::cancelled_switch(here.fiber);
}

std::uint64_t ticks() noexcept {
  std::timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace weft::arch
