# SPDX-License-Identifier: MIT
# Which tests each build tree of `./do test` builds and runs. A preset names its tree (WEFT_TREE); in gcc's, and where none is
# named, all of them are. The other trees have what depends on the compiler, the port or a sanitizer, for compiling is most
# of a run; with WEFT_FULL (`./do test --full`) they have all that was ever found to be worth it.
#
# weft_here(<group> [TARGETS target...] [TESTS test...] [LABEL variable])
#   Where the tree's list has this group: the target tests_here builds these targets, the tests get the label `here`, and
#   the variable is set to that label; elsewhere to nothing. A whole tree builds and runs everything and needs no label.
option(WEFT_FULL "Run all tests that a tree can run" OFF)
set(WEFT_TREE "" CACHE STRING "The name of a tree in tests/trees.cmake")
add_custom_target(tests_here)
# All fronts that can be built: clang's tree builds them every day, for it warns of other things than gcc.
add_custom_target(fronts)
foreach(front weft_abt weft_omp weft_pthread weft_mpi_openmpi weft_mpi_mpich)
  if(TARGET ${front})
    add_dependencies(fronts ${front})
  endif()
endforeach()

set(weft_tree_clang
  unit_arch unit_arch_o0 unit_arch_o3_frame_pointer unit_arch_portable unit_queue unit_sync unit_api unit_preempt
  conformance stress_mix random fuzz thread_state_o0 thread_state_o1 thread_state_o2 thread_state_o3 thread_state_lto)
set(weft_tree_asan
  unit_memory unit_queue unit_sched unit_sync unit_io unit_api unit_runtime conformance stress_mix abt_sync system_exit
  system_fork system_signals system_interference system_seeded_faults fault_interrupted simulation_mix random
  thread_state_o2)
set(weft_tree_tsan
  unit_technique unit_memory unit_queue unit_sched unit_sync unit_io unit_api conformance stress_mix abt_sync
  system_seeded_faults random thread_state_o2)
set(weft_tree_portable unit_arch arch_walks arch_instructions conformance)
set(weft_tree_cet unit_arch arch_walks conformance system_signals system_hardening_ibt system_hardening_cet)
set(weft_tree_lto conformance thread_state_o2)
set(weft_tree_foreign
  unit_arch unit_arch_o0 unit_arch_o2_no_pic unit_arch_o3_frame_pointer unit_arch_o2_bti unit_arch_o2_sve arch_walks
  arch_instructions conformance)
if(WEFT_TREE STREQUAL "clang")
  add_dependencies(tests_here fronts)
endif()
if(WEFT_FULL)
  list(APPEND weft_tree_asan unit_base unit_os unit_unit unit_topology unit_arch unit_technique unit_trace unit_compose
    simulation simulation_points abt_init abt_xstream abt_sched abt_self abt_key abt_foreign abt_info abt_tool abt_thread
    abt_pool)
  list(APPEND weft_tree_tsan unit_arch unit_trace abt_self)
endif()

# Whether all tests are here. All but a few of clang's, in a full run: ctest leaves these out.
set(weft_tree_is_whole OFF)
if(WEFT_TREE STREQUAL "" OR (WEFT_TREE STREQUAL "clang" AND WEFT_FULL))
  set(weft_tree_is_whole ON)
endif()

function(weft_here group)
  cmake_parse_arguments(PARSE_ARGV 1 here "" "LABEL" "TARGETS;TESTS")
  set(label "")
  if(NOT weft_tree_is_whole AND group IN_LIST weft_tree_${WEFT_TREE})
    set(label here)
    if(here_TARGETS)
      add_dependencies(tests_here ${here_TARGETS})
    endif()
    foreach(test IN LISTS here_TESTS)
      set_property(TEST "${test}" APPEND PROPERTY LABELS here)
    endforeach()
  endif()
  if(here_LABEL)
    set(${here_LABEL} "${label}" PARENT_SCOPE)
  endif()
endfunction()
