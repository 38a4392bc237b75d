// SPDX-License-Identifier: MIT
/* Loads libweft.so by dlopen(), with the TLS it needs at once, and runs the library user named
   by the first argument. Ends with 0 if that worked. */
#include <dlfcn.h>
#include <stdio.h>

static int call(void* library, const char* name) {
  union {
    void* object;
    int (*function)(void);
  } symbol;
  symbol.object = dlsym(library, name);
  if (symbol.object == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  return symbol.function();
}

int main(int count, char** arguments) {
  void* library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  return call(library, "user_use") | call(library, "user_start") | call(library, "user_use") |
         call(library, "user_stop");
}
