// SPDX-License-Identifier: MIT
// Memory that an execution frees is kept until the execution ends, so that an access to it is seen as a use
// after free and no address means two things. Replaces operator new and delete of the test program.
#pragma once

namespace weft::model::quarantine {

/// While on, operator delete keeps memory back.
void enable(bool on) noexcept;

/// Whether `address` lies in memory that has been deleted since the last release_all().
bool holds(const void* address) noexcept;

/// Really frees everything.
void release_all() noexcept;

} // namespace weft::model::quarantine
