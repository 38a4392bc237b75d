// SPDX-License-Identifier: MIT
// What a worker needs to search, and to sleep. Ownership: as its parts say.
#pragma once

#include "weft/park/parking.hpp"
#include "weft/park/stillness.hpp"

namespace weft::park {

struct sleeping {
  parking_spot spot;
  search_time search;        // the worker's alone
  park::stillness stillness; // it sleeps for want of work, or is frozen, and waits for no lock
};

} // namespace weft::park
