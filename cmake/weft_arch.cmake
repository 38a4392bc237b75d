# SPDX-License-Identifier: MIT
# Chooses the port: the folder of weft/arch/ that is compiled. Sets WEFT_ARCH_PORT; a CPU without a port stops
# the configuration with the list of those that exist.

set(WEFT_PORTS x86_64 aarch64 ppc64le riscv64 portable)
set(WEFT_ARCH auto CACHE STRING "Port of the context switch: auto or one of ${WEFT_PORTS}")
set_property(CACHE WEFT_ARCH PROPERTY STRINGS auto ${WEFT_PORTS})

if(WEFT_ARCH STREQUAL "auto")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    set(WEFT_ARCH_PORT x86_64)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    set(WEFT_ARCH_PORT aarch64)
  else()
    set(WEFT_ARCH_PORT "${CMAKE_SYSTEM_PROCESSOR}")
  endif()
else()
  set(WEFT_ARCH_PORT "${WEFT_ARCH}")
endif()

if(NOT WEFT_ARCH_PORT IN_LIST WEFT_PORTS)
  string(REPLACE ";" ", " weft_ports_text "${WEFT_PORTS}")
  message(FATAL_ERROR "Weft has no port for '${WEFT_ARCH_PORT}'. Ports: ${weft_ports_text}. "
    "The portable one (ucontext) works on any Linux: configure with -DWEFT_ARCH=portable.")
endif()
message(STATUS "weft: port ${WEFT_ARCH_PORT}")
# From here on a plain variable of the same name holds the port, no longer "auto".
set(WEFT_ARCH "${WEFT_ARCH_PORT}")

# Headers inline the switch, so a consumer must see the same port as the library.
if(WEFT_ARCH_PORT STREQUAL "portable")
  target_compile_definitions(weft_interface INTERFACE WEFT_ARCH_PORTABLE=1)
  list(APPEND WEFT_PUBLIC_CFLAGS -DWEFT_ARCH_PORTABLE=1)
endif()
