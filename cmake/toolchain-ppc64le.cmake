# SPDX-License-Identifier: MIT
set(CMAKE_SYSTEM_PROCESSOR ppc64le)
set(weft_triple powerpc64le-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/cross.cmake")
