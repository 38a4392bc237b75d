// SPDX-License-Identifier: MIT
// The table, and the calls that make descriptors or close them besides those that wait (descriptors.cpp).
#include "front/pthreads/known_descriptors.hpp"

#include "front/pthreads/engine.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/thread.hpp"
#include "weft/door/section.hpp"
#include "weft/io.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <sys/eventfd.h>

namespace weft::pthreads {
namespace {

// Of a number, in one word, zero at first: the guess, whether it is watched, and in which turn it was found
// to have no limits. Numbers above are looked at each time.
constexpr std::uint64_t guess_mask = 3, watched_bit = 4, turn_step = 8;
constinit std::array<door::atomic<std::uint64_t>, 1 << 16> known{};
// Begins anew whenever a socket is given a time limit: a copy of the descriptor (dup(2)) has it too. Never 0.
constinit door::atomic<std::uint64_t> turn{turn_step};

// relaxed, here and below: each word stands for itself
door::atomic<std::uint64_t>* word_of(int descriptor) noexcept {
  const auto at = static_cast<std::size_t>(descriptor); // negative: beyond
  return at < known.size() ? &known[at] : nullptr;
}

bool is_limit(int level, int name) noexcept {
  return level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO);
}

} // namespace

guess guess_of(int descriptor) noexcept {
  const auto* const word = word_of(descriptor);
  return word != nullptr ? static_cast<guess>(word->load_relaxed() & guess_mask) : guess::socket;
}

void note(int descriptor, guess g) noexcept {
  if (auto* const word = word_of(descriptor))
    word->store_relaxed((word->load_relaxed() & ~guess_mask) | static_cast<std::uint64_t>(g));
}

// A handler that has interrupted the runtime may not enter it; and a child of vfork() has the memory of its
// parent, but descriptors of its own, as a thread may have.
int watch(int descriptor) noexcept {
  auto* const word = word_of(descriptor);
  if (word == nullptr || (self != nullptr && (self->has_own_descriptors || !door::is_in_program())) ||
      is_child_of_vfork())
    return descriptor;
  const errno_kept as_it_was;
  word->store_relaxed(watched_bit);
  io::adopt(descriptor);
  return descriptor;
}

int watch_both(int result, const int* descriptors) noexcept {
  if (result == 0) {
    watch(descriptors[0]);
    watch(descriptors[1]);
  }
  return result;
}

void watch_no_more(int descriptor) noexcept {
  if (auto* const word = word_of(descriptor))
    word->store_relaxed(0);
  io::disown(descriptor);
}

void watch_no_more(unsigned first, unsigned last) noexcept {
  for (std::size_t d = first; d <= last && d < known.size(); ++d)
    known[d].store_relaxed(0);
  io::disown_all(first, last);
}

bool is_watched(int descriptor) noexcept {
  const auto* const word = word_of(descriptor);
  return word != nullptr && (word->load_relaxed() & watched_bit) != 0;
}

bool has_no_limits(int descriptor) noexcept {
  const auto* const word = word_of(descriptor);
  const std::uint64_t now = word != nullptr ? word->load_relaxed() : 0;
  return (now & watched_bit) != 0 && (now & ~(turn_step - 1)) == turn_of_limits();
}

std::uint64_t turn_of_limits() noexcept {
  return turn.load_acquire(); // pairs with the release in setsockopt(): what is asked next is asked after it
}

void note_no_limits(int descriptor, std::uint64_t of_turn) noexcept {
  auto* const word = word_of(descriptor);
  const std::uint64_t now = word != nullptr ? word->load_relaxed() : 0;
  if ((now & watched_bit) != 0)
    word->store_relaxed(of_turn | (now & (turn_step - 1)));
}

} // namespace weft::pthreads

using namespace weft::pthreads;

// Contexts of all: as POSIX has it. Switches: at the end, if a tick came.
extern "C" {

WEFT_API int socket(int domain, int type, int protocol) noexcept {
  return watch(libc.socket(domain, type, protocol));
}

WEFT_API int socketpair(int domain, int type, int protocol, int two[2]) noexcept {
  return watch_both(libc.socketpair(domain, type, protocol, two), two);
}

WEFT_API int pipe(int two[2]) noexcept {
  return watch_both(libc.pipe(two), two);
}

WEFT_API int pipe2(int two[2], int flags) noexcept {
  return watch_both(libc.pipe2(two, flags), two);
}

WEFT_API int eventfd(unsigned count, int flags) noexcept {
  return watch(libc.eventfd(count, flags));
}

// After the call: who has asked before it notes an earlier turn.
WEFT_API int setsockopt(int descriptor, int level, int name, const void* value, socklen_t bytes) noexcept {
  const int result = libc.setsockopt(descriptor, level, name, value, bytes);
  if (is_limit(level, name))
    turn.fetch_add_acq_rel(turn_step); // pairs with the acquire in turn_of_limits()
  return result;
}

// libc closes it: in fclose(), freopen(), fcloseall().
WEFT_API FILE* fdopen(int descriptor, const char* mode) noexcept {
  watch_no_more(descriptor);
  return libc.fdopen(descriptor, mode);
}

WEFT_API int dup2(int from, int to) noexcept {
  watch_no_more(to);
  return libc.dup2(from, to);
}

WEFT_API int __dup2(int from, int to) noexcept {
  watch_no_more(to);
  return libc.dup2(from, to);
}

WEFT_API int dup3(int from, int to, int flags) noexcept {
  watch_no_more(to);
  return libc.dup3(from, to, flags);
}

WEFT_API int close_range(unsigned first, unsigned last, int flags) noexcept {
  watch_no_more(first, last);
  return libc.close_range(first, last, flags);
}

WEFT_API void closefrom(int first) noexcept {
  watch_no_more(static_cast<unsigned>(std::max(first, 0)), std::numeric_limits<unsigned>::max());
  libc.closefrom(first);
}

} // extern "C"
