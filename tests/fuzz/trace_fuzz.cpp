// SPDX-License-Identifier: MIT
// Raw traces: refused with a sentence, or good for everything that the tool weft does with one.
#include "weft/trace/output_file.hpp"
#include "weft/trace/raw_file.hpp"
#include "weft/trace/summary.hpp"
#include "weft/trace/timeline.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

using namespace weft::trace;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // exactly as long as the input, and aligned, so that a step beyond it is seen
  void* bytes = nullptr;
  if (::posix_memalign(&bytes, 8, size) != 0)
    std::abort();
  if (size > 0)
    std::memcpy(bytes, data, size);
  recording all;
  if (const char* wrong = parse_raw({static_cast<const std::byte*>(bytes), size}, all)) {
    if (*wrong == '\0')
      std::abort();
  } else {
    if (to_text(summarise(all)).empty() || write_timeline("/dev/null", all) != 0)
      std::abort();
    if (raw_bytes(all) < sizeof(raw_header))
      std::abort();
  }
  std::free(bytes);
  return 0;
}
