# SPDX-License-Identifier: MIT
# Runs weft-demo on T1 with few blocked threads; checks its exit status and the files it leaves.
if(WEFT)
  set(runtimes serial,weft)
else()
  set(runtimes serial)
endif()
file(REMOVE_RECURSE "${OUTPUT}")
execute_process(COMMAND "${DEMO}" --quick --trees T1 --runtimes ${runtimes} --workers 2
  --threads 1000 --output "${OUTPUT}"
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
message("${said}")
# Without Weft the program says so by its status; everything else still works.
if(WEFT AND NOT status EQUAL 0)
  message(FATAL_ERROR "weft-demo ended with ${status}")
endif()
file(READ "${OUTPUT}/weft-demo.json" facts)
string(JSON failed GET "${facts}" failed_checks)
if(NOT failed EQUAL 0)
  message(FATAL_ERROR "${failed} checks failed")
endif()
file(READ "${OUTPUT}/weft-demo.html" page)
if(NOT page MATCHES "checks passed.*</html>")
  message(FATAL_ERROR "the page is not whole")
endif()
execute_process(COMMAND "${DEMO}" run-one --tree none RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
if(status EQUAL 0 OR NOT said MATCHES "no tree is called none")
  message(FATAL_ERROR "an unknown tree is no error: ${status} ${said}")
endif()
