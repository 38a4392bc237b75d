// SPDX-License-Identifier: MIT
// pthread_once(), with glibc's word: 0, 1 while it runs (with the number of fork()s above, so that a child
// whose parent's other thread was in it begins anew), 2.
#include "front/pthreads/engine.hpp"
#include "front/pthreads/exported.hpp"
#include "front/pthreads/leaving_library.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/requests.hpp"

namespace weft::pthreads {
namespace {

enum : std::uint32_t { untouched = 0, running = 1, done = 2, state_bits = 2 };

std::uint32_t running_here() noexcept {
  return forks() << state_bits | running;
}

// What unwinds the function, be it an exception or the end of its thread, leaves it to the next who comes.
class attempt {
 public:
  explicit attempt(futex_word& word) noexcept : word_(word) {}
  ~attempt() { // (O1) publishes what the function did; pairs with the acquire loads below
    word_.store_release(succeeded ? done : untouched);
    const errno_kept as_it_was;
    door::futex_wake(&word_, door::all_futex_waiters);
  }
  attempt(const attempt&) = delete;
  attempt& operator=(const attempt&) = delete;
  bool succeeded = false;

 private:
  futex_word& word_;
};

void call(void* as_function) {
  (*static_cast<void (**)()>(as_function))();
}

// True: the function has ended its thread; nothing else can tell where it has no tables for that.
bool attempt_ends(futex_word& word, void (*function)()) {
  attempt now(word);
  now.succeeded = call_to_its_end(&call, &function);
  return !now.succeeded;
}

int call_once(futex_word& word, void (*function)()) {
  for (;;) {
    std::uint32_t seen = word.load_acquire(); // pairs with (O1)
    if (seen == done)
      return 0;
    if (seen == running_here()) {
      const errno_kept as_it_was;
      wait_and_handle(word, seen, {}); // SWITCH: may resume on another worker
      continue;
    }
    if (!word.cas_strong_acquire(seen, running_here())) // pairs with (O1)
      continue;
    if (attempt_ends(word, function))
      go_on_ending();
    return 0;
  }
}

} // namespace

int exported::once(pthread_once_t* control, void (*function)()) {
  return all_are_libcs ? libc.pthread_once(control, function) : call_once(word_in(*control), function);
}

} // namespace weft::pthreads

using namespace weft::pthreads;

extern "C" WEFT_API int pthread_once(pthread_once_t* control, void (*function)()) {
  return exported::once(control, function);
}
