# SPDX-License-Identifier: MIT
# Installation: headers, both libraries, a CMake package and a pkg-config file. tests/consumer proves all of it.
include(CMakePackageConfigHelpers)

set(weft_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/weft" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")

# Two export sets: only the static library asks its consumer for hwloc and liburing.
install(TARGETS weft_static EXPORT weft_static_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT weft_static_targets NAMESPACE weft:: DESTINATION "${weft_package_dir}")
if(WEFT_BUILD_SHARED)
  install(TARGETS weft_shared weft_abt EXPORT weft_shared_targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(FILES "${PROJECT_SOURCE_DIR}/front/abt/abt.h" "${PROJECT_SOURCE_DIR}/front/abt/abtx.h"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT weft_shared_targets NAMESPACE weft:: DESTINATION "${weft_package_dir}")
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/weftConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/weftConfig.cmake" INSTALL_DESTINATION "${weft_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/weftConfig.cmake" "${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
        DESTINATION "${weft_package_dir}")

set(at "@")
list(JOIN WEFT_PUBLIC_CFLAGS " " WEFT_PC_CFLAGS)
set(WEFT_PC_URING "")
if(WEFT_HAS_URING)
  set(WEFT_PC_URING ", liburing")
endif()
set(weft_pc_modules weft)
if(WEFT_BUILD_SHARED)
  list(APPEND weft_pc_modules argobots)
endif()
# gdb looks for it beside the library, under the name of the file itself.
if(WEFT_BUILD_SHARED)
  install(FILES "${PROJECT_SOURCE_DIR}/tools/gdb/weft.py" DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          RENAME "libweft.so.${PROJECT_VERSION}-gdb.py")
endif()

# The prefix is known only when installing (cmake --install --prefix), so the last step runs then.
foreach(module IN LISTS weft_pc_modules)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${module}.pc.in" "${PROJECT_BINARY_DIR}/${module}.pc.in" @ONLY)
  install(CODE "
    set(weft_pc_prefix \"\${CMAKE_INSTALL_PREFIX}\")
    configure_file(\"${PROJECT_BINARY_DIR}/${module}.pc.in\" \"${PROJECT_BINARY_DIR}/${module}.pc\" @ONLY)")
  install(FILES "${PROJECT_BINARY_DIR}/${module}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
