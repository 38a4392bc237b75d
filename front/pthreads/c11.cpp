// SPDX-License-Identifier: MIT
// <threads.h>, over the functions of <pthread.h>: an object of one is one of the other, in glibc too.
#include "front/pthreads/exported.hpp"
#include "front/pthreads/thread.hpp"

#include <cstdint>
#include <new>
#include <threads.h>

namespace weft::pthreads {
namespace {

int as_c11(int error) noexcept {
  switch (error) {
  case 0:
    return thrd_success;
  case EBUSY:
    return thrd_busy;
  case ETIMEDOUT:
    return thrd_timedout;
  case ENOMEM:
  case EAGAIN:
    return thrd_nomem;
  default:
    return thrd_error;
  }
}

pthread_mutex_t* of(mtx_t* m) noexcept {
  return reinterpret_cast<pthread_mutex_t*>(m);
}
pthread_cond_t* of(cnd_t* c) noexcept {
  return reinterpret_cast<pthread_cond_t*>(c);
}

// A function of C11's, until its thread has begun.
struct start {
  thrd_start_t function;
  void* argument;
};

void* run(void* as_start) {
  auto* const given = static_cast<start*>(as_start);
  const start s = *given;
  delete given;
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(s.function(s.argument)));
}

} // namespace
} // namespace weft::pthreads

using namespace weft::pthreads;

extern "C" {

WEFT_API int thrd_create(thrd_t* t, thrd_start_t function, void* argument) {
  auto* const s = new (std::nothrow) start{function, argument};
  if (s == nullptr)
    return thrd_nomem;
  const int error = exported::create(t, nullptr, &run, s, reinterpret_cast<const void*>(function));
  if (error != 0)
    delete s;
  return as_c11(error);
}

WEFT_API int thrd_join(thrd_t t, int* result) {
  void* value = nullptr;
  const int error = exported::join(t, &value);
  if (error == 0 && result != nullptr)
    *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  return as_c11(error);
}

WEFT_API int thrd_detach(thrd_t t) {
  return as_c11(exported::detach(t));
}

WEFT_API thrd_t thrd_current() {
  return exported::current();
}

// The header has an inline function of that name, which clang does not let be defined again.
WEFT_API int weft_thrd_equal(thrd_t one, thrd_t other) asm("thrd_equal");
int weft_thrd_equal(thrd_t one, thrd_t other) {
  return one == other ? 1 : 0;
}

WEFT_API void thrd_exit(int result) {
  exported::exit(reinterpret_cast<void*>(static_cast<std::intptr_t>(result)));
}

WEFT_API int thrd_sleep(const timespec* length, timespec* rest) {
  const errno_kept as_it_was;
  if (exported::nanosleep(length, rest) == 0)
    return 0;
  return errno == EINTR ? -1 : -2;
}

WEFT_API void thrd_yield() {
  exported::yield();
}

WEFT_API int mtx_lock(mtx_t* m) {
  return as_c11(exported::mutex_lock(of(m)));
}
WEFT_API int mtx_trylock(mtx_t* m) {
  return as_c11(exported::mutex_trylock(of(m)));
}
WEFT_API int mtx_timedlock(mtx_t* m, const timespec* until) {
  return as_c11(exported::mutex_timedlock(of(m), until));
}
WEFT_API int mtx_unlock(mtx_t* m) {
  return as_c11(exported::mutex_unlock(of(m)));
}
WEFT_API void mtx_destroy(mtx_t* m) {
  exported::mutex_destroy(of(m));
}

WEFT_API int cnd_wait(cnd_t* c, mtx_t* m) {
  return as_c11(exported::cond_wait(of(c), of(m)));
}
WEFT_API int cnd_timedwait(cnd_t* c, mtx_t* m, const timespec* until) {
  return as_c11(exported::cond_timedwait(of(c), of(m), until));
}
WEFT_API int cnd_signal(cnd_t* c) {
  return as_c11(exported::cond_signal(of(c)));
}
WEFT_API int cnd_broadcast(cnd_t* c) {
  return as_c11(exported::cond_broadcast(of(c)));
}
WEFT_API void cnd_destroy(cnd_t* c) {
  exported::cond_destroy(of(c));
}

WEFT_API void call_once(once_flag* flag, void (*function)()) {
  exported::once(reinterpret_cast<pthread_once_t*>(flag), function);
}

} // extern "C"
