# SPDX-License-Identifier: MIT
# Installation: headers, both libraries, a CMake package and a pkg-config file. tests/consumer proves all of it.
# With WEFT_SANITIZER the same beside it, under names with -asan or -tsan.
include(CMakePackageConfigHelpers)

set(weft_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/weft" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")

# Two export sets: only the static library asks its consumer for hwloc and liburing.
install(TARGETS weft_static EXPORT weft_static_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT weft_static_targets FILE weft_static${WEFT_SUFFIX}_targets.cmake NAMESPACE weft::
        DESTINATION "${weft_package_dir}")
set(weft_pc_modules weft)
if(WEFT_BUILD_SHARED)
  list(APPEND weft_pc_modules argobots)
  install(TARGETS weft_shared weft_abt EXPORT weft_shared_targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(FILES "${PROJECT_SOURCE_DIR}/front/abt/abt.h" "${PROJECT_SOURCE_DIR}/front/abt/abtx.h"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT weft_shared_targets FILE weft_shared${WEFT_SUFFIX}_targets.cmake NAMESPACE weft::
          DESTINATION "${weft_package_dir}")
  # gdb looks for it beside the library, under the name of the file itself.
  install(FILES "${PROJECT_SOURCE_DIR}/tools/gdb/weft.py" DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          RENAME "libweft${WEFT_SUFFIX}.so.${PROJECT_VERSION}-gdb.py")
  include("${PROJECT_SOURCE_DIR}/cmake/weft_strip.cmake")
  weft_strip("${CMAKE_INSTALL_LIBDIR}/libweft${WEFT_SUFFIX}.so.${PROJECT_VERSION}")
  weft_strip("${CMAKE_INSTALL_LIBDIR}/libabt${WEFT_SUFFIX}.so.1.2.0")
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/weftConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/weftConfig.cmake" INSTALL_DESTINATION "${weft_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/weftConfig.cmake" "${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
        DESTINATION "${weft_package_dir}")

set(at "@")
list(JOIN WEFT_PUBLIC_CFLAGS " " WEFT_PC_CFLAGS)
if(WEFT_SANITIZER)
  set(WEFT_PC_SANITIZE "-fsanitize=${WEFT_SANITIZER}")
  string(APPEND WEFT_PC_CFLAGS " ${WEFT_PC_SANITIZE}")
endif()
# Libraries, not modules: what hwloc needs to be linked statically itself is mostly not installed, and libweft.a is content
# with the shared ones.
set(WEFT_PC_PRIVATE_LIBS "-lhwloc")
if(WEFT_HAS_URING)
  string(APPEND WEFT_PC_PRIVATE_LIBS " -luring")
endif()
if(WEFT_ATOMIC_LIBRARY)
  string(APPEND WEFT_PC_PRIVATE_LIBS " -l${WEFT_ATOMIC_LIBRARY}")
endif()

# The prefix is known only when installing (cmake --install --prefix), so the last step runs then.
foreach(module IN LISTS weft_pc_modules)
  set(file "${PROJECT_BINARY_DIR}/${module}${WEFT_SUFFIX}.pc")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${module}.pc.in" "${file}.in" @ONLY)
  install(CODE "
    set(weft_pc_prefix \"\${CMAKE_INSTALL_PREFIX}\")
    configure_file(\"${file}.in\" \"${file}\" @ONLY)")
  install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
