# SPDX-License-Identifier: MIT
# Finds the peers and says how a program of each is built: bench_program(<workload> <peer> <source>). A peer
# that is not found is listed and left out. CMAKE_PREFIX_PATH and PKG_CONFIG_PATH say where to look beyond
# the system.
set(bench_found serial pthreads std_async)
set(bench_missing "")

# bench_peer(<peer> <libraries or target>...)  a peer that is linked into an ordinary program.
function(bench_peer peer)
  set(BENCH_LINK_${peer} ${ARGN} PARENT_SCOPE)
  set(bench_found ${bench_found} ${peer} PARENT_SCOPE)
endfunction()

# bench_library_peer(<peer> <header> [library])  one without a CMake package.
macro(bench_library_peer peer header)
  find_path(BENCH_INCLUDE_${peer} ${header})
  set(bench_libraries "")
  foreach(library ${ARGN})
    find_library(BENCH_LIBRARY_${peer} ${library})
    list(APPEND bench_libraries ${BENCH_LIBRARY_${peer}})
  endforeach()
  if(BENCH_INCLUDE_${peer} AND NOT bench_libraries MATCHES "NOTFOUND")
    add_library(bench_peer_${peer} INTERFACE)
    target_include_directories(bench_peer_${peer} SYSTEM INTERFACE "${BENCH_INCLUDE_${peer}}")
    target_link_libraries(bench_peer_${peer} INTERFACE ${bench_libraries})
    bench_peer(${peer} bench_peer_${peer})
  endif()
endmacro()

set(BENCH_LINK_serial "")
set(BENCH_LINK_pthreads "")
set(BENCH_LINK_std_async "")
if(TARGET weft::weft)
  bench_peer(weft weft::weft)
endif()
# Weft's libabt and Argobots' have one soname. An RPATH goes before LD_LIBRARY_PATH (a RUNPATH would not), so
# each program runs with the library it was linked with.
set(bench_abt_rpath -Wl,--disable-new-dtags)
if(TARGET weft::abt)
  bench_peer(weft-abt weft::abt ${bench_abt_rpath})
endif()

find_package(TBB CONFIG QUIET)
if(TBB_FOUND)
  bench_peer(onetbb TBB::tbb)
endif()
find_package(Boost QUIET COMPONENTS context fiber)
if(Boost_FIBER_FOUND)
  bench_peer(boost_fiber Boost::fiber)
endif()
if(Boost_CONTEXT_FOUND)
  bench_peer(boost_context Boost::context)
endif()

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(BENCH_ARGOBOTS QUIET IMPORTED_TARGET argobots)
endif()
if(TARGET PkgConfig::BENCH_ARGOBOTS)
  bench_peer(argobots PkgConfig::BENCH_ARGOBOTS ${bench_abt_rpath})
endif()
bench_library_peer(massivethreads myth/myth.h myth)
bench_library_peer(qthreads qthread/qthread.h qthread)
bench_library_peer(composablethreads cmpth/sct/def_sct_itf.hpp)
find_package(Taskflow CONFIG QUIET)
if(TARGET Taskflow::Taskflow)
  bench_peer(taskflow Taskflow::Taskflow)
endif()

# Peers that are compiled by another compiler than the project's: OpenMP by the owner of its runtime,
# libfork by clang where there is one (its coroutines cost a third less there).
find_program(BENCH_GCC NAMES g++-14 g++-13 g++-12 g++)
find_program(BENCH_CLANG
  NAMES clang++-22 clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16 clang++)

function(bench_try_compiler out compiler flags text)
  set(probe "${CMAKE_CURRENT_BINARY_DIR}/probe")
  file(WRITE "${probe}.cpp" "${text}\nint main() {}\n")
  if(compiler AND NOT DEFINED CACHE{${out}})
    execute_process(COMMAND ${compiler} ${flags} -std=c++20 "${probe}.cpp" -o "${probe}"
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set(${out} ON CACHE INTERNAL "")
    endif()
  endif()
endfunction()
bench_try_compiler(BENCH_HAS_openmp "${BENCH_GCC}" "-fopenmp" "#include <omp.h>")
bench_try_compiler(BENCH_HAS_openmp_llvm "${BENCH_CLANG}" "-fopenmp=libomp" "#include <omp.h>")
set(BENCH_FOREIGN_openmp "${BENCH_GCC}" -fopenmp)
set(BENCH_FOREIGN_openmp_llvm "${BENCH_CLANG}" -fopenmp=libomp)

find_package(libfork CONFIG QUIET)
if(TARGET libfork::libfork)
  get_target_property(bench_libfork_includes libfork::libfork INTERFACE_INCLUDE_DIRECTORIES)
  set(bench_libfork_flags -Wno-c++23-extensions) # its headers have some
  foreach(directory IN LISTS bench_libfork_includes)
    list(APPEND bench_libfork_flags -isystem "${directory}")
  endforeach()
  bench_try_compiler(BENCH_HAS_libfork "${BENCH_CLANG}" "${bench_libfork_flags}" "#include <libfork.hpp>")
  set(BENCH_FOREIGN_libfork "${BENCH_CLANG}" ${bench_libfork_flags})
  if(NOT BENCH_HAS_libfork)
    bench_peer(libfork libfork::libfork)
  endif()
endif()
find_program(BENCH_GO go)
set(BENCH_HAS_go ${BENCH_GO})
foreach(peer openmp openmp_llvm libfork go)
  if(BENCH_HAS_${peer})
    list(APPEND bench_found ${peer})
  endif()
endforeach()
foreach(peer weft weft-abt onetbb boost_fiber boost_context argobots massivethreads qthreads composablethreads
        taskflow libfork openmp openmp_llvm go)
  if(NOT peer IN_LIST bench_found)
    list(APPEND bench_missing ${peer})
  endif()
endforeach()

function(bench_program workload peer source)
  if(NOT peer IN_LIST bench_found)
    return()
  endif()
  set(name ${workload}.${peer})
  set(output "${bench_bin}/${name}")
  if(peer STREQUAL "go")
    file(GLOB shared "${bench_root}/common/gobench/*.go")
    add_custom_command(OUTPUT "${output}" WORKING_DIRECTORY "${bench_root}" VERBATIM
      COMMAND ${CMAKE_COMMAND} -E env GOTOOLCHAIN=local GOFLAGS=-buildvcs=false
        "GOCACHE=${CMAKE_CURRENT_BINARY_DIR}/gocache" ${BENCH_GO} build -o "${output}" ${source}
      DEPENDS ${source} ${shared} COMMENT "Go ${name}")
  elseif(DEFINED BENCH_FOREIGN_${peer} AND BENCH_HAS_${peer})
    add_custom_command(OUTPUT "${output}" VERBATIM DEPFILE "${output}.d"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${bench_bin}"
      COMMAND ${BENCH_FOREIGN_${peer}} -std=c++20 ${bench_flags} -Wall -Wextra -pthread
        -I "${repository_root}" -MD -MF "${output}.d" -MT "${output}"
        "${bench_root}/${source}" $<TARGET_FILE:bench_common> -o "${output}"
      DEPENDS ${source} bench_common COMMENT "Foreign compiler ${name}")
  else()
    add_executable(bench_${name} ${source})
    if(NOT peer STREQUAL "weft")
      set_target_properties(bench_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    set_target_properties(bench_${name} PROPERTIES
      OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${bench_bin}" CXX_EXTENSIONS OFF)
    target_compile_options(bench_${name} PRIVATE ${bench_flags})
    target_link_libraries(bench_${name} PRIVATE
      bench_common ${BENCH_LINK_${peer}} weft_warnings Threads::Threads)
    add_dependencies(bench bench_${name})
    return()
  endif()
  add_custom_target(bench_${name} DEPENDS "${output}")
  add_dependencies(bench bench_${name})
endfunction()
