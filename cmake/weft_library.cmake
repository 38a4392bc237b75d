# SPDX-License-Identifier: MIT
# libweft, static and shared, from the objects of all rooms. weft::weft is the shared one where it is built.

get_property(weft_rooms GLOBAL PROPERTY WEFT_ROOM_TARGETS)
get_property(weft_libraries GLOBAL PROPERTY WEFT_ROOM_LIBRARIES)
list(REMOVE_DUPLICATES weft_libraries)
set(weft_objects "")
foreach(room IN LISTS weft_rooms)
  get_target_property(kind ${room} TYPE)
  if(kind STREQUAL "OBJECT_LIBRARY")
    list(APPEND weft_objects $<TARGET_OBJECTS:${room}>)
  endif()
endforeach()

# No ABI is promised between the minor versions before 1.0: each is a library of its own to the loader.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(WEFT_SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
else()
  set(WEFT_SOVERSION "${PROJECT_VERSION_MAJOR}")
endif()

# What the shared library exports: the lists in cmake/exports (tools/exports/exports), and nothing else of C++ or weft_.
# Functions of C that stand in for the C library's (interposed.txt) are in neither: a version of ours would keep programs
# that ask for the C library's from finding them.
function(weft_version_script file)
  foreach(list IN ITEMS public private optional)
    file(STRINGS "${PROJECT_SOURCE_DIR}/cmake/exports/${list}.txt" names REGEX "^[^#]")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/exports/${list}.txt")
    list(TRANSFORM names REPLACE "^(.+)$" "    \\1,")
    list(JOIN names "\n" ${list})
    string(REPLACE "," ";" ${list} "${${list}}")
  endforeach()
  file(CONFIGURE OUTPUT "${file}" CONTENT "WEFT_${WEFT_SOVERSION} {
  global:
${public}
${optional}
  local: _Z*; weft_*; this_program_*; __start_weft_*; __stop_weft_*;
};
WEFT_PRIVATE_${WEFT_SOVERSION} {
  global:
${private}
};
")
endfunction()

function(weft_library kind type)
  set(target weft_${kind})
  add_library(${target} ${type} ${weft_objects})
  add_library(weft::${kind} ALIAS ${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME weft${WEFT_SUFFIX} EXPORT_NAME ${kind}${WEFT_SUFFIX} LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${WEFT_SOVERSION})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  if(WEFT_PUBLIC_CFLAGS)
    target_compile_options(${target} PUBLIC ${WEFT_PUBLIC_CFLAGS})
  endif()
  target_link_libraries(${target} PUBLIC Threads::Threads ${WEFT_ATOMIC_LIBRARY} PRIVATE ${weft_libraries})
endfunction()

weft_library(static STATIC)
if(WEFT_BUILD_SHARED)
  weft_library(shared SHARED)
  set(weft_exports "${PROJECT_BINARY_DIR}/weft_exports.map")
  # Stand-ins for functions of libc's, which a static library must not bring into programs.
  target_sources(weft_shared PRIVATE "${PROJECT_SOURCE_DIR}/weft/preempt/libc_waits.cpp")
  target_link_libraries(weft_shared PRIVATE weft_flags ${CMAKE_DL_LIBS})
  set_target_properties(weft_shared PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON CXX_EXTENSIONS OFF)
  weft_own_sections(weft_shared)
  weft_past_preloads(weft_shared)
  weft_version_script("${weft_exports}")
  set_target_properties(weft_shared PROPERTIES LINK_DEPENDS "${weft_exports}")
  target_link_options(weft_shared PRIVATE ${WEFT_HARDENED_LINK} ${WEFT_STAYS_LOADED} "LINKER:--version-script=${weft_exports}")
  # lld refuses a list with names that are not there, as optional.txt has them.
  include(CheckLinkerFlag)
  check_linker_flag(CXX "LINKER:--undefined-version" WEFT_LINKER_TAKES_UNDEFINED_VERSION)
  if(WEFT_LINKER_TAKES_UNDEFINED_VERSION)
    target_link_options(weft_shared PRIVATE LINKER:--undefined-version)
  endif()
  if(NOT WEFT_SANITIZED)
    target_link_options(weft_shared PRIVATE LINKER:-z,defs)
  endif()
  add_library(weft::weft ALIAS weft_shared)
else()
  add_library(weft::weft ALIAS weft_static)
endif()
