/* What objects compiled here ask of a C library newer than 2.28, in terms of what 2.28 has. Linked into what scripts/portable_link.py makes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* libstdc++ counts references without atomic instructions where this is set. */
HIDDEN char __libc_single_threaded = 0;

HIDDEN uint32_t arc4random(void) {
  uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != sizeof value) {
  }
  return value;
}

/* A wait until a time of another clock, as a wait until the same moment of the calendar's. */
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  const int64_t kSecond = 1000000000;
  const int64_t left = (int64_t)(until->tv_sec - now.tv_sec) * kSecond + until->tv_nsec - now.tv_nsec + real.tv_nsec;
  real.tv_sec += left / kSecond;
  real.tv_nsec = left % kSecond;
  if (real.tv_nsec < 0) {
    real.tv_nsec += kSecond;
    real.tv_sec -= 1;
  }
  return pthread_cond_timedwait(condition, mutex, &real);
}
