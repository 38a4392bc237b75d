// SPDX-License-Identifier: MIT
// Knobs: whatever the environment says, a value that the knob may have, and a bad spelling changes nothing.
#include "weft/base/knob.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace {

using namespace weft::base;

constexpr const char* words[] = {"auto", "madvise", "mprotect", "canary", "none"};
constinit integer_knob count{"WEFT_FUZZED", 7, {-5, 65536}, knob_scale::count, "a count"};
constinit integer_knob bytes{"WEFT_FUZZED", 65536, {4096, std::int64_t{1} << 36}, knob_scale::bytes, "bytes"};
constinit boolean_knob flag{"WEFT_FUZZED", false, "a flag"};
constinit choice_knob choice{"WEFT_FUZZED", 0, words, "a choice"};
constinit text_knob text{"WEFT_FUZZED", nullptr, "a text"};

void require(bool good) {
  if (!good)
    std::abort();
}

// A value goes through its own spelling unchanged.
template <class Knob>
void survives_its_spelling(Knob& k) {
  char shown[128];
  k.print_value(shown, sizeof shown);
  const auto before = k.get();
  ::setenv("WEFT_FUZZED", shown, 1);
  k.reset();
  require(k.get() == before);
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  require(std::freopen("/dev/null", "w", stdout) != nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string spelling(reinterpret_cast<const char*>(data), size);
  const auto read_again = [&](auto& k) {
    ::setenv("WEFT_FUZZED", spelling.c_str(), 1);
    k.reset();
    k.get();
  };
  read_again(count);
  require(count.get() >= -5 && count.get() <= 65536 && (count.changed() || count.get() == 7));
  survives_its_spelling(count);
  read_again(bytes);
  require(bytes.get() >= 4096 && bytes.get() <= std::int64_t{1} << 36);
  survives_its_spelling(bytes);
  read_again(flag);
  survives_its_spelling(flag);
  read_again(choice);
  require(choice.get() < 5);
  read_again(text);
  require((text.get() == nullptr) == spelling.empty() || spelling[0] == '\0');
  print_all(stdout);
  ::unsetenv("WEFT_FUZZED");
  return 0;
}
