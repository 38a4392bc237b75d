// SPDX-License-Identifier: MIT
// What weft/base and weft/os define for others, in the checker's version: fences are modelled, a failed
// assertion of the code under test is a failure of the execution.
#include "tests/model/checker/model.hpp"
#include "weft/base/assert.hpp"
#include "weft/base/fence.hpp"
#include "weft/os/own_heap.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace weft::base {

bool asymmetric_fences = true;

void heavy_fence() noexcept {
  model::on_heavy_fence();
}

void panic(const char* format, ...) noexcept {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  model::fail(std::string("panic: ") + text);
}

void warn(const char*, ...) noexcept {}

void assert_failed(const char* file, int line, const char* condition, const char* text) noexcept {
  model::fail(std::string(file) + ":" + std::to_string(line) + ": " + text + " (" + condition + ")");
}

} // namespace weft::base

namespace weft::os {

void* own_allocate(std::size_t bytes) noexcept {
  return ::operator new(bytes, std::nothrow);
}

void own_free(void* block, std::size_t) noexcept {
  ::operator delete(block);
}

} // namespace weft::os
