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

function(weft_library kind type)
  set(target weft_${kind})
  add_library(${target} ${type} ${weft_objects})
  add_library(weft::${kind} ALIAS ${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME weft EXPORT_NAME ${kind} LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
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
  if(NOT WEFT_SANITIZED)
    target_link_options(weft_shared PRIVATE LINKER:-z,defs)
  endif()
  add_library(weft::weft ALIAS weft_shared)
else()
  add_library(weft::weft ALIAS weft_static)
endif()
