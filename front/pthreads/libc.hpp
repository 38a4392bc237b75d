// SPDX-License-Identifier: MIT
// The C library's own functions under the names that this library exports. All are found when the library is
// loaded, past every preload: a lookup takes the loader's lock, which a library's constructor that makes
// threads holds.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::pthreads {

// X(name, result, parameters)
#define WEFT_PTHREADS_OF_LIBC(X)                                                                             \
  X(pthread_create, int, (pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))                       \
  X(pthread_join, int, (pthread_t, void**))                                                                  \
  X(pthread_tryjoin_np, int, (pthread_t, void**))                                                            \
  X(pthread_timedjoin_np, int, (pthread_t, void**, const timespec*))                                         \
  X(pthread_clockjoin_np, int, (pthread_t, void**, clockid_t, const timespec*))                              \
  X(pthread_detach, int, (pthread_t))                                                                        \
  X(pthread_self, pthread_t, ())                                                                             \
  X(pthread_cancel, int, (pthread_t))                                                                        \
  X(pthread_testcancel, void, ())                                                                            \
  X(pthread_setcancelstate, int, (int, int*))                                                                \
  X(pthread_setcanceltype, int, (int, int*))                                                                 \
  X(pthread_kill, int, (pthread_t, int))                                                                     \
  X(pthread_sigqueue, int, (pthread_t, int, const sigval))                                                   \
  X(pthread_sigmask, int, (int, const sigset_t*, sigset_t*))                                                 \
  X(sigprocmask, int, (int, const sigset_t*, sigset_t*))                                                     \
  X(sigwait, int, (const sigset_t*, int*))                                                                   \
  X(sigwaitinfo, int, (const sigset_t*, siginfo_t*))                                                         \
  X(sigtimedwait, int, (const sigset_t*, siginfo_t*, const timespec*))                                       \
  X(pthread_getattr_np, int, (pthread_t, pthread_attr_t*))                                                   \
  X(pthread_setname_np, int, (pthread_t, const char*))                                                       \
  X(pthread_getname_np, int, (pthread_t, char*, std::size_t))                                                \
  X(pthread_setaffinity_np, int, (pthread_t, std::size_t, const cpu_set_t*))                                 \
  X(pthread_getaffinity_np, int, (pthread_t, std::size_t, cpu_set_t*))                                       \
  X(pthread_setschedparam, int, (pthread_t, int, const sched_param*))                                        \
  X(pthread_getschedparam, int, (pthread_t, int*, sched_param*))                                             \
  X(pthread_setschedprio, int, (pthread_t, int))                                                             \
  X(pthread_getcpuclockid, int, (pthread_t, clockid_t*))                                                     \
  X(pthread_mutex_init, int, (pthread_mutex_t*, const pthread_mutexattr_t*))                                 \
  X(pthread_once, int, (pthread_once_t*, void (*)()))                                                        \
  X(pthread_key_create, int, (pthread_key_t*, void (*)(void*)))                                              \
  X(execve, int, (const char*, char* const*, char* const*))                                                  \
  X(execvpe, int, (const char*, char* const*, char* const*))                                                 \
  X(fexecve, int, (int, char* const*, char* const*))                                                         \
  X(pthread_mutex_destroy, int, (pthread_mutex_t*))                                                          \
  X(pthread_mutex_lock, int, (pthread_mutex_t*))                                                             \
  X(pthread_mutex_trylock, int, (pthread_mutex_t*))                                                          \
  X(pthread_mutex_timedlock, int, (pthread_mutex_t*, const timespec*))                                       \
  X(pthread_mutex_clocklock, int, (pthread_mutex_t*, clockid_t, const timespec*))                            \
  X(pthread_mutex_unlock, int, (pthread_mutex_t*))                                                           \
  X(pthread_mutex_setprioceiling, int, (pthread_mutex_t*, int, int*))                                        \
  X(pthread_cond_init, int, (pthread_cond_t*, const pthread_condattr_t*))                                    \
  X(pthread_cond_destroy, int, (pthread_cond_t*))                                                            \
  X(pthread_cond_wait, int, (pthread_cond_t*, pthread_mutex_t*))                                             \
  X(pthread_cond_timedwait, int, (pthread_cond_t*, pthread_mutex_t*, const timespec*))                       \
  X(pthread_cond_clockwait, int, (pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*))            \
  X(pthread_cond_signal, int, (pthread_cond_t*))                                                             \
  X(pthread_cond_broadcast, int, (pthread_cond_t*))                                                          \
  X(pthread_rwlock_init, int, (pthread_rwlock_t*, const pthread_rwlockattr_t*))                              \
  X(pthread_rwlock_destroy, int, (pthread_rwlock_t*))                                                        \
  X(pthread_rwlock_rdlock, int, (pthread_rwlock_t*))                                                         \
  X(pthread_rwlock_wrlock, int, (pthread_rwlock_t*))                                                         \
  X(pthread_rwlock_tryrdlock, int, (pthread_rwlock_t*))                                                      \
  X(pthread_rwlock_trywrlock, int, (pthread_rwlock_t*))                                                      \
  X(pthread_rwlock_timedrdlock, int, (pthread_rwlock_t*, const timespec*))                                   \
  X(pthread_rwlock_timedwrlock, int, (pthread_rwlock_t*, const timespec*))                                   \
  X(pthread_rwlock_clockrdlock, int, (pthread_rwlock_t*, clockid_t, const timespec*))                        \
  X(pthread_rwlock_clockwrlock, int, (pthread_rwlock_t*, clockid_t, const timespec*))                        \
  X(pthread_rwlock_unlock, int, (pthread_rwlock_t*))                                                         \
  X(pthread_barrier_init, int, (pthread_barrier_t*, const pthread_barrierattr_t*, unsigned))                 \
  X(pthread_barrier_destroy, int, (pthread_barrier_t*))                                                      \
  X(pthread_barrier_wait, int, (pthread_barrier_t*))                                                         \
  X(sem_post, int, (sem_t*))                                                                                 \
  X(sem_wait, int, (sem_t*))                                                                                 \
  X(sem_trywait, int, (sem_t*))                                                                              \
  X(sem_timedwait, int, (sem_t*, const timespec*))                                                           \
  X(sem_clockwait, int, (sem_t*, clockid_t, const timespec*))                                                \
  X(nanosleep, int, (const timespec*, timespec*))                                                            \
  X(clock_nanosleep, int, (clockid_t, int, const timespec*, timespec*))                                      \
  X(usleep, int, (useconds_t))                                                                               \
  X(sleep, unsigned, (unsigned))                                                                             \
  X(poll, int, (pollfd*, nfds_t, int))                                                                       \
  X(ppoll, int, (pollfd*, nfds_t, const timespec*, const sigset_t*))                                         \
  X(select, int, (int, fd_set*, fd_set*, fd_set*, timeval*))                                                 \
  X(epoll_wait, int, (int, epoll_event*, int, int))                                                          \
  X(__poll_chk, int, (pollfd*, nfds_t, int, std::size_t))                                                    \
  X(__ppoll_chk, int, (pollfd*, nfds_t, const timespec*, const sigset_t*, std::size_t))                      \
  X(read, ssize_t, (int, void*, std::size_t))                                                                \
  X(write, ssize_t, (int, const void*, std::size_t))                                                         \
  X(readv, ssize_t, (int, const iovec*, int))                                                                \
  X(writev, ssize_t, (int, const iovec*, int))                                                               \
  X(recv, ssize_t, (int, void*, std::size_t, int))                                                           \
  X(recvfrom, ssize_t, (int, void*, std::size_t, int, sockaddr*, socklen_t*))                                \
  X(recvmsg, ssize_t, (int, msghdr*, int))                                                                   \
  X(send, ssize_t, (int, const void*, std::size_t, int))                                                     \
  X(sendto, ssize_t, (int, const void*, std::size_t, int, const sockaddr*, socklen_t))                       \
  X(sendmsg, ssize_t, (int, const msghdr*, int))                                                             \
  X(accept, int, (int, sockaddr*, socklen_t*))                                                               \
  X(accept4, int, (int, sockaddr*, socklen_t*, int))                                                         \
  X(connect, int, (int, const sockaddr*, socklen_t))                                                         \
  X(socket, int, (int, int, int))                                                                            \
  X(socketpair, int, (int, int, int, int*))                                                                  \
  X(pipe, int, (int*))                                                                                       \
  X(pipe2, int, (int*, int))                                                                                 \
  X(eventfd, int, (unsigned, int))                                                                           \
  X(setsockopt, int, (int, int, int, const void*, socklen_t))                                                \
  X(fdopen, FILE*, (int, const char*))                                                                       \
  X(dup2, int, (int, int))                                                                                   \
  X(dup3, int, (int, int, int))                                                                              \
  X(close_range, int, (unsigned, unsigned, int))                                                             \
  X(closefrom, void, (int))                                                                                  \
  X(close, int, (int))                                                                                       \
  X(__read_chk, ssize_t, (int, void*, std::size_t, std::size_t))                                             \
  X(__recv_chk, ssize_t, (int, void*, std::size_t, std::size_t, int))                                        \
  X(__recvfrom_chk, ssize_t, (int, void*, std::size_t, std::size_t, int, sockaddr*, socklen_t*))             \
  X(sigsuspend, int, (const sigset_t*))                                                                      \
  X(pause, int, ())                                                                                          \
  X(wait, pid_t, (int*))                                                                                     \
  X(waitpid, pid_t, (pid_t, int*, int))                                                                      \
  X(waitid, int, (idtype_t, id_t, siginfo_t*, int))                                                          \
  X(gettid, pid_t, ())                                                                                       \
  X(tgkill, int, (pid_t, pid_t, int))                                                                        \
  X(sched_setaffinity, int, (pid_t, std::size_t, const cpu_set_t*))                                          \
  X(sched_getaffinity, int, (pid_t, std::size_t, cpu_set_t*))                                                \
  X(sched_setscheduler, int, (pid_t, int, const sched_param*))                                               \
  X(sched_getscheduler, int, (pid_t))                                                                        \
  X(sched_setparam, int, (pid_t, const sched_param*))                                                        \
  X(sched_getparam, int, (pid_t, sched_param*))                                                              \
  X(setpriority, int, (__priority_which_t, id_t, int))                                                       \
  X(getpriority, int, (__priority_which_t, id_t))                                                            \
  X(nice, int, (int))                                                                                        \
  X(setns, int, (int, int))                                                                                  \
  X(unshare, int, (int))                                                                                     \
  X(setfsuid, int, (uid_t))                                                                                  \
  X(setfsgid, int, (gid_t))                                                                                  \
  X(capset, int, (void*, const void*))                                                                       \
  X(prctl, int, (int, unsigned long, unsigned long, unsigned long, unsigned long))                           \
  X(sched_yield, int, ())                                                                                    \
  X(pthread_setattr_default_np, int, (const pthread_attr_t*))                                                \
  X(kill, int, (pid_t, int))                                                                                 \
  X(sigqueue, int, (pid_t, int, const sigval))                                                               \
  X(raise, int, (int))                                                                                       \
  X(sighold, int, (int))                                                                                     \
  X(sigrelse, int, (int))                                                                                    \
  X(sigblock, int, (int))                                                                                    \
  X(sigsetmask, int, (int))                                                                                  \
  X(__sigpause, int, (int, int))                                                                             \
  X(sigpending, int, (sigset_t*))                                                                            \
  X(posix_spawn, int,                                                                                        \
    (pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,         \
     char* const*))                                                                                          \
  X(posix_spawnp, int,                                                                                       \
    (pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,         \
     char* const*))                                                                                          \
  X(system, int, (const char*))                                                                              \
  X(popen, FILE*, (const char*, const char*))                                                                \
  X(__register_atfork, int, (void (*)(), void (*)(), void (*)(), void*) noexcept)                            \
  X(__pthread_register_cancel, void, (void*) noexcept)                                                       \
  X(__pthread_unregister_cancel, void, (void*) noexcept)                                                     \
  X(pthread_attr_init, int, (pthread_attr_t*) noexcept)                                                      \
  X(pthread_attr_destroy, int, (pthread_attr_t*) noexcept)                                                   \
  X(pthread_attr_getdetachstate, int, (const pthread_attr_t*, int*) noexcept)                                \
  X(pthread_attr_getguardsize, int, (const pthread_attr_t*, std::size_t*) noexcept)                          \
  X(pthread_attr_getschedparam, int, (const pthread_attr_t*, sched_param*) noexcept)                         \
  X(pthread_attr_getschedpolicy, int, (const pthread_attr_t*, int*) noexcept)                                \
  X(pthread_attr_getstack, int, (const pthread_attr_t*, void**, std::size_t*) noexcept)                      \
  X(pthread_attr_getstacksize, int, (const pthread_attr_t*, std::size_t*) noexcept)                          \
  X(pthread_attr_setaffinity_np, int, (pthread_attr_t*, std::size_t, const cpu_set_t*) noexcept)             \
  X(pthread_attr_setdetachstate, int, (pthread_attr_t*, int) noexcept)                                       \
  X(pthread_attr_setguardsize, int, (pthread_attr_t*, std::size_t) noexcept)                                 \
  X(pthread_attr_setinheritsched, int, (pthread_attr_t*, int) noexcept)                                      \
  X(pthread_attr_setschedparam, int, (pthread_attr_t*, const sched_param*) noexcept)                         \
  X(pthread_attr_setschedpolicy, int, (pthread_attr_t*, int) noexcept)                                       \
  X(pthread_attr_setscope, int, (pthread_attr_t*, int) noexcept)                                             \
  X(pthread_attr_setstack, int, (pthread_attr_t*, void*, std::size_t) noexcept)                              \
  X(pthread_attr_setstacksize, int, (pthread_attr_t*, std::size_t) noexcept)                                 \
  X(pthread_condattr_init, int, (pthread_condattr_t*) noexcept)                                              \
  X(pthread_condattr_destroy, int, (pthread_condattr_t*) noexcept)                                           \
  X(pthread_condattr_setclock, int, (pthread_condattr_t*, clockid_t) noexcept)                               \
  X(pthread_getspecific, void*, (pthread_key_t) noexcept)                                                    \
  X(pthread_setspecific, int, (pthread_key_t, const void*) noexcept)                                         \
  X(pthread_key_delete, int, (pthread_key_t) noexcept)                                                       \
  X(pthread_mutex_consistent, int, (pthread_mutex_t*) noexcept)                                              \
  X(pthread_mutexattr_init, int, (pthread_mutexattr_t*) noexcept)                                            \
  X(pthread_mutexattr_destroy, int, (pthread_mutexattr_t*) noexcept)                                         \
  X(pthread_mutexattr_setprioceiling, int, (pthread_mutexattr_t*, int) noexcept)                             \
  X(pthread_mutexattr_setprotocol, int, (pthread_mutexattr_t*, int) noexcept)                                \
  X(pthread_mutexattr_setpshared, int, (pthread_mutexattr_t*, int) noexcept)                                 \
  X(pthread_mutexattr_setrobust, int, (pthread_mutexattr_t*, int) noexcept)                                  \
  X(pthread_mutexattr_settype, int, (pthread_mutexattr_t*, int) noexcept)                                    \
  X(pthread_rwlockattr_init, int, (pthread_rwlockattr_t*) noexcept)                                          \
  X(pthread_rwlockattr_destroy, int, (pthread_rwlockattr_t*) noexcept)                                       \
  X(pthread_spin_init, int, (pthread_spinlock_t*, int) noexcept)                                             \
  X(pthread_spin_destroy, int, (pthread_spinlock_t*) noexcept)                                               \
  X(pthread_spin_lock, int, (pthread_spinlock_t*) noexcept)                                                  \
  X(pthread_spin_unlock, int, (pthread_spinlock_t*) noexcept)                                                \
  X(sem_init, int, (sem_t*, int, unsigned) noexcept)                                                         \
  X(sem_destroy, int, (sem_t*) noexcept)                                                                     \
  X(sem_getvalue, int, (sem_t*, int*) noexcept)                                                              \
  X(sem_close, int, (sem_t*) noexcept)                                                                       \
  X(sem_unlink, int, (const char*) noexcept)                                                                 \
  X(__pthread_unwind_next, void, (void*))                                                                    \
  X(sem_open, sem_t*, (const char*, int, mode_t, unsigned) noexcept)

struct libc_functions;

/// What a slot holds until all are found, for constructors of libraries that run before ours: finds that one
/// function, and calls it.
template <class Function>
struct before_all_are_found;
template <class Result, class... Parameters>
struct before_all_are_found<Result(Parameters...)> {
  template <Result (*libc_functions::*Slot)(Parameters...)>
  static Result call(Parameters... given);
};

template <class Result, class... Parameters>
struct before_all_are_found<Result(Parameters...) noexcept> {
  template <Result (*libc_functions::*Slot)(Parameters...) noexcept>
  static Result call(Parameters... given) noexcept;
};

struct libc_functions {
#define WEFT_PTHREADS_MEMBER(name, result, parameters) result(*name) parameters;
  WEFT_PTHREADS_OF_LIBC(WEFT_PTHREADS_MEMBER)
#undef WEFT_PTHREADS_MEMBER
  void (*pthread_exit)(void*); // does not return
  long (*syscall)(long, long, long, long, long, long, long);
};

/// *Ownership*: constant when the library's other constructors run; before that slots find their functions
/// one by one. Those that libweft.so stands in for
/// (sleeps, polls) are its own, which leave the worker before they call libc's.
extern libc_functions libc;

/// What the program was compiled with; "": nothing of that kind. *Contexts*: all. *Switches*: never.
/// *Errors*: none.
[[nodiscard]] const char* sanitizer_of_program() noexcept;

/// Whether this C library lays its objects out as this one was compiled for. False: the front takes nothing
/// over, and has said why.
[[nodiscard]] bool is_known_libc() noexcept;

} // namespace weft::pthreads
