// SPDX-License-Identifier: MIT
#include "tools/weft/target.hpp"

#include <cxxabi.h>
#include <sys/user.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace weft::tool {
namespace {

struct wanted_symbol {
  const char* name;
  address found;
};

int look_for_symbol(Dwfl_Module* module, void**, const char*, Dwarf_Addr, void* argument) {
  auto& wanted = *static_cast<wanted_symbol*>(argument);
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr value = 0;
    const char* name = dwfl_module_getsym_info(module, i, &symbol, &value, nullptr, nullptr, nullptr);
    if (name != nullptr && symbol.st_shndx != SHN_UNDEF && std::strcmp(name, wanted.name) == 0) {
      wanted.found = value;
      return DWARF_CB_ABORT;
    }
  }
  return DWARF_CB_OK;
}

std::string demangle(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? plain.get() : name;
}

// The registers that unwinding needs, by the names of the C library's struct: which CPU it is shows in them.
template <class Registers>
void fill(kernel_thread& t, const Registers& r) {
  if constexpr (requires { r.rsp; }) { // x86-64
    t.sp = r.rsp;
    t.pc = r.rip;
    t.registers = {{0, r.rax},  {1, r.rdx},  {2, r.rcx},  {3, r.rbx},  {4, r.rsi},  {5, r.rdi},
                   {6, r.rbp},  {7, r.rsp},  {8, r.r8},   {9, r.r9},   {10, r.r10}, {11, r.r11},
                   {12, r.r12}, {13, r.r13}, {14, r.r14}, {15, r.r15}, {16, r.rip}};
  } else if constexpr (requires { r.pstate; }) { // aarch64
    t.sp = r.sp;
    t.pc = r.pc;
    for (int i = 0; i < 31; ++i)
      t.registers.push_back({i, r.regs[i]});
    t.registers.push_back({31, r.sp});
  }
}

} // namespace

target::~target() {
  if (dwfl_ != nullptr)
    dwfl_end(dwfl_);
}

kernel_thread registers_of(pid_t id, const void* registers, std::size_t size) {
  kernel_thread t;
  t.id = id;
  user_regs_struct r{};
  std::memcpy(&r, registers, std::min(size, sizeof r));
  fill(t, r);
  return t;
}

std::string target::text(address from, std::size_t most) {
  std::string result;
  char chunk[64];
  while (result.size() < most) {
    // Up to the next multiple of the chunk's size: what follows may not be there.
    const std::size_t size = sizeof chunk - (from + result.size()) % sizeof chunk;
    if (!read(from + result.size(), chunk, size))
      break;
    const std::size_t length = strnlen(chunk, size);
    result.append(chunk, length);
    if (length < size)
      return result;
  }
  result.resize(std::min(result.size(), most));
  return result;
}

address target::symbol(const char* name) {
  wanted_symbol wanted{name, 0};
  dwfl_getmodules(dwfl_, &look_for_symbol, &wanted, 0);
  return wanted.found;
}

place target::describe(address at, bool is_return) {
  place result;
  const address inside = is_return ? at - 1 : at;
  Dwfl_Module* module = dwfl_addrmodule(dwfl_, inside);
  if (module == nullptr)
    return result;
  if (const char* name = dwfl_module_addrname(module, inside))
    result.function = demangle(name);
  if (Dwfl_Line* line = dwfl_module_getsrc(module, inside)) {
    int number = 0;
    if (const char* file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr)) {
      const char* last = std::strrchr(file, '/');
      result.file = std::string(last != nullptr ? last + 1 : file) + ":" + std::to_string(number);
    }
  }
  return result;
}

bool target::read_from_module(address from, void* to, std::size_t size) {
  Dwfl_Module* module = dwfl_addrmodule(dwfl_, from);
  GElf_Addr bias = 0;
  Elf* file = module != nullptr ? dwfl_module_getelf(module, &bias) : nullptr;
  std::size_t file_size = 0;
  const char* bytes = file != nullptr ? elf_rawfile(file, &file_size) : nullptr;
  std::size_t count = 0;
  if (bytes == nullptr || elf_getphdrnum(file, &count) != 0)
    return false;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(file, static_cast<int>(i), &header) == nullptr)
      break;
    if (header.p_type != PT_LOAD)
      continue;
    const address at = from - bias;
    const address into = at - header.p_vaddr; // no sums: a spoilt file's would wrap
    if (at < header.p_vaddr || into > header.p_filesz || size > header.p_filesz - into)
      continue;
    const std::size_t offset = header.p_offset + into;
    if (offset < into || offset > file_size || size > file_size - offset)
      return false;
    std::memcpy(to, bytes + offset, size);
    return true;
  }
  return false;
}

} // namespace weft::tool
