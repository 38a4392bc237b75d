// SPDX-License-Identifier: MIT
// How a shared library of Weft's reaches the C library itself. A preload may stand in for pthread_create(),
// read() and their like under the same names: Weft's doors do, and so do other people's tools. The program
// shall find theirs; the runtime below shall not, for it would wait for itself. So these calls go through
// slots (libc_itself.S.in), which are filled when the library is loaded, before anything of it runs.
//
// Calls that libstdc++ makes for us go through the loader as ever: what is used of it here neither waits nor
// makes threads.
#include <dlfcn.h>
#include <sys/mman.h>

namespace {

struct libc_slot {
  const char* name;
  void* function;
};

} // namespace

extern "C" {
[[gnu::visibility("hidden")]] extern libc_slot weft_libc_slots_begin[];
[[gnu::visibility("hidden")]] extern libc_slot weft_libc_slots_end[];
}

namespace {

// A name that is not there keeps what the loader has found for it.
void find_libc_itself() noexcept {
  void* const libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr)
    return;
  for (libc_slot* slot = weft_libc_slots_begin; slot != weft_libc_slots_end; ++slot) {
    if (void* const function = ::dlsym(libc, slot->name))
      slot->function = function;
  }
  ::dlclose(libc);
  const auto bytes =
      reinterpret_cast<char*>(weft_libc_slots_end) - reinterpret_cast<char*>(weft_libc_slots_begin);
  static_cast<void>(::mprotect(weft_libc_slots_begin, static_cast<unsigned long>(bytes), PROT_READ));
}

// Before the library's first constructors, which have the first priority that programs may use (101): the
// attribute refuses one below.
[[gnu::section(".init_array.00100"), gnu::used]] void (*const find_at_load)() noexcept = &find_libc_itself;

} // namespace
