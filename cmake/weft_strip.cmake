# SPDX-License-Identifier: MIT
# weft_strip(<file>)   <file>, relative to the prefix, gives its debug data to .debug/<name>.debug beside it when it is
# installed, where gdb, perf and valgrind look for it. The table of symbols stays: tools look into processes by it.
option(WEFT_STRIP "Install debug data in files of its own" ON)

function(weft_strip file)
  if(NOT WEFT_STRIP OR NOT CMAKE_OBJCOPY OR NOT CMAKE_STRIP)
    return()
  endif()
  cmake_path(GET file PARENT_PATH folder)
  cmake_path(GET file FILENAME name)
  install(CODE "
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}\")
    file(MAKE_DIRECTORY \"\${folder}/.debug\")
    execute_process(WORKING_DIRECTORY \"\${folder}\" COMMAND_ERROR_IS_FATAL ANY
      COMMAND \"${CMAKE_OBJCOPY}\" --only-keep-debug ${name} .debug/${name}.debug)
    execute_process(WORKING_DIRECTORY \"\${folder}\" COMMAND_ERROR_IS_FATAL ANY
      COMMAND \"${CMAKE_STRIP}\" --strip-debug ${name})
    execute_process(WORKING_DIRECTORY \"\${folder}\" COMMAND_ERROR_IS_FATAL ANY
      COMMAND \"${CMAKE_OBJCOPY}\" --remove-section=.gnu_debuglink --add-gnu-debuglink=.debug/${name}.debug ${name})")
endfunction()
