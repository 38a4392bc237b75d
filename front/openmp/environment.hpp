// SPDX-License-Identifier: MIT
// What the environment says: names of it, for those who print it, and what programs change of it later.
#pragma once

#include "front/openmp/icv.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::openmp {

/// Reads "NAME=value|NAME=value" as if it stood in the environment: for the process, and for the task whose
/// control variables these are. *Contexts*: as process(); nobody else reads settings meanwhile.
void read_settings_from(const char* text, icvs& callers);

/// How long a thread that waits looks before it sleeps, in ms, rounded down; INT_MAX: for ever. *Contexts*:
/// as process().
void set_block_time(int ms) noexcept;
int block_time() noexcept;

/// The size of a thread's stack: OMP_STACKSIZE, else the limit of the process, else 8 MiB.
std::size_t stack_bytes() noexcept;

const char* allocator_name(std::uintptr_t number) noexcept;

/// Prints all variables if OMP_DISPLAY_ENV asks for it. Once, when the library is loaded.
void display_environment_if_asked();

} // namespace weft::openmp
