// SPDX-License-Identifier: MIT
// kmp_...: LLVM's own functions, which its omp.h declares. Memory is libc's, settings are those of the
// process.
#include "front/openmp/environment.hpp"
#include "front/openmp/kmp/abi.hpp"
#include "weft/door/errno_kept.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdlib>

using namespace weft::openmp;

namespace {

int as_int(std::size_t n) noexcept {
  return n > static_cast<std::size_t>(INT_MAX) ? INT_MAX : static_cast<int>(n);
}

} // namespace

// --- memory ---

KMP_EXPORT void* kmp_malloc(std::size_t bytes) {
  return std::malloc(bytes);
}
KMP_EXPORT void* kmp_calloc(std::size_t count, std::size_t bytes) {
  return std::calloc(count, bytes);
}
KMP_EXPORT void* kmp_realloc(void* block, std::size_t bytes) {
  return std::realloc(block, bytes);
}
// Null where the alignment is no power of 2.
KMP_EXPORT void* kmp_aligned_malloc(std::size_t bytes, std::size_t alignment) {
  const errno_kept as_it_was;
  void* block = nullptr;
  if (!std::has_single_bit(alignment) ||
      ::posix_memalign(&block, std::max(alignment, sizeof(void*)), bytes) != 0)
    return nullptr;
  return block;
}
KMP_EXPORT void kmp_free(void* block) {
  std::free(block);
}

// --- settings ---

// "NAME=value|NAME=value": as in the environment, for what begins after this.
KMP_EXPORT void kmp_set_defaults(const char* text) {
  read_settings_from(text, caller().current->icv);
}
// Of threads that are made later.
KMP_EXPORT void kmp_set_stacksize_s(std::size_t bytes) {
  process().stack_size = bytes;
}
KMP_EXPORT void kmp_set_stacksize(int bytes) {
  if (bytes > 0)
    process().stack_size = static_cast<std::size_t>(bytes);
}
KMP_EXPORT std::size_t kmp_get_stacksize_s() {
  return stack_bytes();
}
KMP_EXPORT int kmp_get_stacksize() {
  return as_int(stack_bytes());
}
// How long a thread looks before it sleeps, in ms; INT_MAX: for ever.
KMP_EXPORT void kmp_set_blocktime(int ms) {
  set_block_time(std::max(ms, 0));
}
KMP_EXPORT int kmp_get_blocktime() {
  return block_time();
}
// Any number of loops may be open here, whatever this says.
KMP_EXPORT void kmp_set_disp_num_buffers(int) {}

// What OMP_TARGET_OFFLOAD says: 0 disabled, 1 default, 2 mandatory.
KMP_EXPORT int __kmpc_get_target_offload() {
  return static_cast<int>(process().offload);
}
