/* Archives made for programs reach stderr and stdout as if they lay near; a shared library that has them inside brings variables of its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN void* stderr;
HIDDEN void* stdout;

__attribute__((constructor)) static void take_from_the_c_library(void) {
  void** found = dlsym(RTLD_DEFAULT, "stderr");
  stderr = found ? *found : NULL;
  found = dlsym(RTLD_DEFAULT, "stdout");
  stdout = found ? *found : NULL;
}
