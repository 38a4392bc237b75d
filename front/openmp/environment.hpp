// SPDX-License-Identifier: MIT
// Names of what the environment says, for those who print it.
#pragma once

#include <cstdint>

namespace weft::openmp {

const char* allocator_name(std::uintptr_t number) noexcept;

/// Prints all variables if OMP_DISPLAY_ENV asks for it. Once, when the library is loaded.
void display_environment_if_asked();

} // namespace weft::openmp
