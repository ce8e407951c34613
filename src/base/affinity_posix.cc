#include "base/affinity.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace rh {

#if defined(__linux__)

int allowed_processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

void bind_this_thread(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) {
    if (processor < CPU_SETSIZE) CPU_SET(processor, &set);
  }
  (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);  // none of them is there: the thread stays free
}

void leave_processor(int taken) {
  cpu_set_t allowed;
  if (taken < 0 || taken >= CPU_SETSIZE || pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(taken, &others);
  if (CPU_COUNT(&others) == 0 || pthread_setaffinity_np(pthread_self(), sizeof others, &others) != 0) return;
  (void)pthread_setaffinity_np(pthread_self(), sizeof allowed, &allowed);
}

#else

int allowed_processors() { return 0; }
void bind_this_thread(const std::vector<int>&) {}
void leave_processor(int) {}

#endif

}  // namespace rh
