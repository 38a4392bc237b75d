// SPDX-License-Identifier: MIT
// malloc and free in which threads of signal_yield are not preempted. Such a thread shares with the others of
// its worker what libc keeps for a kernel thread, malloc's small blocks among it, so by the guide it may not
// allocate; the cases of the suite, written for every kind, do. Threads of other kinds are preempted in here.
#include <cerrno>
#include <cstddef>

#include "weft/sched/user_mode.hpp"

extern "C" {
void* __libc_malloc(std::size_t bytes);
void __libc_free(void* block);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

using namespace weft::sched;

class held_if_signal_yield {
 public:
  held_if_signal_yield() noexcept {
    worker_front& front = here();
    if (!front.attention.any_relaxed(user_code))
      return;
    user_mode& thread = user_mode::behind(front);
    if (thread.kind() != preemption::signal_yield)
      return;
    thread_ = &thread;
    thread_->hold();
  }
  ~held_if_signal_yield() {
    if (thread_ != nullptr)
      thread_->let_go();
  }
  held_if_signal_yield(const held_if_signal_yield&) = delete;
  held_if_signal_yield& operator=(const held_if_signal_yield&) = delete;

 private:
  user_mode* thread_ = nullptr;
};

} // namespace

extern "C" {
void* malloc(std::size_t bytes) {
  const held_if_signal_yield held;
  return __libc_malloc(bytes);
}
void free(void* block) {
  const held_if_signal_yield held;
  __libc_free(block);
}
void* calloc(std::size_t count, std::size_t bytes) {
  const held_if_signal_yield held;
  return __libc_calloc(count, bytes);
}
void* realloc(void* block, std::size_t bytes) {
  const held_if_signal_yield held;
  return __libc_realloc(block, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  const held_if_signal_yield held;
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return memalign(alignment, bytes);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  *block = memalign(alignment, bytes);
  return *block != nullptr ? 0 : ENOMEM;
}
}
