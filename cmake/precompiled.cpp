// SPDX-License-Identifier: MIT
// Nothing: whoever is made of it has the tests' precompiled header.
