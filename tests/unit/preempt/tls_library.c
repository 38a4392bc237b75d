/* SPDX-License-Identifier: MIT
 * A library with a variable of each thread's own, which begins with a value. */

static __thread int weft_mine = 42;
static __thread int weft_too[4];

int* weft_mine_of_caller(void) {
  return &weft_mine;
}
int* weft_too_of_caller(void) {
  return weft_too;
}
