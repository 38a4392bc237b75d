# SPDX-License-Identifier: MIT
# gcc 12, the oldest that Weft promises to build with; the system's gcc where that is not installed.
find_program(weft_gcc_12 g++-12)
if(weft_gcc_12)
  set(CMAKE_CXX_COMPILER "${weft_gcc_12}")
  set(CMAKE_C_COMPILER gcc-12)
else()
  set(CMAKE_CXX_COMPILER g++)
  set(CMAKE_C_COMPILER gcc)
endif()
