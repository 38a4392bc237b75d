// SPDX-License-Identifier: MIT
// How a unit ends before its function returns: by an exception that unwinds its stack, so that destructors
// run. It is not derived from std::exception; a `catch (...)` that does not rethrow it keeps the unit alive
// (and is the user's choice).
#pragma once

namespace weft::unit {

struct exit_request {
  bool cancelled = false;
};

} // namespace weft::unit
