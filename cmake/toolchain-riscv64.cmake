# SPDX-License-Identifier: MIT
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(weft_triple riscv64-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/cross.cmake")
