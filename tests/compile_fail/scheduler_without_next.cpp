// SPDX-License-Identifier: MIT
// A picking policy offers next().
// expect: picking_policy|constraints? not satisfied
#include "weft/weft.hpp"

#include <memory>

struct policy {
#ifdef CORRECT
  weft::unit_handle* next(weft::worker&, std::span<const std::shared_ptr<weft::pool>>) { return nullptr; }
#endif
};

using misuse = weft::scheduler_of<policy>;
