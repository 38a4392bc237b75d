// SPDX-License-Identifier: MIT
// weft::this_thread::sleep_for and sleep_until. Guide: docs/guide/synchronisation.md.
#pragma once

#include "weft/sync/sleep.hpp" // IWYU pragma: export
