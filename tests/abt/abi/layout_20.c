// SPDX-License-Identifier: MIT
// abt.h as a library built for the 2.0 interface has it: the build defines ABT_ENABLE_VER_20_API_VAL as 1,
// and ABT_pool_def has a member more, which moves those after it.
#include "abt.h"

#ifndef ABT_ENABLE_VER_20_API
#error "ABT_ENABLE_VER_20_API_VAL says otherwise"
#endif

#define OFFSET(type, member, number)                                                                         \
  _Static_assert(offsetof(type, member) == (number), "offset of " #member " in " #type)

_Static_assert(sizeof(ABT_pool_def) == 136, "size of ABT_pool_def");
OFFSET(ABT_pool_def, access, 0);
OFFSET(ABT_pool_def, u_get_type, 8);
OFFSET(ABT_pool_def, u_get_thread, 16);
OFFSET(ABT_pool_def, u_get_task, 24);
OFFSET(ABT_pool_def, u_is_in_pool, 32);
OFFSET(ABT_pool_def, u_create_from_thread, 40);
OFFSET(ABT_pool_def, u_create_from_task, 48);
OFFSET(ABT_pool_def, u_free, 56);
OFFSET(ABT_pool_def, p_init, 64);
OFFSET(ABT_pool_def, p_get_size, 72);
OFFSET(ABT_pool_def, p_push, 80);
OFFSET(ABT_pool_def, p_pop, 88);
OFFSET(ABT_pool_def, p_pop_wait, 96);
OFFSET(ABT_pool_def, p_pop_timedwait, 104);
OFFSET(ABT_pool_def, p_remove, 112);
OFFSET(ABT_pool_def, p_free, 120);
OFFSET(ABT_pool_def, p_print_all, 128);
