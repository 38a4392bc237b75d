// SPDX-License-Identifier: MIT
// weft::blocking(): calls that block, on a spare kernel thread. Guide: docs/guide/io.md.
#pragma once

#include "weft/io/blocking.hpp" // IWYU pragma: export
