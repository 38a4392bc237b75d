# SPDX-License-Identifier: MIT
# weft_gtest(<name> SOURCES file... [LINK target...] [LABELS label...] [TIMEOUT seconds] [SHARDS n] [OPTIONS flag...])
#   A GoogleTest executable; each of its cases is a ctest test "<name>.<suite>.<case>". Links weft::static unless
#   LINK says otherwise. It is in the trees that name it (tests/trees.cmake). OPTIONS: other flags than the tree's.
#   SHARDS: so many processes run all of them, where there are thousands of short ones.
# weft_unit_test(<room> [LINK target...])
#   tests/unit/<room>/*_test.cpp as unit_<room>. Linked to the objects of that room and of those below it, and to
#   nothing else: a dependency that docs/rooms.txt does not allow is a link error. Rooms whose tests run threads get
#   the whole library, since nothing runs without a runtime.
include_guard(GLOBAL)
include(GoogleTest)

# GoogleTest's header takes a second to read: once a tree, and once for the programs that have these flags of their own.
function(weft_precompile name)
  add_library(${name} OBJECT "${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp")
  target_link_libraries(${name} PUBLIC weft_interface weft_warnings GTest::gtest)
  target_compile_options(${name} PRIVATE ${ARGN})
  target_precompile_headers(${name} PRIVATE <gtest/gtest.h> <atomic> <chrono> <memory> <thread> <vector>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Without the time of its making, so that a compiler cache knows it again.
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()
weft_precompile(weft_test_pch)
weft_precompile(weft_test_pch_o0 -O0)

function(weft_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "TIMEOUT;SHARDS" "SOURCES;LINK;LABELS;OPTIONS")
  if(NOT test_LINK)
    set(test_LINK weft::static)
  endif()
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  add_executable(${name} ${test_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${test_LINK} weft_interface weft_warnings GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${test_OPTIONS})
  if(test_OPTIONS STREQUAL "-O0")
    target_precompile_headers(${name} REUSE_FROM weft_test_pch_o0)
  elseif(NOT test_OPTIONS)
    target_precompile_headers(${name} REUSE_FROM weft_test_pch)
  endif()
  weft_here(${name} TARGETS ${name} LABEL here)
  if(here) # in place of the others: gtest_discover_tests() takes one
    set(test_LABELS here)
  endif()
  if(test_SHARDS)
    math(EXPR last "${test_SHARDS} - 1")
    foreach(shard RANGE ${last})
      add_test(NAME "${name}.shard_${shard}" COMMAND ${name} --gtest_brief=1)
      set_tests_properties("${name}.shard_${shard}" PROPERTIES TIMEOUT ${test_TIMEOUT} LABELS "${test_LABELS}"
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${test_SHARDS};GTEST_SHARD_INDEX=${shard}")
    endforeach()
    return()
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${test_TIMEOUT} LABELS "${test_LABELS}")
endfunction()

function(weft_unit_test room)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "" "LINK")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/${room}/*_test.cpp")
  if(NOT sources)
    return()
  endif()
  set(needs_runtime unit technique events workers view simulator carrier sched arrange sync compose io preempt runtime api door)
  if(room IN_LIST needs_runtime)
    set(shards "")
    if(room STREQUAL "technique") # each technique, kind, pool and number of workers
      set(shards SHARDS 8 TIMEOUT 300)
    endif()
    weft_gtest(unit_${room} SOURCES ${sources} LINK weft::static ${test_LINK} LABELS unit ${shards})
    return()
  endif()
  # os is always there: it defines the fences that base declares.
  weft_room_closure(rooms ${room} os)
  weft_gtest(unit_${room} SOURCES ${sources} LINK ${rooms} ${test_LINK} LABELS unit)
endfunction()
