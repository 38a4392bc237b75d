// SPDX-License-Identifier: MIT
// Functions that libomp has and libgomp of gcc 12 has not. There is no other device here,
// so objects of another runtime (interop) are always omp_interop_none.
#include "front/openmp/gomp/functions.hpp"
#include "front/openmp/kmp/abi.hpp"

using namespace weft::openmp;

namespace {

constexpr int is_empty = -1; // omp_irc_empty: there is no such object

void say_empty(int* why) noexcept {
  if (why != nullptr)
    *why = is_empty;
}

} // namespace

KMP_EXPORT int omp_in_explicit_task() {
  return caller().current->is_explicit ? 1 : 0;
}
// Where there is no tool: omp_control_tool_notool.
KMP_EXPORT int omp_control_tool(int command, int modifier, void* argument) {
  thread& t = caller();
  tool::note_call(t.told);
  return tool::control(t, command, modifier, argument);
}

KMP_EXPORT int omp_get_num_interop_properties(const void* /*interop*/) {
  return 0;
}
KMP_EXPORT std::intptr_t omp_get_interop_int(const void* /*interop*/, int /*property*/, int* why) {
  say_empty(why);
  return 0;
}
KMP_EXPORT void* omp_get_interop_ptr(const void* /*interop*/, int /*property*/, int* why) {
  say_empty(why);
  return nullptr;
}
KMP_EXPORT const char* omp_get_interop_str(const void* /*interop*/, int /*property*/, int* why) {
  say_empty(why);
  return nullptr;
}
KMP_EXPORT const char* omp_get_interop_name(const void* /*interop*/, int /*property*/) {
  return nullptr;
}
KMP_EXPORT const char* omp_get_interop_type_desc(const void* /*interop*/, int /*property*/) {
  return nullptr;
}
KMP_EXPORT const char* omp_get_interop_rc_desc(const void* /*interop*/, int why) {
  switch (why) {
  case 1:
    return "there is no value";
  case 0:
    return "successful";
  case -1:
    return "the object is omp_interop_none";
  case -2:
    return "there is no such property";
  case -3:
    return "the property is an integer";
  case -4:
    return "the property is a pointer";
  case -5:
    return "the property is a string";
  default:
    return "another error";
  }
}
