// SPDX-License-Identifier: MIT
// What a worker needs to search, and to sleep. Ownership: as its parts say.
#pragma once

#include "weft/park/parking.hpp"
#include "weft/park/stillness.hpp"
#include "weft/park/thief_rest.hpp"

namespace weft::park {

struct sleeping {
  parking_spot spot;
  search_time search;        // the worker's alone
  thief_rest thefts;         // the same
  park::stillness stillness; // it sleeps for want of work, or is frozen, and waits for no lock
};

} // namespace weft::park
