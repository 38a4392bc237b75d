// SPDX-License-Identifier: MIT
// Objects of the C API in words. None of it takes a lock but that of a pool it walks through.
#pragma once

#include <cstdio>

#include "front/abt/xstream.hpp"

namespace weft::abt {

void print_unit(std::FILE* out, const descriptor& u);
// The unit must not run.
void print_stack(std::FILE* out, const descriptor& u);
void print_pool(std::FILE* out, pool& p);
void print_stacks(std::FILE* out, pool& p);
void print_scheduler(std::FILE* out, const scheduler& s);
void print_stream(std::FILE* out, const xstream& es);
void print_settings(std::FILE* out);

} // namespace weft::abt
