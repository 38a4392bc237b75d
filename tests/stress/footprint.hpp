// SPDX-License-Identifier: MIT
// What a process holds, as the kernel and malloc count it.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>

namespace weft::test::stress {

struct footprint {
  std::size_t resident_kib = 0;
  std::size_t allocated = 0; // bytes that malloc has given and not got back
  std::size_t mappings = 0;
  std::size_t descriptors = 0;
  std::size_t kernel_threads = 0;

  static footprint now() {
    footprint f;
    const struct mallinfo2 heap = ::mallinfo2();
    f.allocated = heap.uordblks + heap.hblkhd;
    f.descriptors = entries("/proc/self/fd");
    f.kernel_threads = entries("/proc/self/task");
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      ++f.mappings;
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
      if (word == "VmRSS:")
        status >> f.resident_kib;
    }
    return f;
  }

  friend std::ostream& operator<<(std::ostream& out, const footprint& f) {
    return out << f.resident_kib << " KiB resident, " << f.allocated << " bytes of malloc's, " << f.mappings
               << " mappings, " << f.descriptors << " descriptors, " << f.kernel_threads << " kernel threads";
  }

 private:
  static std::size_t entries(const char* folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }
};

} // namespace weft::test::stress
