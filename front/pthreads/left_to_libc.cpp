// SPDX-License-Identifier: MIT
// What libc does for threads of ours as for its own: keys, which are in their blocks, and attributes and
// other initialisers, by whose marks objects are told apart. They are exported so that this library has all
// of what programs use of <pthread.h> and <semaphore.h>: whoever looks a name up in it finds it.
//
// Contexts, switches, errors: as POSIX has them.
#include "front/pthreads/libc.hpp"

#include "weft/door/section.hpp"

#include <cstdarg>
#include <fcntl.h>

using weft::pthreads::libc;

extern "C" {

WEFT_API int pthread_atfork(void (*before)(), void (*parent)(), void (*child)()) noexcept {
  return libc.__register_atfork(before, parent, child, nullptr); // what libc's own is for who looks it up
}
WEFT_API int __register_atfork(void (*before)(), void (*parent)(), void (*child)(), void* library) noexcept {
  return libc.__register_atfork(before, parent, child, library);
}
WEFT_API void __pthread_register_cancel(__pthread_unwind_buf_t* frame) noexcept {
  libc.__pthread_register_cancel(frame);
}
WEFT_API void __pthread_unregister_cancel(__pthread_unwind_buf_t* frame) noexcept {
  libc.__pthread_unregister_cancel(frame);
}
WEFT_API int pthread_attr_init(pthread_attr_t* a) noexcept {
  return libc.pthread_attr_init(a);
}
WEFT_API int pthread_attr_destroy(pthread_attr_t* a) noexcept {
  return libc.pthread_attr_destroy(a);
}
WEFT_API int pthread_attr_getdetachstate(const pthread_attr_t* a, int* state) noexcept {
  return libc.pthread_attr_getdetachstate(a, state);
}
WEFT_API int pthread_attr_getguardsize(const pthread_attr_t* a, std::size_t* bytes) noexcept {
  return libc.pthread_attr_getguardsize(a, bytes);
}
WEFT_API int pthread_attr_getschedparam(const pthread_attr_t* a, sched_param* how) noexcept {
  return libc.pthread_attr_getschedparam(a, how);
}
WEFT_API int pthread_attr_getschedpolicy(const pthread_attr_t* a, int* policy) noexcept {
  return libc.pthread_attr_getschedpolicy(a, policy);
}
WEFT_API int pthread_attr_getstack(const pthread_attr_t* a, void** lowest, std::size_t* bytes) noexcept {
  return libc.pthread_attr_getstack(a, lowest, bytes);
}
WEFT_API int pthread_attr_getstacksize(const pthread_attr_t* a, std::size_t* bytes) noexcept {
  return libc.pthread_attr_getstacksize(a, bytes);
}
WEFT_API int pthread_attr_setaffinity_np(pthread_attr_t* a, std::size_t bytes,
                                         const cpu_set_t* cpus) noexcept {
  return libc.pthread_attr_setaffinity_np(a, bytes, cpus);
}
WEFT_API int pthread_attr_setdetachstate(pthread_attr_t* a, int state) noexcept {
  return libc.pthread_attr_setdetachstate(a, state);
}
WEFT_API int pthread_attr_setguardsize(pthread_attr_t* a, std::size_t bytes) noexcept {
  return libc.pthread_attr_setguardsize(a, bytes);
}
WEFT_API int pthread_attr_setinheritsched(pthread_attr_t* a, int inherits) noexcept {
  return libc.pthread_attr_setinheritsched(a, inherits);
}
WEFT_API int pthread_attr_setschedparam(pthread_attr_t* a, const sched_param* how) noexcept {
  return libc.pthread_attr_setschedparam(a, how);
}
WEFT_API int pthread_attr_setschedpolicy(pthread_attr_t* a, int policy) noexcept {
  return libc.pthread_attr_setschedpolicy(a, policy);
}
WEFT_API int pthread_attr_setscope(pthread_attr_t* a, int scope) noexcept {
  return libc.pthread_attr_setscope(a, scope);
}
WEFT_API int pthread_attr_setstack(pthread_attr_t* a, void* lowest, std::size_t bytes) noexcept {
  return libc.pthread_attr_setstack(a, lowest, bytes);
}
WEFT_API int pthread_attr_setstacksize(pthread_attr_t* a, std::size_t bytes) noexcept {
  return libc.pthread_attr_setstacksize(a, bytes);
}
WEFT_API int pthread_barrier_init(pthread_barrier_t* b, const pthread_barrierattr_t* how,
                                  unsigned count) noexcept {
  return libc.pthread_barrier_init(b, how, count);
}
WEFT_API int pthread_cond_init(pthread_cond_t* c, const pthread_condattr_t* how) noexcept {
  return libc.pthread_cond_init(c, how);
}
WEFT_API int pthread_condattr_init(pthread_condattr_t* how) noexcept {
  return libc.pthread_condattr_init(how);
}
WEFT_API int pthread_condattr_destroy(pthread_condattr_t* how) noexcept {
  return libc.pthread_condattr_destroy(how);
}
WEFT_API int pthread_condattr_setclock(pthread_condattr_t* how, clockid_t clock) noexcept {
  return libc.pthread_condattr_setclock(how, clock);
}
WEFT_API void* pthread_getspecific(pthread_key_t key) noexcept {
  return libc.pthread_getspecific(key);
}
// The header's declaration says that what the value points to is not read, so that gcc warns of the call.
WEFT_API int weft_setspecific(pthread_key_t key, const void* value) noexcept asm("pthread_setspecific");
int weft_setspecific(pthread_key_t key, const void* value) noexcept {
  return libc.pthread_setspecific(key, value);
}
WEFT_API int pthread_key_delete(pthread_key_t key) noexcept {
  return libc.pthread_key_delete(key);
}
WEFT_API int pthread_mutex_consistent(pthread_mutex_t* m) noexcept {
  return libc.pthread_mutex_consistent(m);
}
WEFT_API int pthread_mutexattr_init(pthread_mutexattr_t* how) noexcept {
  return libc.pthread_mutexattr_init(how);
}
WEFT_API int pthread_mutexattr_destroy(pthread_mutexattr_t* how) noexcept {
  return libc.pthread_mutexattr_destroy(how);
}
WEFT_API int pthread_mutexattr_setprioceiling(pthread_mutexattr_t* how, int priority) noexcept {
  return libc.pthread_mutexattr_setprioceiling(how, priority);
}
WEFT_API int pthread_mutexattr_setprotocol(pthread_mutexattr_t* how, int protocol) noexcept {
  return libc.pthread_mutexattr_setprotocol(how, protocol);
}
WEFT_API int pthread_mutexattr_setpshared(pthread_mutexattr_t* how, int shared) noexcept {
  return libc.pthread_mutexattr_setpshared(how, shared);
}
WEFT_API int pthread_mutexattr_setrobust(pthread_mutexattr_t* how, int robust) noexcept {
  return libc.pthread_mutexattr_setrobust(how, robust);
}
WEFT_API int pthread_mutexattr_settype(pthread_mutexattr_t* how, int type) noexcept {
  return libc.pthread_mutexattr_settype(how, type);
}
WEFT_API int pthread_rwlock_init(pthread_rwlock_t* l, const pthread_rwlockattr_t* how) noexcept {
  return libc.pthread_rwlock_init(l, how);
}
WEFT_API int pthread_rwlock_destroy(pthread_rwlock_t* l) noexcept {
  return libc.pthread_rwlock_destroy(l);
}
WEFT_API int pthread_rwlockattr_init(pthread_rwlockattr_t* how) noexcept {
  return libc.pthread_rwlockattr_init(how);
}
WEFT_API int pthread_rwlockattr_destroy(pthread_rwlockattr_t* how) noexcept {
  return libc.pthread_rwlockattr_destroy(how);
}
WEFT_API int pthread_spin_init(pthread_spinlock_t* l, int shared) noexcept {
  return libc.pthread_spin_init(l, shared);
}
WEFT_API int pthread_spin_destroy(pthread_spinlock_t* l) noexcept {
  return libc.pthread_spin_destroy(l);
}
WEFT_API int pthread_spin_lock(pthread_spinlock_t* l) noexcept {
  return libc.pthread_spin_lock(l);
}
WEFT_API int pthread_spin_unlock(pthread_spinlock_t* l) noexcept {
  return libc.pthread_spin_unlock(l);
}
WEFT_API int sem_init(sem_t* s, int shared, unsigned value) noexcept {
  return libc.sem_init(s, shared, value);
}
WEFT_API int sem_destroy(sem_t* s) noexcept {
  return libc.sem_destroy(s);
}
WEFT_API int sem_getvalue(sem_t* s, int* value) noexcept {
  return libc.sem_getvalue(s, value);
}
WEFT_API int sem_close(sem_t* s) noexcept {
  return libc.sem_close(s);
}
WEFT_API int sem_unlink(const char* name) noexcept {
  return libc.sem_unlink(name);
}

WEFT_API sem_t* sem_open(const char* name, int flags, ...) noexcept {
  mode_t mode = 0;
  unsigned value = 0;
  if ((flags & O_CREAT) != 0) {
    va_list given;
    va_start(given, flags);
    mode = va_arg(given, mode_t);
    value = va_arg(given, unsigned);
    va_end(given);
  }
  return libc.sem_open(name, flags, mode, value);
}

[[noreturn]] WEFT_API void __pthread_unwind_next(__pthread_unwind_buf_t* frame) {
  libc.__pthread_unwind_next(frame);
  __builtin_unreachable();
}

} // extern "C"
