// SPDX-License-Identifier: MIT
#include "front/pthreads/leaving_library.hpp"

#include "front/pthreads/libc.hpp"
#include "weft/runtime.hpp"

#include <cstdint>
#include <cstdlib>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <unwind.h>

extern "C" {
int weft_sigsetjmp(void*, int) asm("__sigsetjmp") __attribute__((returns_twice));
// By the linker, of the section that WEFT_PTHREADS_CALLS_OTHERS names.
extern const char __start_weft_calls_others __attribute__((visibility("hidden")));
extern const char __stop_weft_calls_others __attribute__((visibility("hidden")));
}

namespace weft::pthreads {
namespace {

struct text {
  std::uintptr_t begin = 0, end = 0;
  [[nodiscard]] bool has(std::uintptr_t at) const noexcept { return at >= begin && at < end; }
};
// Written when the library is loaded. The last three are what both the program and the library call: libc,
// the loader, what the kernel gives.
constinit text own_text, runtime_text, libc_text, loader_text, kernels_text;

// Not what calls others' code: that may be unwound.
bool is_library(std::uintptr_t at) noexcept {
  const text calling{reinterpret_cast<std::uintptr_t>(&__start_weft_calls_others),
                     reinterpret_cast<std::uintptr_t>(&__stop_weft_calls_others)};
  return (own_text.has(at) && !calling.has(at)) || runtime_text.has(at);
}

bool is_anybodys(std::uintptr_t at) noexcept {
  return libc_text.has(at) || loader_text.has(at) || kernels_text.has(at);
}

void look_at_segment(const dl_phdr_info& info, const ElfW(Phdr) & segment) noexcept {
  if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0)
    return;
  const text t{info.dlpi_addr + segment.p_vaddr, info.dlpi_addr + segment.p_vaddr + segment.p_memsz};
  if (t.has(reinterpret_cast<std::uintptr_t>(&call_from_program)))
    own_text = t;
  if (t.has(reinterpret_cast<std::uintptr_t>(&runtime::running)))
    runtime_text = t;
  if (t.has(reinterpret_cast<std::uintptr_t>(libc.syscall)))
    libc_text = t;
  if (info.dlpi_addr == ::getauxval(AT_BASE))
    loader_text = t;
  if (t.has(::getauxval(AT_SYSINFO_EHDR)))
    kernels_text = t;
}

int look_at_object(dl_phdr_info* info, std::size_t /*bytes*/, void* /*nothing*/) noexcept {
  for (int i = 0; i < info->dlpi_phnum; ++i)
    look_at_segment(*info, info->dlpi_phdr[i]);
  return 0;
}

[[gnu::constructor]] void find_texts() noexcept {
  ::dl_iterate_phdr(&look_at_object, nullptr);
}

// What a call preserves, and where it returns to. (x86-64)
struct frame {
  std::uintptr_t rbx, rbp, r12, r13, r14, r15, stack_pointer;
};
enum : int { of_rbx = 3, of_rbp = 6, of_r12 = 12, of_r13 = 13, of_r14 = 14, of_r15 = 15 }; // as DWARF counts

// The way up: past `above`, to the first frame outside the library. Where that is libc's or the kernel's (of
// a signal, for one), and was called by the library or has interrupted it, to the next one outside it.
struct way_up {
  std::uintptr_t above;
  frame found{};
  bool has_found = false;
};

_Unwind_Reason_Code look_at(_Unwind_Context* at, void* argument) noexcept {
  way_up& w = *static_cast<way_up*>(argument);
  int is_interrupted = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(at, &is_interrupted);
  const std::uintptr_t pc = is_interrupted != 0 ? address : address - 1;
  const std::uintptr_t stack_pointer = _Unwind_GetCFA(at);
  if (stack_pointer <= w.above)
    return _URC_NO_REASON;
  if (is_library(pc)) {
    w.has_found = false;
    return _URC_NO_REASON;
  }
  if (!w.has_found)
    w.found = {_Unwind_GetGR(at, of_rbx),
               _Unwind_GetGR(at, of_rbp),
               _Unwind_GetGR(at, of_r12),
               _Unwind_GetGR(at, of_r13),
               _Unwind_GetGR(at, of_r14),
               _Unwind_GetGR(at, of_r15),
               stack_pointer};
  w.has_found = true;
  return is_anybodys(pc) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// The address of the return still stands below the frame: the function finds it as any that is called there.
[[noreturn]] void call_from(const frame& f, void (*function)()) noexcept {
  asm volatile("movq 0(%0), %%rbx\n\t"
               "movq 8(%0), %%rbp\n\t"
               "movq 16(%0), %%r12\n\t"
               "movq 24(%0), %%r13\n\t"
               "movq 32(%0), %%r14\n\t"
               "movq 40(%0), %%r15\n\t"
               "movq 48(%0), %%rsp\n\t"
               "subq $8, %%rsp\n\t"
               "jmp *%1"
               :
               : "a"(&f), "d"(function)
               : "memory");
  __builtin_unreachable();
}

} // namespace

namespace {

// By what pthread_cleanup_push() calls: so libc's pthread_exit() comes to an end there. Also where an
// exception leaves the scope.
class registered {
 public:
  explicit registered(__pthread_unwind_buf_t& b) noexcept : buffer_(b) { libc.__pthread_register_cancel(&b); }
  ~registered() { libc.__pthread_unregister_cancel(&buffer_); }
  registered(const registered&) = delete;
  registered& operator=(const registered&) = delete;

 private:
  __pthread_unwind_buf_t& buffer_;
};

[[gnu::noinline]] void call_registered(__pthread_unwind_buf_t& b, void (*function)(void*), void* argument) {
  const registered here(b);
  function(argument);
}

} // namespace

[[gnu::noinline]] bool call_to_its_end(void (*function)(void*), void* argument) {
  __pthread_unwind_buf_t whole;
  if (weft_sigsetjmp(whole.__cancel_jmp_buf, 0) != 0) {
    libc.__pthread_unregister_cancel(&whole);
    return false;
  }
  call_registered(whole, function, argument);
  return true;
}

void go_on_ending() {
  __pthread_unwind_buf_t none; // knows whose turn it is
  libc.__pthread_register_cancel(&none);
  libc.__pthread_unwind_next(&none);
  __builtin_unreachable();
}

void call_from_program(const void* above, void (*function)()) noexcept {
  way_up w{reinterpret_cast<std::uintptr_t>(above)};
  _Unwind_Backtrace(&look_at, &w);
  if (!w.has_found)
    std::abort();
  call_from(w.found, function);
}

} // namespace weft::pthreads
