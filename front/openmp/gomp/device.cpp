// SPDX-License-Identifier: MIT
// The device that there is: the host. Its memory is the program's, so what is there is present, copies are
// copies, and images for other devices, which a program registers as it starts, are of no use to anybody.
#include "front/openmp/gomp/abi.hpp"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int host = 0;
constexpr int initial_device = -1; // omp_initial_device

bool is_host(int device) noexcept {
  return device == host || device == initial_device;
}

} // namespace

OMP_EXPORT void GOMP_offload_register(const void* /*table*/, int /*type*/, const void* /*data*/) {}
OMP_EXPORT void GOMP_offload_unregister(const void* /*table*/, int /*type*/, const void* /*data*/) {}
OMP_EXPORT void GOMP_offload_register_ver(unsigned /*version*/, const void* /*table*/, int /*type*/,
                                          const void* /*data*/) {}
OMP_EXPORT void GOMP_offload_unregister_ver(unsigned /*version*/, const void* /*table*/, int /*type*/,
                                            const void* /*data*/) {}

OMP_EXPORT void* omp_target_alloc(std::size_t bytes, int device) {
  return is_host(device) ? std::malloc(bytes) : nullptr;
}
OMP_EXPORT void omp_target_free(void* memory, int device) {
  if (is_host(device))
    std::free(memory);
}
OMP_EXPORT int omp_target_is_present(const void* /*address*/, int device) {
  return is_host(device) ? 1 : 0;
}
OMP_EXPORT int omp_target_memcpy(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                                 std::size_t from_offset, int to_device, int from_device) {
  if (!is_host(to_device) || !is_host(from_device))
    return EINVAL;
  std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, bytes);
  return 0;
}

namespace {

struct rectangle {
  const std::size_t* volume;
  const std::size_t* offsets_to;
  const std::size_t* offsets_from;
  const std::size_t* dimensions_to;
  const std::size_t* dimensions_from;
};

void copy_rectangle(char* to, const char* from, std::size_t element, int dimensions, const rectangle& r,
                    int at) {
  std::size_t to_slice = element;
  std::size_t from_slice = element;
  for (int i = at + 1; i < dimensions; ++i) {
    to_slice *= r.dimensions_to[i];
    from_slice *= r.dimensions_from[i];
  }
  to += r.offsets_to[at] * to_slice;
  from += r.offsets_from[at] * from_slice;
  if (at + 1 == dimensions) {
    std::memcpy(to, from, element * r.volume[at]);
    return;
  }
  for (std::size_t i = 0; i < r.volume[at]; ++i)
    copy_rectangle(to + i * to_slice, from + i * from_slice, element, dimensions, r, at + 1);
}

} // namespace

// Without addresses: how many dimensions are supported.
OMP_EXPORT int omp_target_memcpy_rect(void* to, const void* from, std::size_t element, int dimensions,
                                      const std::size_t* volume, const std::size_t* offsets_to,
                                      const std::size_t* offsets_from, const std::size_t* dimensions_to,
                                      const std::size_t* dimensions_from, int to_device, int from_device) {
  if (to == nullptr && from == nullptr)
    return INT_MAX;
  if (dimensions < 1 || !is_host(to_device) || !is_host(from_device))
    return EINVAL;
  copy_rectangle(static_cast<char*>(to), static_cast<const char*>(from), element, dimensions,
                 {volume, offsets_to, offsets_from, dimensions_to, dimensions_from}, 0);
  return 0;
}

// There is nothing to associate: the host has no addresses of another device.
OMP_EXPORT int omp_target_associate_ptr(const void* /*here*/, const void* /*there*/, std::size_t /*bytes*/,
                                        std::size_t /*offset*/, int /*device*/) {
  return EINVAL;
}
OMP_EXPORT int omp_target_disassociate_ptr(const void* /*here*/, int /*device*/) {
  return EINVAL;
}
