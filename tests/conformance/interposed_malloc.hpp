// SPDX-License-Identifier: MIT
// malloc and its like around libc's, for a program as a whole. Whoever includes this, once, has defined the
// class around_malloc before: one lives as long as each call.
#pragma once

#include <cerrno>
#include <cstddef>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void __libc_free(void* block);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) {
  const around_malloc call;
  return __libc_malloc(bytes);
}
void free(void* block) {
  if (block == nullptr)
    return;
  const around_malloc call;
  __libc_free(block);
}
void* calloc(std::size_t count, std::size_t bytes) {
  const around_malloc call;
  return __libc_calloc(count, bytes);
}
void* realloc(void* block, std::size_t bytes) {
  const around_malloc call;
  return __libc_realloc(block, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  const around_malloc call;
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return memalign(alignment, bytes);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  *block = memalign(alignment, bytes);
  return *block != nullptr ? 0 : ENOMEM;
}
}
