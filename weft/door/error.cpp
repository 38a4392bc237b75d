// SPDX-License-Identifier: MIT
#include "weft/door/error.hpp"

#include <new>

namespace weft::door {

int error_table::code_of_exception(int if_none) const noexcept {
  try {
    throw;
  } catch (const failure& f) {
    return f.code;
  } catch (const std::bad_alloc&) {
    return code_of(std::errc::not_enough_memory, if_none);
  } catch (const std::system_error& e) {
    return code_of(e.code(), if_none);
  } catch (...) {
    return if_none;
  }
}

} // namespace weft::door
