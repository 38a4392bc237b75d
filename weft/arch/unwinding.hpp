// SPDX-License-Identifier: MIT
// Whether an exception that is thrown here would come to a handler. By the tables that the C++ run time
// itself goes by (the language-specific data of each function on the stack), so without throwing it.
#pragma once

#include <typeinfo>

#include "weft/base/export.hpp"

namespace weft::arch {

// False: a function on the way lets nothing out (noexcept, destructors), so that std::terminate() would be
// called; or nobody handles it. Contexts: all that may throw. Switches: never. Throws nothing, and is not
// noexcept: compilers leave a call of such a function out of their tables, and its caller would look as if it
// let nothing out.
[[nodiscard]] WEFT_API bool would_be_caught(const std::type_info& thrown);

} // namespace weft::arch
