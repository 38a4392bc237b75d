/* SPDX-License-Identifier: MIT */
/* Asks for executable stacks, as nested functions need them whose address is taken. */
typedef int (*function)(int);

static int call(function f, int with) {
  return f(with);
}

__attribute__((visibility("default"))) int by_code_on_the_stack(int more) {
  int calls = 0;
  int add(int with) {
    ++calls;
    return with + more;
  }
  function volatile f = add;
  return call(f, 40) + calls;
}

static int when_loaded;
__attribute__((constructor)) static void start(void) {
  when_loaded = by_code_on_the_stack(1);
}
__attribute__((visibility("default"))) int result_in_constructor(void) {
  return when_loaded;
}
