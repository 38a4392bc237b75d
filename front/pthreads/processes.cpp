// SPDX-License-Identifier: MIT
// A process image begins with the signal mask that the thread has which calls exec(), or makes a process:
// that of a thread of ours is not its kernel thread's.
#include "front/pthreads/processes.hpp"

#include "front/pthreads/leaving_library.hpp"

#include <unistd.h>

namespace weft::pthreads {
namespace {

// The thread may be cancelled in it, and what libc does then ends the process that it has made: return_mask()
// comes at the thread's end then, on the same kernel thread.
[[WEFT_PTHREADS_CALLS_OTHERS]] int system_with_mask_lent(const char* command) {
  if (self == nullptr)
    return libc.system(command);
  thread& t = *self;
  t.held_for_mask.emplace();
  const sigset_t wanted = set_of(t.blocked_signals.load_relaxed()); // relaxed: its own
  libc.pthread_sigmask(SIG_SETMASK, &wanted, &t.mask_of_kernel_thread);
  const int result = libc.system(command);
  return_mask(t);
  return result;
}

// Of the arguments of execl() and its like, with the null.
std::size_t count_of(const char* first, __builtin_va_list given) noexcept {
  if (first == nullptr)
    return 1;
  std::size_t count = 2;
  while (__builtin_va_arg(given, char*) != nullptr)
    ++count;
  return count;
}

void take(char** list, const char* first, __builtin_va_list given) noexcept {
  *list = const_cast<char*>(first);
  while (*list++ != nullptr)
    *list = __builtin_va_arg(given, char*);
}

} // namespace

void return_mask(thread& t) noexcept {
  if (!t.held_for_mask)
    return;
  libc.pthread_sigmask(SIG_SETMASK, &t.mask_of_kernel_thread, nullptr);
  t.held_for_mask.reset();
  go_to_kernel_thread(t); // who was asked to meanwhile
}

} // namespace weft::pthreads

using namespace weft::pthreads;

// A list of the arguments after `first`, on the stack: this may be the child of a vfork().
#define WEFT_LIST_OF(list, first, given)                                                                     \
  __builtin_va_list given;                                                                                   \
  __builtin_va_start(given, first);                                                                          \
  const std::size_t list##_count = count_of(first, given);                                                   \
  __builtin_va_end(given);                                                                                   \
  auto* const list = static_cast<char**>(__builtin_alloca(list##_count * sizeof(char*)));                    \
  __builtin_va_start(given, first);                                                                          \
  take(list, first, given)

// Contexts: as POSIX has it. Switches: never.
extern "C" {

WEFT_API int execve(const char* path, char* const* list, char* const* variables) noexcept {
  return with_own_mask([=] { return libc.execve(path, list, variables); });
}
WEFT_API int execv(const char* path, char* const* list) noexcept {
  return with_own_mask([=] { return libc.execve(path, list, ::environ); });
}
WEFT_API int execvp(const char* file, char* const* list) noexcept {
  return with_own_mask([=] { return libc.execvpe(file, list, ::environ); });
}
WEFT_API int execvpe(const char* file, char* const* list, char* const* variables) noexcept {
  return with_own_mask([=] { return libc.execvpe(file, list, variables); });
}
WEFT_API int fexecve(int descriptor, char* const* list, char* const* variables) noexcept {
  return with_own_mask([=] { return libc.fexecve(descriptor, list, variables); });
}

WEFT_API int posix_spawn(pid_t* id, const char* path, const posix_spawn_file_actions_t* actions,
                         const posix_spawnattr_t* how, char* const* list, char* const* variables) {
  return with_own_mask([=] { return libc.posix_spawn(id, path, actions, how, list, variables); });
}
WEFT_API int posix_spawnp(pid_t* id, const char* file, const posix_spawn_file_actions_t* actions,
                          const posix_spawnattr_t* how, char* const* list, char* const* variables) {
  return with_own_mask([=] { return libc.posix_spawnp(id, file, actions, how, list, variables); });
}
WEFT_API FILE* popen(const char* command, const char* mode) {
  FILE* made = nullptr;
  static_cast<void>(with_own_mask([&] { return (made = libc.popen(command, mode)) != nullptr ? 0 : -1; }));
  return made;
}
WEFT_API int system(const char* command) {
  return system_with_mask_lent(command);
}

WEFT_API int execl(const char* path, const char* first, ...) noexcept {
  WEFT_LIST_OF(list, first, given);
  __builtin_va_end(given);
  return with_own_mask([=] { return libc.execve(path, list, ::environ); });
}
WEFT_API int execlp(const char* file, const char* first, ...) noexcept {
  WEFT_LIST_OF(list, first, given);
  __builtin_va_end(given);
  return with_own_mask([=] { return libc.execvpe(file, list, ::environ); });
}
// The variables come behind the null.
WEFT_API int execle(const char* path, const char* first, ...) noexcept {
  WEFT_LIST_OF(list, first, given);
  char* const* const variables = __builtin_va_arg(given, char* const*);
  __builtin_va_end(given);
  return with_own_mask([=] { return libc.execve(path, list, variables); });
}

} // extern "C"
