# SPDX-License-Identifier: MIT
# Options, build type, and the flags every part of Weft is compiled with (target weft_flags).

option(WEFT_BUILD_SHARED "Build libweft.so beside libweft.a" ON)
option(WEFT_INSTALL "Have install rules" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_TOOLS "Build the tool weft (needs CLI11)" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_APPS "Build the applications" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_HTTP "Build the server weft-http, as WEFT_APPS does (needs Boost's headers and CLI11)" OFF)
option(WEFT_UNITY "Compile each room as one file: a quarter of the time, but all of it again after any change" OFF)
set(WEFT_ASSERTS auto CACHE STRING "Assertions: on, off, or auto (on in Debug builds only)")
set_property(CACHE WEFT_ASSERTS PROPERTY STRINGS auto on off)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

if(WEFT_ASSERTS STREQUAL "auto")
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(WEFT_ASSERT_LEVEL 1)
  else()
    set(WEFT_ASSERT_LEVEL 0)
  endif()
elseif(WEFT_ASSERTS)
  set(WEFT_ASSERT_LEVEL 1)
else()
  set(WEFT_ASSERT_LEVEL 0)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
# gcc before 13 leaves atomics of one byte on riscv64 to libatomic.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#include <atomic>
  std::atomic<bool> b; int main() { return b.exchange(true) ? 1 : 0; }" WEFT_HAS_BYTE_ATOMICS)
set(WEFT_ATOMIC_LIBRARY "")
if(NOT WEFT_HAS_BYTE_ATOMICS)
  set(WEFT_ATOMIC_LIBRARY atomic)
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET GLOBAL hwloc>=2.0)
# Without it, epoll is all there is.
option(WEFT_URING "Have an event source over io_uring, if liburing is there" ON)
set(WEFT_HAS_URING OFF)
if(WEFT_URING)
  pkg_check_modules(URING IMPORTED_TARGET GLOBAL liburing>=2.3)
  if(URING_FOUND)
    set(WEFT_HAS_URING ON)
  endif()
endif()

# For an installation beside the plain one, under names of its own: libweft-asan, libweft-tsan.
set(WEFT_SANITIZER "" CACHE STRING "Build the libraries for programs with a sanitizer: address, thread, or empty")
set_property(CACHE WEFT_SANITIZER PROPERTY STRINGS "" address thread)
set(WEFT_SUFFIX "")
if(WEFT_SANITIZER STREQUAL "address")
  set(WEFT_SUFFIX "-asan")
elseif(WEFT_SANITIZER STREQUAL "thread")
  set(WEFT_SUFFIX "-tsan")
elseif(WEFT_SANITIZER)
  message(FATAL_ERROR "WEFT_SANITIZER=${WEFT_SANITIZER}: address, thread, or empty")
endif()
if(WEFT_SANITIZER)
  foreach(language IN ITEMS C CXX)
    string(APPEND CMAKE_${language}_FLAGS " -fsanitize=${WEFT_SANITIZER} -fno-omit-frame-pointer")
  endforeach()
endif()

string(FIND "${CMAKE_CXX_FLAGS}" "-fsanitize=" weft_sanitize_at)
if(weft_sanitize_at EQUAL -1)
  set(WEFT_SANITIZED OFF)
else()
  set(WEFT_SANITIZED ON)
endif()

# What a consumer must share with the library: the language level and the definitions headers depend on.
add_library(weft_interface INTERFACE)
target_compile_features(weft_interface INTERFACE cxx_std_20)
if(WEFT_ASSERT_LEVEL GREATER 0)
  target_compile_definitions(weft_interface INTERFACE WEFT_ASSERT_LEVEL=${WEFT_ASSERT_LEVEL})
  list(APPEND WEFT_PUBLIC_CFLAGS -DWEFT_ASSERT_LEVEL=${WEFT_ASSERT_LEVEL})
endif()

# Warnings, for the library and everything built beside it.
add_library(weft_warnings INTERFACE)
target_compile_options(weft_warnings INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra>)

# The library itself. No PLT and initial-exec TLS: the runtime's hot paths read the worker from TLS, and a
# __tls_get_addr call would cost more than the switch it serves. Asynchronous unwind tables: gdb and perf walk
# suspended stacks.
add_library(weft_flags INTERFACE)
target_link_libraries(weft_flags INTERFACE weft_interface weft_warnings Threads::Threads ${WEFT_ATOMIC_LIBRARY})
target_include_directories(weft_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(weft_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-fno-plt;-ftls-model=initial-exec;-fasynchronous-unwind-tables>)

# What is loaded into programs of others: relocations are resolved and made read-only before anything runs, no stack is
# executable; and it stays when it is closed. dlclose() could not take it away: its kernel threads run its code, the C
# library keeps its handlers of fork(), exit and TLS destructors, and its TLS is of the initial-exec model
# (docs/guide/fork-and-exit.md).
set(WEFT_HARDENED_LINK LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
set(WEFT_STAYS_LOADED LINKER:-z,nodelete)
