// SPDX-License-Identifier: MIT
// Waiting for a word of the program's, by threads and by kernel threads: what objects of a front are made of
// that lie in bytes which the program gives, as pthread_cond_t and sem_t do. What wakes may be called in
// handlers of signals where that is said.
#pragma once

#include "weft/sync/futex.hpp"

namespace weft::door {

/// The word. All zeros is a word of 0.
using futex_word = sync::futex_word;

using sync::all_futex_waiters;
using sync::any_futex_bit;
using sync::foreign_section;
using sync::futex_moved;
using sync::futex_requeue;
using sync::futex_wait;
using sync::futex_wait_options;
using sync::futex_wake;
using sync::futex_wake_anywhere;
using sync::prepare_futex_wakes_in_handlers;
using unit::wait_kind;

} // namespace weft::door
