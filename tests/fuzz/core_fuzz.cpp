// SPDX-License-Identifier: MIT
// `weft ps CORE`: a core is opened and its table looked for, or a sentence says why not. libdw, which reads
// most of it, has no coverage here: what is looked at is this program's own part.
#include "tools/weft/layout.hpp"
#include "tools/weft/target.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = ::memfd_create("core", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  try {
    const auto core = weft::tool::open_core(path, "/proc/self/exe");
    static_cast<void>(core->get<std::uint64_t>(0x1000));
    static_cast<void>(core->text(0x1000, 100));
    static_cast<void>(weft::tool::layout(*core));
  } catch (const weft::tool::failure& why) {
    if (*why.what() == '\0')
      std::abort();
  }
  return 0;
}
