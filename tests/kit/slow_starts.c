/* Preloaded: the start of a thread, and the loading and letting go of the sample vendor's library, take long, and say whether they are
   under way. A fork that does not wait for them finds one under way nearly each time, on every machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { kDelayUs = 2000, kMostHandles = 64 };

static atomic_int starting, loading, started, loaded;
static _Atomic(void*) handles[kMostHandles];

int starts_under_way(void) { return starting; }
int loads_under_way(void) { return loading; }
int starts_so_far(void) { return started; }
int loads_so_far(void) { return loaded; }

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* argument) {
  int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = dlsym(RTLD_NEXT, "pthread_create");
  ++starting;
  usleep(kDelayUs);
  int result = create(thread, attributes, work, argument);
  usleep(kDelayUs);
  ++started;
  --starting;
  return result;
}

void* dlopen(const char* path, int mode) {
  void* (*open)(const char*, int) = dlsym(RTLD_NEXT, "dlopen");
  if (!path || !strstr(path, "sample_vendor")) return open(path, mode);
  ++loading;
  void* handle = open(path, mode);
  usleep(kDelayUs);
  ++loaded;
  --loading;
  for (int i = 0; handle && i < kMostHandles; ++i) {
    void* none = NULL;
    if (handles[i] == handle || atomic_compare_exchange_strong(&handles[i], &none, handle)) break;
  }
  return handle;
}

int dlclose(void* handle) {
  int (*close)(void*) = dlsym(RTLD_NEXT, "dlclose");
  for (int i = 0; i < kMostHandles; ++i) {
    if (handles[i] != handle) continue;
    ++loading;
    usleep(kDelayUs);
    int result = close(handle);
    --loading;
    return result;
  }
  return close(handle);
}
