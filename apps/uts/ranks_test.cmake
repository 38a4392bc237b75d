# SPDX-License-Identifier: MIT
# `weft-demo --ranks` beside a tool that is not there, and beside one that fails each first time: what it says, and that it fails.
file(REMOVE_RECURSE "${DIRECTORY}")
file(MAKE_DIRECTORY "${DIRECTORY}/apps/uts" "${DIRECTORY}/tools/weft")
get_filename_component(programs "${DEMO}" DIRECTORY)
file(GLOB ranks "${programs}/weft-demo-rank.*")
file(COPY "${DEMO}" ${ranks} DESTINATION "${DIRECTORY}/apps/uts")

function(run)
  execute_process(COMMAND "${DIRECTORY}/apps/uts/weft-demo" --ranks 2 --trees mini --rounds 2 --limit 100 --output "${DIRECTORY}"
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  message("${said}")
  if(status EQUAL 0 OR NOT said MATCHES "There were FAILURES")
    message(FATAL_ERROR "it ended with ${status}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

run()
if(NOT said MATCHES "FAILED in 2 of 2 rounds: exit status 127: cannot start [^\n]*/tools/weft/weft: No such file")
  message(FATAL_ERROR "it does not say what could not be started")
endif()

# The first call of each engine's fails.
file(WRITE "${DIRECTORY}/tools/weft/weft" "#!/bin/sh
for w; do case $w in */weft-demo-rank.*) been=${DIRECTORY}/\${w##*/}.been; esac; done
[ -e $been ] || { touch $been; echo once >&2; exit 3; }
exec '${TOOL}' \"$@\"
")
file(CHMOD "${DIRECTORY}/tools/weft/weft" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
run()
if(NOT said MATCHES "nodes/s +[0-9.]+ x  FAILED in 1 of 2 rounds: exit status 3: once")
  message(FATAL_ERROR "it does not show the round that was right")
endif()
file(READ "${DIRECTORY}/weft-ranks.json" facts)
foreach(name suite date machine compiler flags commit dirty results)
  string(JSON value GET "${facts}" ${name}) # or it is an error
endforeach()
string(JSON failures GET "${facts}" results 0 rows 1 failures)
string(JSON load LENGTH "${facts}" machine load)
if(NOT failures EQUAL 1 OR NOT load EQUAL 3)
  message(FATAL_ERROR "${failures} failures, ${load} figures of the load")
endif()
