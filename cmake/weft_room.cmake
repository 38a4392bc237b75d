# SPDX-License-Identifier: MIT
# weft_room(<name> [SOURCES file...] [DEPENDS room-or-library...])
#   One target weft_<name> a room. With sources: an OBJECT library, position independent, hidden visibility, so that
#   libweft.a and libweft.so are made of the same objects. Without: an INTERFACE library. A room links only to the
#   rooms it names; docs/rooms.txt must allow them.
# weft_add_room(<name>)  enters weft/<name>/.
# weft_room_closure(<out> <room>...)  the targets of these rooms and of everything below them.

function(weft_add_room name)
  add_subdirectory("weft/${name}")
endfunction()

# The code of the target is libweft's own (weft/preempt/user_code.hpp). Without objcopy threads keep their workers.
function(weft_own_sections target)
  if(CMAKE_OBJCOPY)
    set_target_properties(${target} PROPERTIES
      RULE_LAUNCH_COMPILE "${PROJECT_SOURCE_DIR}/cmake/own_sections.sh ${CMAKE_OBJCOPY}")
  endif()
endfunction()

function(weft_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "SOURCES;DEPENDS")
  if(room_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_room(${name}): unknown arguments ${room_UNPARSED_ARGUMENTS}")
  endif()
  set(target weft_${name})
  if(room_SOURCES)
    add_library(${target} OBJECT ${room_SOURCES})
    set_target_properties(${target} PROPERTIES
      POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON CXX_EXTENSIONS OFF
      UNITY_BUILD ${WEFT_UNITY} UNITY_BUILD_BATCH_SIZE 0)
    weft_own_sections(${target})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(${target} ${scope} weft_flags)

  set(rooms "")
  set(libraries "")
  foreach(item IN LISTS room_DEPENDS)
    if(item IN_LIST WEFT_ROOMS)
      list(APPEND rooms ${item})
      if(TARGET weft_${item})
        target_link_libraries(${target} ${scope} weft_${item})
      endif()
    else()
      list(APPEND libraries ${item})
      target_link_libraries(${target} ${scope} ${item})
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY WEFT_ROOM_TARGETS ${target})
  set_property(GLOBAL PROPERTY WEFT_ROOM_${name}_DEPENDS "${rooms}")
  set_property(GLOBAL APPEND PROPERTY WEFT_ROOM_LIBRARIES ${libraries})
endfunction()

function(weft_room_closure out)
  set(todo ${ARGN})
  set(seen "")
  while(todo)
    list(POP_FRONT todo room)
    if(NOT room IN_LIST seen)
      list(APPEND seen ${room})
      get_property(below GLOBAL PROPERTY WEFT_ROOM_${room}_DEPENDS)
      list(APPEND todo ${below})
    endif()
  endwhile()
  set(targets "")
  foreach(room IN LISTS seen)
    if(TARGET weft_${room})
      list(APPEND targets weft_${room})
    endif()
  endforeach()
  set(${out} ${targets} PARENT_SCOPE)
endfunction()
