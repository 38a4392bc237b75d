// SPDX-License-Identifier: MIT
#include "front/pthreads/libc_cancellation.hpp"

#include "front/pthreads/libc.hpp"
#include "weft/door/section.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <mutex>

namespace weft::pthreads {
namespace {

// The bits of glibc's `cancelhandling` (nptl/descr.h), since 2.36 and before 2.34.
enum : std::uint32_t { disabled = 1, at_once = 2, cancelling = 4, cancelled = 8, exiting = 16 };

constinit std::size_t place = 0; // of the word, from the thread pointer; 0: unknown. Constant once loaded
constexpr std::size_t most_words = 2048;

const std::uint32_t* words_of_this_thread() noexcept {
  return static_cast<const std::uint32_t*>(__builtin_thread_pointer());
}

// How many words of the block `change` has changed, the last of them, and by which bits.
struct difference {
  std::size_t words = 0, at = 0;
  std::uint32_t bits = 0;
};
template <class Change>
difference after(std::size_t words, Change change) noexcept {
  static std::uint32_t before[most_words];
  std::memcpy(before, words_of_this_thread(), words * sizeof *before);
  change();
  difference d;
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint32_t now = words_of_this_thread()[i];
    if (now != before[i])
      d = {d.words + 1, i, now ^ before[i]};
  }
  return d;
}

// libc has no function for it, so its own functions show where it is: they change it, and nothing else.
std::size_t place_by_trial(std::size_t words) noexcept {
  int state = 0, type = 0;
  const difference by_type =
      after(words, [&] { libc.pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type); });
  libc.pthread_setcanceltype(type, nullptr);
  const difference by_state =
      after(words, [&] { libc.pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state); });
  libc.pthread_setcancelstate(state, nullptr);
  const bool is_known = by_type.words == 1 && by_state.words == 1 && by_type.at == by_state.at &&
                        by_type.bits == at_once && by_state.bits == disabled;
  return is_known ? by_type.at * sizeof(std::uint32_t) : 0;
}

} // namespace

void find_libcs_word(void* of_libc) noexcept {
  const auto* const bytes = static_cast<const std::uint32_t*>(
      of_libc != nullptr ? ::dlsym(of_libc, "_thread_db_sizeof_pthread") : nullptr);
  if (bytes != nullptr && *bytes / sizeof(std::uint32_t) <= most_words)
    place = place_by_trial(*bytes / sizeof(std::uint32_t));
}

futex_word* libcs_word_here() noexcept {
  if (place == 0)
    return nullptr;
  return reinterpret_cast<futex_word*>(static_cast<std::byte*>(__builtin_thread_pointer()) + place);
}

void begin_on_libcs_block(thread& self, futex_word* word) noexcept {
  if (word == nullptr)
    return;
  word->store_relaxed(0); // relaxed: as the last thread has left it; nobody else knows it yet
  const door::runtime_section in;
  const std::scoped_lock held(self.lock);
  self.libcs_word = word;
  if (self.cancel_asked.load_relaxed()) // relaxed: who asks later finds the word, by the lock
    word->fetch_or_relaxed(cancelling | cancelled);
}

void end_on_libcs_block(thread& self) noexcept {
  if (self.libcs_word == nullptr)
    return;
  const door::runtime_section in;
  const std::scoped_lock held(self.lock);
  self.libcs_word->fetch_or_relaxed(exiting); // relaxed: its own
  self.libcs_word = nullptr;
}

void tell_libc_of_cancellation(thread& t) noexcept {
  if (place == 0)
    return;
  const door::runtime_section in;
  const std::scoped_lock held(t.lock);
  if (t.libcs_word != nullptr)
    t.libcs_word->fetch_or_relaxed(cancelling | cancelled); // relaxed: who interrupts it has fences
}

bool libc_lets_cancel(const thread& self) noexcept {
  return self.libcs_word != nullptr && (self.libcs_word->load_relaxed() & at_once) != 0; // relaxed: its own
}

bool libc_ends(const thread& self) noexcept {
  return self.libcs_word != nullptr && (self.libcs_word->load_relaxed() & exiting) != 0; // relaxed: its own
}

// glibc's handles of kernel threads are their thread pointers.
bool libc_would_cancel(pthread_t handle) noexcept {
  if (place == 0)
    return false;
  const auto* const words = reinterpret_cast<const std::uint32_t*>(handle);
  const std::uint32_t word =
      __atomic_load_n(words + place / sizeof(std::uint32_t), __ATOMIC_RELAXED); // relaxed: a hint
  return (word & (disabled | cancelled | exiting)) == cancelled;
}

bool libc_would_cancel() noexcept {
  return libc_would_cancel(reinterpret_cast<pthread_t>(words_of_this_thread()));
}

not_by_libc::not_by_libc() noexcept {
  if (self == nullptr || self->libcs_word == nullptr)
    return;
  if ((self->libcs_word->load_relaxed() & disabled) != 0) // relaxed: its own, here and below
    return;
  word_ = self->libcs_word;
  word_->fetch_or_relaxed(disabled);
}

not_by_libc::~not_by_libc() {
  if (word_ != nullptr)
    word_->fetch_and_relaxed(~std::uint32_t{disabled});
}

} // namespace weft::pthreads
