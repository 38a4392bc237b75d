// SPDX-License-Identifier: MIT
// What libweft.so exports. Everything is hidden unless marked; mark functions and data that public headers
// use.
#pragma once

#define WEFT_API __attribute__((visibility("default")))
