// SPDX-License-Identifier: MIT
// The two words through which a unit hangs in at most one container at a time.
#pragma once

#include "weft/base/atomic.hpp"

namespace weft::queue {

/// Embedded in whatever is queued. The container that holds it owns both words; a link that is in no
/// container has no meaning in them (they are not cleared on removal). `base::plain` is the bare pointer in
/// production.
struct link {
  base::plain<link*> next;
  base::plain<link*> prev;
};

} // namespace weft::queue
