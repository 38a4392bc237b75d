// SPDX-License-Identifier: MIT
#include "front/pthreads/libc.hpp"

#include "front/pthreads/kernel_mutex.hpp"
#include "front/pthreads/libc_cancellation.hpp"
#include "front/pthreads/objects.hpp"
#include "weft/door/process.hpp"
#include "weft/runtime.hpp"

#include <array>
#include <cstdlib>
#include <dlfcn.h>

namespace weft::pthreads {

namespace {

// Of the slots, in their order.
constexpr const char* names[] = {
#define WEFT_PTHREADS_NAME(name, result, parameters) #name,
    WEFT_PTHREADS_OF_LIBC(WEFT_PTHREADS_NAME)
#undef WEFT_PTHREADS_NAME
};

// Such a constructor may stand in malloc(), so this allocates nothing: dlopen() would.
template <class Function>
Function* find_one(Function*& function) noexcept {
  auto* const slot = reinterpret_cast<void**>(&function);
  *slot = ::dlsym(RTLD_NEXT, names[slot - reinterpret_cast<void**>(&libc)]);
  return function;
}

} // namespace

template <class Result, class... Parameters>
template <Result (*libc_functions::*Slot)(Parameters...)>
Result before_all_are_found<Result(Parameters...)>::call(Parameters... given) {
  return find_one(libc.*Slot)(given...);
}
template <class Result, class... Parameters>
template <Result (*libc_functions::*Slot)(Parameters...) noexcept>
Result before_all_are_found<Result(Parameters...) noexcept>::call(Parameters... given) noexcept {
  return find_one(libc.*Slot)(given...);
}

namespace {

long first_syscall(long number, long a, long b, long c, long d, long e, long f) {
  libc.syscall = reinterpret_cast<decltype(libc.syscall)>(::dlsym(RTLD_NEXT, "syscall"));
  return libc.syscall(number, a, b, c, d, e, f);
}

} // namespace

constinit libc_functions libc{
#define WEFT_PTHREADS_FIRST(name, result, parameters)                                                        \
  &before_all_are_found<result parameters>::call<&libc_functions::name>,
    WEFT_PTHREADS_OF_LIBC(WEFT_PTHREADS_FIRST)
#undef WEFT_PTHREADS_FIRST
        nullptr, // nobody ends a thread there
    &first_syscall};

namespace {

// Both written when the library is loaded.
bool layouts_agree = false;
const char* sanitizer = "";

// Sanitizers' runtimes have functions for threads of their own, and know nothing of threads that share a
// kernel thread. (That of UndefinedBehaviorSanitizer has none.)
const char* find_sanitizer() noexcept {
  struct runtime {
    const char* function;
    const char* name;
  };
  constexpr std::array runtimes{
      runtime{"__tsan_init", "ThreadSanitizer"}, runtime{"__asan_init", "AddressSanitizer"},
      runtime{"__msan_init", "MemorySanitizer"}, runtime{"__hwasan_init", "HWAddressSanitizer"},
      runtime{"__lsan_do_leak_check", "LeakSanitizer"}};
  for (const runtime& r : runtimes) {
    if (::dlsym(RTLD_DEFAULT, r.function) != nullptr)
      return r.name;
  }
  return "";
}

// libweft.so is found by a function of its own, whatever it is called.
void* handle_of_libweft() noexcept {
  Dl_info where{};
  if (::dladdr(reinterpret_cast<void*>(&runtime::running), &where) == 0)
    return nullptr;
  return ::dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

template <class Function>
void find(Function*& slot, void* first, void* second, const char* name) noexcept {
  void* found = first != nullptr ? ::dlsym(first, name) : nullptr;
  if (found == nullptr && second != nullptr)
    found = ::dlsym(second, name);
  slot = reinterpret_cast<Function*>(found);
}

// glibc's own initialisers put the marks of shared objects and clocks where this file's sight of them is.
bool try_layouts() noexcept {
  pthread_condattr_t how;
  libc.pthread_condattr_init(&how);
  libc.pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
  ::pthread_condattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
  pthread_cond_t c;
  bool agree = libc.pthread_cond_init(&c, &how) == 0 && is_shared(c) && clock_of(c) == CLOCK_MONOTONIC;
  libc.pthread_cond_destroy(&c);
  libc.pthread_condattr_destroy(&how);
  pthread_barrier_t b;
  agree = agree && libc.pthread_barrier_init(&b, nullptr, 7) == 0 && !is_shared(b) && count_of(b) == 7;
  libc.pthread_barrier_destroy(&b);
  sem_t s;
  agree = agree && libc.sem_init(&s, 1, 5) == 0 && is_shared(s) && value_of(s).load_relaxed() == 5;
  pthread_rwlock_t l;
  pthread_rwlockattr_t l_how;
  libc.pthread_rwlockattr_init(&l_how);
  ::pthread_rwlockattr_setpshared(&l_how, PTHREAD_PROCESS_SHARED);
  ::pthread_rwlockattr_setkind_np(&l_how, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  agree = agree && libc.pthread_rwlock_init(&l, &l_how) == 0 && is_shared(l) && prefers_writers(l);
  libc.pthread_rwlockattr_destroy(&l_how);
  return agree;
}

// A sanitizer's stand between this library and libc, and must see the calls.
void find_all() noexcept {
  sanitizer = find_sanitizer();
  const bool is_sanitized = *sanitizer != '\0';
  void* const of_libc = is_sanitized ? RTLD_NEXT : ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void* const of_libweft = handle_of_libweft();
#define WEFT_PTHREADS_FIND(name, result, parameters) find(libc.name, of_libc, nullptr, #name);
  WEFT_PTHREADS_OF_LIBC(WEFT_PTHREADS_FIND)
#undef WEFT_PTHREADS_FIND
  find(libc.pthread_exit, of_libc, nullptr, "pthread_exit");
  find(libc.syscall, of_libc, nullptr, "syscall");
  find(libc.sched_yield, of_libweft, of_libc, "sched_yield");
  find(libc.poll, of_libweft, of_libc, "poll");
  find(libc.ppoll, of_libweft, of_libc, "ppoll");
  find(libc.select, of_libweft, of_libc, "select");
  find(libc.epoll_wait, of_libweft, of_libc, "epoll_wait");
  find(libc.__poll_chk, of_libweft, of_libc, "__poll_chk");
  find(libc.__ppoll_chk, of_libweft, of_libc, "__ppoll_chk");
  find_libcs_word(of_libc);
  find_libcs_ids(of_libc);
  layouts_agree = !is_sanitized && try_layouts();
}

// Before all constructors that programs may have (101).
[[gnu::section(".init_array.00101"), gnu::used]] void (*const find_at_load)() noexcept = &find_all;

} // namespace

const char* sanitizer_of_program() noexcept {
  return sanitizer;
}

bool is_known_libc() noexcept {
  return layouts_agree;
}

} // namespace weft::pthreads
