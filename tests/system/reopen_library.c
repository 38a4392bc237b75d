/* SPDX-License-Identifier: MIT */
/* dlopen() and dlclose(), 1,000 times: of libweft.so (first argument), which stays in the process for good
   (-z nodelete), and of a library that uses it (second argument), which goes each time although Weft's
   workers have run its code. Nothing grows with the rounds: no kernel thread, mapping or descriptor. Ends
   with 0 if all that is so. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Weft keeps spare kernel threads for workers whose thread waits in the kernel, unless WEFT_LEAVE=never. This
   program is such a thread: how many spares there are depends on how often it was seen to wait, not on the
   rounds. */
enum { rounds = 1000, warm_up = 50, most_spares = 32, mappings_of_a_spare = 8, other_mappings = 16 };

static void require(int good, const char* what) {
  if (good)
    return;
  const char* why = dlerror();
  fflush(stdout);
  fprintf(stderr, "FAILED: %s: %s\n", what, why != NULL ? why : "-");
  _Exit(1);
}

static int entries(const char* folder) {
  int count = 0;
  DIR* all = opendir(folder);
  while (all != NULL && readdir(all) != NULL)
    ++count;
  if (all != NULL)
    closedir(all);
  return count;
}

/* Of some readings the fewest: Weft's watchdog reads what the kernel tells of a thread, a descriptor for a
   moment. What is left behind is in each. */
static int descriptors_kept(void) {
  int fewest = entries("/proc/self/fd");
  for (int i = 0; i < 20; ++i) {
    usleep(500);
    const int now = entries("/proc/self/fd");
    fewest = now < fewest ? now : fewest;
  }
  return fewest;
}

static int mappings(void) {
  int lines = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  for (int c; maps != NULL && (c = getc(maps)) != EOF;)
    lines += c == '\n';
  if (maps != NULL)
    fclose(maps);
  return lines;
}

static void use(void* library, const char* name) {
  union {
    void* object;
    int (*function)(void);
  } symbol;
  symbol.object = dlsym(library, name);
  require(symbol.object != NULL, name);
  require(symbol.function() == 0, name);
}

static int is_loaded(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  return library != NULL && dlclose(library) == 0;
}

int main(int count, char** arguments) {
  require(count == 3, "two arguments");
  const char *weft = arguments[1], *user = arguments[2];
  const char* leaves = getenv("WEFT_LEAVE");
  const int spares = leaves != NULL && strcmp(leaves, "never") == 0 ? 0 : most_spares;
  int kernel_threads = 0, maps = 0, descriptors = 0;
  for (int i = 0; i < rounds; ++i) {
    void* library = dlopen(weft, RTLD_NOW | RTLD_LOCAL);
    require(library != NULL, "libweft.so opens");
    require(dlclose(library) == 0, "libweft.so closes");
    require(is_loaded(weft), "libweft.so stays loaded");
    require(!is_loaded(user), "the library that used it does not");
    library = dlopen(user, RTLD_NOW | RTLD_LOCAL);
    require(library != NULL, "the library that uses it opens");
    use(library, "user_use");
    require(dlclose(library) == 0, "the library that uses it closes");
    if (i == warm_up) {
      kernel_threads = entries("/proc/self/task");
      descriptors = descriptors_kept();
      maps = mappings();
    }
  }
  const int descriptors_now = descriptors_kept();
  const int kernel_threads_now = entries("/proc/self/task"), maps_now = mappings();
  printf("kernel threads %d, now %d; descriptors %d, now %d; mappings %d, now %d\n", kernel_threads,
         kernel_threads_now, descriptors, descriptors_now, maps, maps_now);
  require(kernel_threads_now <= kernel_threads + spares, "no kernel thread is left behind");
  require(descriptors_now == descriptors, "no descriptor is left behind");
  require(maps_now <= maps + spares * mappings_of_a_spare + other_mappings, "no mapping is left behind");
  return 0;
}
