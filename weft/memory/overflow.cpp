// SPDX-License-Identifier: MIT
#include "weft/memory/overflow.hpp"

#include "weft/base/assert.hpp"
#include "weft/base/atomic.hpp"
#include "weft/memory/stack_slab.hpp"
#include "weft/os/executable_stacks.hpp"
#include "weft/os/mapping.hpp"
#include "weft/os/signal.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <mutex>

namespace weft::memory {
namespace {

constinit base::atomic<describe_function> describe_owner{nullptr};
constinit base::atomic<running_stack_function> running_stack{nullptr};

constinit std::mutex install_mutex;
constinit bool installed = false; // guarded by install_mutex
struct sigaction previous_segv;   // written before the handler can run
struct sigaction previous_bus;

constexpr const char* advice = "raise WEFT_STACK_SIZE or thread_attributes::stack_size";

// What dladdr, the describe function and the formatting need beyond the kernel's own frame.
constexpr std::size_t alternate_extra_bytes = 64 << 10;

struct alternate_stack {
  void* low;
  std::size_t bytes;
};
// Touched on the base stack of a kernel thread only, never on a path that switches.
thread_local alternate_stack own_alternate{nullptr, 0};

// The interrupted stack pointer; 0 where the layout of the machine context is not known.
template <class Machine>
std::uintptr_t stack_pointer_of(const Machine& machine) noexcept {
  if constexpr (requires { machine.gregs[15]; }) {
    return static_cast<std::uintptr_t>(machine.gregs[15]); // x86-64: REG_RSP
  } else if constexpr (requires { machine.sp; }) {
    return static_cast<std::uintptr_t>(machine.sp); // aarch64
  } else if constexpr (requires { machine.gp_regs[1]; }) {
    return static_cast<std::uintptr_t>(machine.gp_regs[1]); // ppc64le
  } else if constexpr (requires { machine.__gregs[2]; }) {
    return static_cast<std::uintptr_t>(machine.__gregs[2]); // riscv64
  } else {
    return 0;
  }
}

// The address of the interrupted instruction; 0 as above.
template <class Machine>
std::uintptr_t instruction_of(const Machine& machine) noexcept {
  if constexpr (requires { machine.gregs[16]; }) {
    return static_cast<std::uintptr_t>(machine.gregs[16]); // x86-64: REG_RIP
  } else if constexpr (requires { machine.pc; }) {
    return static_cast<std::uintptr_t>(machine.pc); // aarch64
  } else if constexpr (requires { machine.gp_regs[32]; }) {
    return static_cast<std::uintptr_t>(machine.gp_regs[32]); // ppc64le: nip
  } else if constexpr (requires { machine.__gregs[0]; }) {
    return static_cast<std::uintptr_t>(machine.__gregs[0]); // riscv64
  } else {
    return 0;
  }
}

void describe_stack(const stack_record& stack, char* buffer, std::size_t bytes) noexcept {
  buffer[0] = '\0';
  const describe_function describe = describe_owner.load_relaxed(); // relaxed: set before threads run
  if (describe != nullptr && stack.owner != nullptr) {
    describe(stack.owner, buffer, bytes);
  }
  if (buffer[0] == '\0' && stack.function != nullptr) {
    describe_address(stack.function, buffer, bytes);
  }
  if (buffer[0] == '\0') {
    std::strncpy(buffer, "(unnamed)", bytes - 1);
    buffer[bytes - 1] = '\0';
  }
}

bool runs_on(const stack_record& stack) noexcept {
  const running_stack_function running = running_stack.load_relaxed(); // relaxed: set before threads run
  return running != nullptr && running() == &stack;
}

// A fault is an overflow if it hits the guard of the very stack that the stack pointer is in, or has left
// downwards: by a frame that is larger than the guard, of which something lies in it.
const stack_record* overflowed_stack(const siginfo_t& information, const void* context) noexcept {
  if (information.si_code <= 0) {
    return nullptr; // sent by kill(), sigqueue() or raise()
  }
  const auto address = reinterpret_cast<std::uintptr_t>(information.si_addr);
  const stack_slab* slab = stack_slab::find(address);
  std::uint32_t index = 0;
  if (slab == nullptr || !slab->guard_at(address, index)) {
    return nullptr;
  }
  const stack_record* stack = slab->record(index);
  const std::uintptr_t pointer = stack_pointer_of(static_cast<const ucontext_t*>(context)->uc_mcontext);
  const auto lowest = reinterpret_cast<std::uintptr_t>(slab->stride_low(index));
  if (pointer > reinterpret_cast<std::uintptr_t>(stack) ||
      (pointer != 0 && pointer < lowest && !runs_on(*stack))) {
    return nullptr;
  }
  return stack;
}

// A library that was loaded late asks for executable stacks, which libc gives its own threads. One of ours
// gets one when code on it is first run. True: the instruction may be tried again.
bool makes_stack_executable(const siginfo_t& information, const void* context) noexcept {
  constexpr std::uintptr_t longest_instruction = 16; // that begins on the page before
  if (information.si_code != SEGV_ACCERR)
    return false;
  const auto address = reinterpret_cast<std::uintptr_t>(information.si_addr);
  const std::uintptr_t instruction = instruction_of(static_cast<const ucontext_t*>(context)->uc_mcontext);
  const stack_slab* const slab = stack_slab::find(address);
  std::uint32_t guarded = 0;
  if (instruction == 0 || address - instruction >= longest_instruction || slab == nullptr ||
      slab->guard_at(address, guarded) || !os::stacks_are_executable())
    return false;
  const auto stride = static_cast<std::size_t>(slab->stride_low(1) - slab->stride_low(0));
  const std::size_t index = (address - reinterpret_cast<std::uintptr_t>(slab->base())) / stride;
  if (index >= slab->capacity())
    return false;
  std::byte* const low = slab->stride_low(static_cast<std::uint32_t>(index)) + slab->guard_bytes();
  return os::make_executable(low, stride - slab->guard_bytes()) == 0;
}

bool is_function(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

void on_fault(int number, siginfo_t* information, void* context) noexcept {
  const int saved_errno = errno;
  if (number == SIGSEGV && makes_stack_executable(*information, context)) {
    errno = saved_errno;
    return;
  }
  const struct sigaction& old = number == SIGSEGV ? previous_segv : previous_bus;
  if (const stack_record* stack = overflowed_stack(*information, context)) {
    char who[512];
    describe_stack(*stack, who, sizeof who);
    base::warn("stack overflow in thread %s: its stack has %lu bytes (%p to %p), the fault is at %p; %s", who,
               static_cast<unsigned long>(stack->size), static_cast<void*>(stack->low),
               static_cast<const void*>(stack), information->si_addr, advice);
    // A crash reporter, say, that was there before Weft: it may write, end the process or jump away.
    if (is_function(old)) {
      errno = saved_errno;
      os::chain_signal(number, information, context, old);
    }
    std::signal(number, SIG_DFL); // the instruction faults once more, and the core shows where
    return;
  }
  if (is_function(old)) {
    errno = saved_errno;
    os::chain_signal(number, information, context, old);
    return;
  }
  if (information->si_code <= 0 && old.sa_handler == SIG_IGN) {
    errno = saved_errno;
    return;
  }
  // A fault that is ignored would come back for ever; the kernel ends the process then, and so do we.
  std::signal(number, SIG_DFL);
  if (information->si_code <= 0) {
    std::raise(number); // nothing faults again by itself; taken when this handler returns
  }
  errno = saved_errno;
}

// The plain names of an Itanium-mangled symbol: "ns::type::function", "<...>" for template arguments.
// Anything beyond nested names ends the reading. __cxa_demangle would call malloc, which the fault may have
// interrupted.
bool read_names(const char* mangled, char* out, std::size_t bytes) noexcept {
  if (mangled[0] != '_' || mangled[1] != 'Z') {
    return false;
  }
  const char* at = mangled + 2;
  at += std::strspn(at, "ZNKLV");
  std::size_t used = 0;
  auto append = [&](const char* text, std::size_t length) {
    for (std::size_t index = 0; index < length && used + 1 < bytes; ++index) {
      out[used++] = text[index];
    }
    out[used] = '\0';
  };
  out[0] = '\0';
  while (*at >= '1' && *at <= '9') {
    std::size_t length = 0;
    for (; *at >= '0' && *at <= '9'; ++at) {
      length = length * 10 + static_cast<std::size_t>(*at - '0');
    }
    if (length > std::strlen(at)) {
      return false;
    }
    if (used > 0) {
      append("::", 2);
    }
    if (std::strncmp(at, "_GLOBAL__N_1", 12) == 0) {
      append("(anonymous namespace)", 21);
    } else {
      append(at, length);
    }
    at += length;
  }
  if (used > 0 && *at == 'I') {
    append("<...>", 5);
  }
  return used > 0;
}

} // namespace

void set_describe_function(describe_function describe) noexcept {
  describe_owner.store_relaxed(describe); // relaxed: set before threads run
}

void set_running_stack_function(running_stack_function running) noexcept {
  running_stack.store_relaxed(running); // relaxed: set before threads run
}

void describe_thread(void* owner, char* buffer, std::size_t bytes) noexcept {
  buffer[0] = '\0';
  if (const describe_function describe = describe_owner.load_relaxed()) // relaxed: as above
    describe(owner, buffer, bytes);
}

void describe_address(const void* address, char* buffer, std::size_t bytes) noexcept {
  Dl_info found = {};
  if (::dladdr(address, &found) == 0) {
    std::snprintf(buffer, bytes, "%p", address);
    return;
  }
  if (found.dli_sname != nullptr) {
    if (!read_names(found.dli_sname, buffer, bytes)) {
      std::snprintf(buffer, bytes, "%s", found.dli_sname);
    }
    return;
  }
  // What addr2line -e takes.
  const auto offset = static_cast<unsigned long>(static_cast<const char*>(address) -
                                                 static_cast<const char*>(found.dli_fbase));
  std::snprintf(buffer, bytes, "%s+0x%lx", found.dli_fname, offset);
}

int install_handler() noexcept {
  std::scoped_lock guard{install_mutex};
  if (installed) {
    return 0;
  }
  if (const int error = os::set_signal_handler(SIGSEGV, on_fault, 0, nullptr, &previous_segv)) {
    return error;
  }
  if (const int error = os::set_signal_handler(SIGBUS, on_fault, 0, nullptr, &previous_bus)) {
    os::restore_signal_action(SIGSEGV, previous_segv);
    return error;
  }
  installed = true;
  return 0;
}

void remove_handler() noexcept {
  std::scoped_lock guard{install_mutex};
  if (installed) {
    os::restore_signal_action(SIGSEGV, previous_segv);
    os::restore_signal_action(SIGBUS, previous_bus);
    installed = false;
  }
}

int install_alternate_stack() noexcept {
  if (own_alternate.low != nullptr) {
    return 0;
  }
  const std::size_t page = os::memory_page_bytes();
  const std::size_t bytes = os::signal_stack_bytes(alternate_extra_bytes);
  void* low = nullptr;
  if (const int error = os::map(page + bytes, os::page_access::read_write, &low)) {
    return error;
  }
  if (os::install_guard(low, page) != 0) {
    os::protect(low, page, os::page_access::none); // without either, it is a stack like any other program's
  }
  const int error = os::set_signal_stack(static_cast<std::byte*>(low) + page, bytes);
  if (error != 0) {
    os::unmap(low, page + bytes);
    return error == EEXIST ? 0 : error;
  }
  own_alternate = {low, page + bytes};
  return 0;
}

void remove_alternate_stack() noexcept {
  if (own_alternate.low != nullptr && os::clear_signal_stack() == 0) {
    os::unmap(own_alternate.low, own_alternate.bytes);
    own_alternate = {nullptr, 0};
  }
}

namespace {

[[noreturn]] void die_of_overflow_in(const stack_record& stack, const char* or_whom) noexcept {
  char who[512];
  describe_stack(stack, who, sizeof who);
  base::panic(
      "stack overflow in thread %s%s: the canary below its stack of %lu bytes (%p to %p) is overwritten; %s",
      who, or_whom, static_cast<unsigned long>(stack.size), static_cast<void*>(stack.low),
      static_cast<const void*>(&stack), advice);
}

} // namespace

void die_of_overflow(const stack_record& stack) noexcept {
  die_of_overflow_in(stack, "");
}

void die_of_earlier_overflow(const stack_record& stack) noexcept {
  die_of_overflow_in(stack, " or one that ran on its stack before");
}

} // namespace weft::memory
