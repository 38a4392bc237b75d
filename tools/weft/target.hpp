// SPDX-License-Identifier: MIT
// A process that is looked at from outside: one that runs, and stands still for as long as the target lives,
// or a core. Memory, kernel threads, symbols.
#pragma once

#include <elfutils/libdwfl.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace weft::tool {

using address = std::uint64_t;

// What the user is told, as one sentence.
struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A system call: its number and first argument.
struct kernel_call {
  long number = 0;
  std::uint64_t first = 0;
};

// A kernel thread where it was stopped: registers by their DWARF numbers, as far as this program knows the
// CPU.
struct kernel_thread {
  pid_t id = 0;
  address sp = 0;
  address pc = 0;
  struct dwarf_register {
    int number;
    std::uint64_t value;
  };
  std::vector<dwarf_register> registers; // all but pc
  std::optional<kernel_call> call;       // in which it waited just before it was stopped
  std::int64_t cpu_ns = 0;               // that it had computed for then; 0: not known
};

// A function of the program, by an address inside it.
struct place {
  std::string function; // demangled; empty: unknown
  std::string file;     // and line; empty: no debug information
};

class target {
 public:
  virtual ~target();
  target(const target&) = delete;
  target& operator=(const target&) = delete;

  // Copies `size` bytes from `from`; false if that is not to be had, `to` is unspecified then.
  virtual bool read(address from, void* to, std::size_t size) = 0;
  // The process, if it runs; 0: a core.
  [[nodiscard]] virtual pid_t process() const noexcept { return 0; }
  // Whether it has ended since it was opened, so that what was read of it is worth nothing.
  [[nodiscard]] virtual bool has_ended() const noexcept { return false; }
  [[nodiscard]] const std::vector<kernel_thread>& kernel_threads() const noexcept { return kernel_threads_; }

  // A T, or nothing if its memory cannot be read.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  std::optional<T> get(address from) {
    T value;
    if (!read(from, &value, sizeof value))
      return std::nullopt;
    return value;
  }
  // Up to the first zero byte, `most` bytes at most; empty if it cannot be read.
  std::string text(address from, std::size_t most);

  // Where a data symbol of this name lies in any module; 0: nowhere.
  address symbol(const char* name);
  // What stands at an address; `is_return`: it is where a call comes back to.
  place describe(address at, bool is_return);
  [[nodiscard]] Dwfl* modules() const noexcept { return dwfl_; }
  // For dwfl_attach_state(): the core, or null.
  [[nodiscard]] Elf* core() const noexcept { return core_; }

 protected:
  target() = default;

  // Bytes that a module's file has for an address; for what a core leaves out.
  bool read_from_module(address from, void* to, std::size_t size);

  Dwfl* dwfl_ = nullptr;
  Elf* core_ = nullptr;
  std::vector<kernel_thread> kernel_threads_;
};

// Stops every kernel thread of the process until the target is destroyed. Errors: failure, with the process
// as it was.
std::unique_ptr<target> stop_process(pid_t pid);
// Errors: failure. `executable` empty: as the core names it.
std::unique_ptr<target> open_core(const std::string& core, const std::string& executable);

// From the bytes of an elf_gregset_t; nothing but the id on CPUs that this program does not know.
kernel_thread registers_of(pid_t id, const void* registers, std::size_t size);

} // namespace weft::tool
