// SPDX-License-Identifier: MIT
// A core. What it leaves out, the read-only parts of files, comes from these files.
#include <fcntl.h>
#include <sys/procfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/weft/target.hpp"

namespace weft::tool {
namespace {

class core_target final : public target {
 public:
  core_target(const std::string& core, const std::string& executable) {
    elf_version(EV_CURRENT);
    file_ = open(core.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0)
      throw failure(core + ": " + std::strerror(errno));
    core_ = elf_begin(file_, ELF_C_READ_MMAP, nullptr);
    GElf_Ehdr header;
    if (core_ == nullptr || gelf_getehdr(core_, &header) == nullptr || header.e_type != ET_CORE) {
      close_all();
      throw failure(core + " is no core file");
    }
    try {
      read_segments();
      report_modules(executable);
    } catch (...) {
      close_all();
      throw;
    }
  }
  ~core_target() override { close_all(); }

  bool read(address from, void* to, std::size_t size) override {
    auto next = std::upper_bound(segments_.begin(), segments_.end(), from,
                                 [](address a, const segment& s) { return a < s.from; });
    if (next == segments_.begin())
      return false;
    const segment& s = *--next;
    if (from < s.from + s.size && from + size <= s.from + s.size) {
      return pread(file_, to, size, static_cast<off_t>(s.offset + (from - s.from))) ==
             static_cast<ssize_t>(size);
    }
    return read_from_module(from, to, size);
  }

 private:
  struct segment {
    address from;
    std::size_t size; // in the file
    std::uint64_t offset;
  };

  void read_segments() {
    std::size_t count = 0;
    elf_getphdrnum(core_, &count);
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(core_, static_cast<int>(i), &header) == nullptr)
        break; // past the end, and so are the others: a spoilt file may say that there are billions
      if (header.p_type == PT_LOAD)
        segments_.push_back({header.p_vaddr, header.p_filesz, header.p_offset});
      if (header.p_type == PT_NOTE)
        read_notes(header);
    }
    std::sort(segments_.begin(), segments_.end(),
              [](const segment& a, const segment& b) { return a.from < b.from; });
  }

  void read_notes(const GElf_Phdr& header) {
    Elf_Data* data =
        elf_getdata_rawchunk(core_, static_cast<std::int64_t>(header.p_offset), header.p_filesz, ELF_T_NHDR);
    std::size_t at = 0;
    GElf_Nhdr note;
    std::size_t name = 0;
    std::size_t description = 0;
    while (data != nullptr && (at = gelf_getnote(data, at, &note, &name, &description)) > 0) {
      if (note.n_type != NT_PRSTATUS || note.n_descsz < sizeof(elf_prstatus))
        continue;
      elf_prstatus status;
      std::memcpy(&status, static_cast<const char*>(data->d_buf) + description, sizeof status);
      kernel_threads_.push_back(registers_of(status.pr_pid, &status.pr_reg, sizeof status.pr_reg));
    }
  }

  void report_modules(const std::string& executable) {
    static const Dwfl_Callbacks callbacks = {&dwfl_build_id_find_elf, &dwfl_standard_find_debuginfo, nullptr,
                                             nullptr};
    dwfl_ = dwfl_begin(&callbacks);
    if (dwfl_ == nullptr ||
        dwfl_core_file_report(dwfl_, core_, executable.empty() ? nullptr : executable.c_str()) < 0 ||
        dwfl_report_end(dwfl_, nullptr, nullptr) != 0)
      throw failure("the modules of the core cannot be found; give the executable as well");
  }

  void close_all() noexcept {
    if (dwfl_ != nullptr) // it uses the core
      dwfl_end(std::exchange(dwfl_, nullptr));
    if (core_ != nullptr)
      elf_end(std::exchange(core_, nullptr));
    if (file_ >= 0)
      close(std::exchange(file_, -1));
  }

  int file_ = -1;
  std::vector<segment> segments_; // by address
};

} // namespace

std::unique_ptr<target> open_core(const std::string& core, const std::string& executable) {
  return std::make_unique<core_target>(core, executable);
}

} // namespace weft::tool
