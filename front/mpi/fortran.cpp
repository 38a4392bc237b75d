// SPDX-License-Identifier: MIT
// Fortran. MPICH's functions for it call MPI_Send and so come here. Those of Open MPI call PMPI_Send, past
// every layer: what their library has linked to PMPI_x is linked anew, to our MPI_x, when this library is
// loaded. So all spellings of a name, and the module of Fortran 2008, which goes through the same functions,
// are translated by the same code as C.
#include "front/mpi/engine.hpp"
#include "weft/door/process.hpp"

#if defined(OPEN_MPI)

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace weft::mpi {
namespace {

// What of a loaded library's dynamic section is needed.
struct dynamic_part {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * calls = nullptr;
  std::size_t bytes_of_calls = 0;

  explicit dynamic_part(const dl_phdr_info& of) noexcept {
    for (unsigned p = 0; p < of.dlpi_phnum; ++p) {
      if (of.dlpi_phdr[p].p_type != PT_DYNAMIC)
        continue;
      const auto* d = reinterpret_cast<const ElfW(Dyn)*>(of.dlpi_addr + of.dlpi_phdr[p].p_vaddr);
      for (; d->d_tag != DT_NULL; ++d)
        read(*d);
    }
  }

 private:
  void read(const ElfW(Dyn) & d) noexcept {
    if (d.d_tag == DT_SYMTAB) {
      symbols = reinterpret_cast<const ElfW(Sym)*>(d.d_un.d_ptr);
    } else if (d.d_tag == DT_STRTAB) {
      names = reinterpret_cast<const char*>(d.d_un.d_ptr);
    } else if (d.d_tag == DT_JMPREL) {
      calls = reinterpret_cast<const ElfW(Rela)*>(d.d_un.d_ptr);
    } else if (d.d_tag == DT_PLTRELSZ) {
      bytes_of_calls = d.d_un.d_val;
    }
  }
};

// Our MPI_x for "PMPI_x"; null: we have none.
void* ours_for(const char* name) noexcept {
  static const Dl_info us = [] {
    Dl_info found{};
    static_cast<void>(::dladdr(reinterpret_cast<const void*>(&ours_for), &found));
    return found;
  }();
  static void* const library =
      us.dli_fname != nullptr ? ::dlopen(us.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (library == nullptr || std::strncmp(name, "PMPI_", 5) != 0)
    return nullptr;
  void* const found = ::dlsym(library, name + 1);
  Dl_info where{};
  return found != nullptr && ::dladdr(found, &where) != 0 && where.dli_fbase == us.dli_fbase ? found
                                                                                             : nullptr;
}

// The loader makes these words read-only where a library asks for it.
bool write(void** word, void* value) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(word) / page * page;
  if (::mprotect(reinterpret_cast<void*>(at), page, PROT_READ | PROT_WRITE) != 0)
    return false;
  *word = value;
  return true;
}

int link_anew(dl_phdr_info* library, std::size_t, void*) {
  const std::string_view file = library->dlpi_name != nullptr ? library->dlpi_name : "";
  if (file.find("libmpi_mpifh.so") == std::string_view::npos)
    return 0;
  const dynamic_part part(*library);
  if (part.symbols == nullptr || part.names == nullptr)
    return 0;
  for (std::size_t i = 0; i < part.bytes_of_calls / sizeof(ElfW(Rela)); ++i) {
    const ElfW(Rela)& call = part.calls[i];
    const char* const name = part.names + part.symbols[ELF64_R_SYM(call.r_info)].st_name;
    void* const ours = ours_for(name);
    if (ours != nullptr && !write(reinterpret_cast<void**>(library->dlpi_addr + call.r_offset), ours))
      door::warn("MPI: %s of Fortran goes past Weft's layer", name);
  }
  return 0;
}

[[gnu::constructor]] void take_fortran() noexcept {
  static_cast<void>(::dl_iterate_phdr(&link_anew, nullptr));
}

} // namespace
} // namespace weft::mpi

#endif
