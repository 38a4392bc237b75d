// SPDX-License-Identifier: MIT
// What this library exports, for its own use: a call of such a name goes past all preloads, this library too
// (weft/os/libc_itself.cpp). Each stands in the file of its namesake.
#pragma once

#include <csignal>
#include <cstddef>
#include <ctime>
#include <pthread.h>
#include <sched.h>

namespace weft::pthreads::exported {

/// `code`: what the program would have run.
int create(pthread_t* handle, const pthread_attr_t* attributes, void* (*function)(void*), void* argument,
           const void* code) noexcept;
int join(pthread_t handle, void** result);
int detach(pthread_t handle) noexcept;
pthread_t current() noexcept;
[[noreturn]] void exit(void* result);
int mutex_init(pthread_mutex_t* m, const pthread_mutexattr_t* how) noexcept;
int mutex_lock(pthread_mutex_t* m) noexcept;
int mutex_trylock(pthread_mutex_t* m) noexcept;
int mutex_timedlock(pthread_mutex_t* m, const timespec* until) noexcept;
int mutex_unlock(pthread_mutex_t* m) noexcept;
int mutex_destroy(pthread_mutex_t* m) noexcept;
int cond_wait(pthread_cond_t* c, pthread_mutex_t* m);
int cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until);
int cond_signal(pthread_cond_t* c) noexcept;
int cond_broadcast(pthread_cond_t* c) noexcept;
int cond_destroy(pthread_cond_t* c) noexcept;
int once(pthread_once_t* control, void (*function)());
int nanosleep(const timespec* length, timespec* rest);
void yield() noexcept;
int kill(pthread_t handle, int number) noexcept;
int set_name(pthread_t handle, const char* name) noexcept;
int get_name(pthread_t handle, char* name, std::size_t bytes) noexcept;
int change_mask(int how, const sigset_t* set, sigset_t* before) noexcept; // of a thread of ours
int mask_signals(int how, const sigset_t* set, sigset_t* before) noexcept;
int set_affinity(pthread_t handle, std::size_t bytes, const cpu_set_t* cpus) noexcept;
int get_affinity(pthread_t handle, std::size_t bytes, cpu_set_t* cpus) noexcept;

} // namespace weft::pthreads::exported
