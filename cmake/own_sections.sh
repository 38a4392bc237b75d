#!/bin/sh
# SPDX-License-Identifier: MIT
# own_sections.sh OBJCOPY COMMAND...: compiles, and puts the code of the object into a section of libweft's own, by which
# the library knows its functions on a stack (weft/preempt/user_code.hpp). Inline functions and templates stay where they
# are: the linker may take those of another object for them.
objcopy=$1
shift
"$@" || exit
while [ $# -gt 1 ]; do
  if [ "$1" = -o ]; then
    exec "$objcopy" --rename-section .text=weft_text --rename-section .text.unlikely=weft_text \
      --rename-section .text.unlikely.=weft_text --rename-section .text.hot=weft_text --rename-section .text.hot.=weft_text \
      --rename-section .text.startup=weft_text --rename-section .text.startup.=weft_text \
      --rename-section .text.exit=weft_text --rename-section .text.exit.=weft_text "$2"
  fi
  shift
done
