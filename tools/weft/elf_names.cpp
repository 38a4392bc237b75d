// SPDX-License-Identifier: MIT
#include "tools/weft/elf_names.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace weft::tool {
namespace {

struct ends_elf {
  void operator()(Elf* e) const { ::elf_end(e); }
};

class descriptor {
 public:
  explicit descriptor(const char* path) : number_(::open(path, O_RDONLY | O_CLOEXEC)) {}
  ~descriptor() { ::close(number_); }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

void add_symbols(Elf& file, Elf_Scn& section, const GElf_Shdr& header, elf_names& to) {
  Elf_Data* const data = ::elf_getdata(&section, nullptr);
  if (data == nullptr || header.sh_entsize == 0)
    return;
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    const char* const name = ::gelf_getsym(data, i, &symbol) != nullptr
                                 ? ::elf_strptr(&file, header.sh_link, symbol.st_name)
                                 : nullptr;
    if (name != nullptr && GELF_ST_BIND(symbol.st_info) != STB_LOCAL)
      (symbol.st_shndx == SHN_UNDEF ? to.asked : to.given).insert(name);
  }
}

// `mov $202, %eax`, and `syscall` soon after it: what compilers make of an inlined futex(2).
unsigned futex_calls_in(std::string_view code) {
  using namespace std::string_view_literals;
  constexpr std::string_view load = "\xb8\xca\0\0\0"sv, call = "\x0f\x05"sv;
  constexpr std::size_t soon = 32;
  unsigned count = 0;
  for (std::size_t at = 0; (at = code.find(load, at)) != code.npos; at += load.size()) {
    if (code.substr(at + load.size(), soon).find(call) != code.npos)
      ++count;
  }
  return count;
}

unsigned futex_calls_in(Elf& file, Elf_Scn& section) {
  GElf_Ehdr head;
  Elf_Data* const data = ::elf_getdata(&section, nullptr);
  if (data == nullptr || ::gelf_getehdr(&file, &head) == nullptr || head.e_machine != EM_X86_64)
    return 0;
  return futex_calls_in({static_cast<const char*>(data->d_buf), data->d_size});
}

} // namespace

std::optional<elf_names> names_of(const std::filesystem::path& path) {
  ::elf_version(EV_CURRENT);
  const descriptor opened(path.c_str());
  const std::unique_ptr<Elf, ends_elf> file(::elf_begin(opened.get(), ELF_C_READ, nullptr));
  if (file == nullptr || ::elf_kind(file.get()) != ELF_K_ELF)
    return {};
  elf_names found;
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(file.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr)
      continue;
    if (header.sh_type == SHT_DYNSYM)
      add_symbols(*file, *section, header, found);
    if (header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_EXECINSTR) != 0)
      found.futex_calls += futex_calls_in(*file, *section);
  }
  return found;
}

} // namespace weft::tool
