// SPDX-License-Identifier: MIT
// Names of libc's that it has for its own libraries and for debuggers. They are looked up when this library
// is loaded: a library's constructor may make threads while its kernel thread has the loader's lock, which
// whoever looks a name up waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::preempt {

// How libc describes a member of a struct to debuggers.
struct described_member {
  std::uint32_t bits, count, offset;
};

struct libc_names {
  void* (*allocate)(void*) = nullptr;
  void* (*initialise)(void*, bool) = nullptr;
  void (*free)(void*, bool) = nullptr;
  void (*static_size)(std::size_t* bytes, std::size_t* alignment) = nullptr;
  void (*run_destructors)() noexcept = nullptr;
  std::byte* loader = nullptr;                     // _rtld_global
  const std::uint32_t* bytes_for_thread = nullptr; // of libc's struct for a kernel thread
  const described_member* slots_of_thread = nullptr;
  const described_member* list_of_thread = nullptr;
  const described_member* id_of_thread = nullptr;
  const described_member* cancels_of_thread = nullptr;
  const described_member* values_of_thread = nullptr;
  const described_member* libraries_of_loader = nullptr;
  const char* missing = nullptr; // the first that this libc has not
  // The list of threads on stacks that libc has not made, `main` among them. Null: libc does not say.
  const described_member* list_of_user_stacks = nullptr;
  const described_member* policy_of_thread = nullptr; // what debuggers choose threads by
  const described_member* priority_of_thread = nullptr;

  std::span<const std::byte> libc_data; // of libc, writable
  std::size_t libc_tls_bytes = 0;
  std::size_t libc_tls_slot = 0;
};

// Contexts: all but signal handlers; the first call is made when the library is loaded.
const libc_names& names_of_libc() noexcept;

} // namespace weft::preempt
