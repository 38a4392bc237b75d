# SPDX-License-Identifier: MIT
# Run at every build: writes OUTPUT with the compiler, its flags and the commit, and only when one of
# them changed.
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status ERROR_QUIET)
if(NOT status EQUAL 0 OR commit STREQUAL "")
  set(commit "unknown")
endif()
string(STRIP "${FLAGS}" FLAGS)
set(text "// Written by the build.\n#pragma once\n")
foreach(fact COMPILER FLAGS)
  string(REPLACE "\\" "\\\\" quoted "${${fact}}")
  string(REPLACE "\"" "\\\"" quoted "${quoted}")
  string(APPEND text "#define WEFT_UTS_${fact} \"${quoted}\"\n")
endforeach()
string(APPEND text "#define WEFT_UTS_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
