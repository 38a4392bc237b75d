// SPDX-License-Identifier: MIT
// What libc has in a kernel thread's TLS block, as far as a block needs it that is made without a kernel
// thread: found out at run time, since libc tells it in no header, and tried on a block that is thrown away.
//
// Where things stand is read from what libc tells debuggers (its _thread_db_* symbols), and from the block of
// a kernel thread that libc has made. docs/design/tls-blocks.md has the list.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace weft::preempt {

// A pthread key, and a thread's value for it, as libc keeps them. Both numbers are those of the same
// pthread_key_create(): else the value is a dead key's.
struct libc_key {
  std::uintptr_t number;
  void (*destructor)(void*);
};
struct libc_value {
  std::uintptr_t number;
  void* data;
};

// Offsets are in bytes from the thread pointer. Constant once it is known.
struct libc_blocks {
  // --- functions that libc has for its own libraries ---
  void* (*allocate)(void*);           // a block; takes malloc's and the loader's locks
  void* (*initialise)(void*, bool);   // thread-locals of the libraries that there are
  void (*free)(void*, bool);          // with the block itself, or only what is beside it
  void (*run_destructors)() noexcept; // of thread_local objects of the calling thread

  std::ptrdiff_t low;      // where thread-locals may begin, below the thread pointer
  std::ptrdiff_t end;      // of the block: behind what libc keeps for a kernel thread
  std::ptrdiff_t libc_low; // libc's own thread-locals,
  std::ptrdiff_t libc_end; // which outlive a thread: malloc's cache is there
  std::ptrdiff_t slots;    // the address of the loader's table: a slot for each library's thread-locals
  std::ptrdiff_t list;     // here libc's own table of threads is linked, and the words of the ABI end
  std::ptrdiff_t id;       // of the kernel thread: owners of mutexes are told by it
  std::ptrdiff_t cancels;  // flags: it is cancelled, it ends
  std::ptrdiff_t robust;   // the head of the list of robust mutexes
  std::ptrdiff_t way_out;  // the address of a jmp_buf: where pthread_exit() ends
  std::ptrdiff_t first_values, values, has_values; // of keys: the first 32; addresses of 32 each; a bool
  std::ptrdiff_t resolver, resolver_address;       // the state of res_query(3); the thread-local that says so
  std::ptrdiff_t error, resolver_error;            // errno, h_errno
  const libc_key* keys;
};

inline constexpr std::size_t keys_in_group = 32, key_groups = 32;

// Null, and `why`: blocks of this libc are made by libc alone. Contexts: a kernel thread that libc has made
// and that runs nothing of the user's, with all signals blocked. May wait for malloc's lock and the loader's
// lock of blocks. Once in a process.
const libc_blocks* learn_libc_blocks(const char*& why) noexcept;

// One slot of that table. The number of slots stands before the first, which has the newest generation that
// it knows.
struct libc_slot {
  void* variables;
  void* from_malloc; // the same, where they are no part of the block; they are made at their first use
};
inline void* const not_made = reinterpret_cast<void*>(~std::uintptr_t{0});

// Which libraries with thread-locals there are: `changes` is another number than before, if another one has
// come, or one has gone; `newest` is the generation of the newest one. `slots`: how many have ever been used.
struct libraries {
  std::uint64_t changes, newest;
  std::size_t slots;
};
// Contexts: whoever has learned, SIGNAL-SAFE. Takes no lock.
[[nodiscard]] libraries libraries_now() noexcept;

// Ids of blocks: above those of the kernel, within the bits of a robust mutex's word.
inline constexpr std::uint32_t lowest_block_id = 1U << 29;
[[nodiscard]] constexpr bool is_id_of_block(std::uint32_t id) noexcept {
  return id >= lowest_block_id && id < 2 * lowest_block_id;
}

// A fresh block, of which only the loader knows, becomes one like a kernel thread's with that id. Whether it
// is in libc's lists of threads is another matter (libc_threads.hpp). Contexts: as learn_libc_blocks().
bool complete_block(const libc_blocks& known, std::byte* block, std::uint32_t id, void* way_out) noexcept;

// The word or object at an offset.
template <class T>
[[nodiscard]] T& at(std::byte* block, std::ptrdiff_t offset) noexcept {
  return *reinterpret_cast<T*>(block + offset);
}

} // namespace weft::preempt
