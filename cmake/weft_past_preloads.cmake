# SPDX-License-Identifier: MIT
# weft_past_preloads(<target>): the shared library calls the functions of cmake/exports/past_preloads.txt in the C library itself,
# whatever a preload has under their names (weft/os/libc_itself.cpp). Where doors are: x86-64; and not where a sanitizer
# stands in for these functions, which must see the calls.
function(weft_past_preloads target)
  if(NOT WEFT_ARCH STREQUAL "x86_64" OR WEFT_SANITIZED)
    return()
  endif()
  set(list "${PROJECT_SOURCE_DIR}/cmake/exports/past_preloads.txt")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
  file(STRINGS "${list}" names REGEX "^[^#]")
  list(JOIN names ", " WEFT_PAST_PRELOADS)
  set(stubs "${PROJECT_BINARY_DIR}/libc_itself.S")
  configure_file("${PROJECT_SOURCE_DIR}/weft/os/libc_itself.S.in" "${stubs}" @ONLY)
  target_sources(${target} PRIVATE "${stubs}" "${PROJECT_SOURCE_DIR}/weft/os/libc_itself.cpp")
  foreach(name IN LISTS names)
    target_link_options(${target} PRIVATE "LINKER:--wrap=${name}")
  endforeach()
endfunction()
