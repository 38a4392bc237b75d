# SPDX-License-Identifier: MIT
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(weft_triple aarch64-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/cross.cmake")
