// SPDX-License-Identifier: MIT
#include "weft/preempt/libc_names.hpp"

#include <dlfcn.h>
#include <link.h>

#include "weft/base/first_use.hpp"

#undef p_type // a name of resolv.h's, where the room is compiled as one file

namespace weft::preempt {
namespace {

template <class T>
void look_up_if_there(T& into, const char* name) noexcept {
  into = reinterpret_cast<T>(::dlvsym(RTLD_DEFAULT, name, "GLIBC_PRIVATE"));
}

template <class T>
void look_up(libc_names& names, T& into, const char* name) noexcept {
  look_up_if_there(into, name);
  if (into == nullptr && names.missing == nullptr)
    names.missing = name;
}

bool has(const dl_phdr_info& object, std::uintptr_t address) noexcept {
  for (unsigned p = 0; p != object.dlpi_phnum; ++p) {
    const ElfW(Phdr)& part = object.dlpi_phdr[p];
    if (part.p_type == PT_LOAD && address - object.dlpi_addr - part.p_vaddr < part.p_memsz)
      return true;
  }
  return false;
}

int look_at(dl_phdr_info* object, std::size_t, void* argument) {
  auto& names = *static_cast<libc_names*>(argument);
  if (!has(*object, reinterpret_cast<std::uintptr_t>(names.run_destructors)))
    return 0;
  for (unsigned p = 0; p != object->dlpi_phnum; ++p) {
    const ElfW(Phdr)& part = object->dlpi_phdr[p];
    if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0)
      names.libc_data = {reinterpret_cast<const std::byte*>(object->dlpi_addr + part.p_vaddr), part.p_memsz};
    if (part.p_type == PT_TLS)
      names.libc_tls_bytes = part.p_memsz;
  }
  names.libc_tls_slot = object->dlpi_tls_modid;
  return 1;
}

libc_names look_all_up() noexcept {
  libc_names n;
  look_up(n, n.allocate, "_dl_allocate_tls");
  look_up(n, n.initialise, "_dl_allocate_tls_init");
  look_up(n, n.free, "_dl_deallocate_tls");
  look_up(n, n.static_size, "_dl_get_tls_static_info");
  look_up(n, n.run_destructors, "__call_tls_dtors");
  look_up(n, n.loader, "_rtld_global");
  look_up(n, n.bytes_for_thread, "_thread_db_sizeof_pthread");
  look_up(n, n.slots_of_thread, "_thread_db_pthread_dtvp");
  look_up(n, n.list_of_thread, "_thread_db_pthread_list");
  look_up(n, n.id_of_thread, "_thread_db_pthread_tid");
  look_up(n, n.cancels_of_thread, "_thread_db_pthread_cancelhandling");
  look_up(n, n.values_of_thread, "_thread_db_pthread_specific");
  look_up(n, n.libraries_of_loader, "_thread_db_rtld_global__dl_tls_dtv_slotinfo_list");
  look_up_if_there(n.list_of_user_stacks, "_thread_db_rtld_global__dl_stack_user");
  look_up_if_there(n.policy_of_thread, "_thread_db_pthread_schedpolicy");
  look_up_if_there(n.priority_of_thread, "_thread_db_pthread_schedparam_sched_priority");
  if (n.missing == nullptr)
    static_cast<void>(::dl_iterate_phdr(&look_at, &n));
  return n;
}

constinit base::first_use<libc_names> names;

} // namespace

const libc_names& names_of_libc() noexcept {
  return names.get(&look_all_up);
}

namespace {

[[maybe_unused]] const libc_names& looked_up_when_loaded = names_of_libc();

} // namespace

} // namespace weft::preempt
