// SPDX-License-Identifier: MIT
// next() returns a unit.
// expect: picking_policy|constraints? not satisfied
#include "weft/weft.hpp"

#include <memory>

struct policy {
#ifdef CORRECT
  weft::unit_handle* next(weft::worker&, std::span<const std::shared_ptr<weft::pool>>) { return nullptr; }
#else
  int next(weft::worker&, std::span<const std::shared_ptr<weft::pool>>) { return 0; }
#endif
};

using misuse = weft::scheduler_of<policy>;
