/* SPDX-License-Identifier: MIT
 * Functions that call each other as functions of another library would be called: each first call after the
 * library was loaded goes through the dynamic linker, if binding is lazy. */

int weft_nobody_defines_this(void);

#define STEP(name, next)                                                                                     \
  int next(int);                                                                                             \
  int name(int n) {                                                                                          \
    return next(n + 1);                                                                                      \
  }
#define TEN_STEPS(name, next)                                                                                \
  STEP(name##0, name##1)                                                                                     \
  STEP(name##1, name##2)                                                                                     \
  STEP(name##2, name##3)                                                                                     \
  STEP(name##3, name##4)                                                                                     \
  STEP(name##4, name##5)                                                                                     \
  STEP(name##5, name##6)                                                                                     \
  STEP(name##6, name##7)                                                                                     \
  STEP(name##7, name##8)                                                                                     \
  STEP(name##8, name##9)                                                                                     \
  STEP(name##9, next)

TEN_STEPS(weft_lazy_a, weft_lazy_b0)
TEN_STEPS(weft_lazy_b, weft_lazy_c0)
TEN_STEPS(weft_lazy_c, weft_lazy_d0)
TEN_STEPS(weft_lazy_d, weft_lazy_e0)
TEN_STEPS(weft_lazy_e, weft_lazy_end)

#ifdef WEFT_COMPLETE
int weft_nobody_defines_this(void) {
  return -1;
}
#endif

/* Who binds at once does not even get to load a library that has this in it, undefined. */
int weft_lazy_end(int n) {
  return n >= 0 ? n : weft_nobody_defines_this();
}
