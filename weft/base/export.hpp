// SPDX-License-Identifier: MIT
// What libweft.so exports. Everything is hidden unless marked; mark functions and data that public headers
// use.
#pragma once

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "Weft needs C++20: compile with -std=c++20 or newer"
#endif
#if !defined(__cpp_exceptions)
#error "Weft needs exceptions: compile without -fno-exceptions"
#endif

#define WEFT_API __attribute__((visibility("default")))
