# SPDX-License-Identifier: MIT
# What the toolchain files for other CPUs share, with CMAKE_SYSTEM_PROCESSOR and weft_triple set: Debian's cross
# compiler, hwloc and GoogleTest from build/sysroot-<CPU> (tools/sysroot makes it), and qemu-user to run what was built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER "${weft_triple}-gcc")
set(CMAKE_CXX_COMPILER "${weft_triple}-g++")

cmake_path(SET weft_sysroot NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-${CMAKE_SYSTEM_PROCESSOR}")
set(CMAKE_FIND_ROOT_PATH "${weft_sysroot}" "/usr/${weft_triple}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${weft_sysroot}/lib/pkgconfig")

set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-${CMAKE_SYSTEM_PROCESSOR};-L;/usr/${weft_triple}")
