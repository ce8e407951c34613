#include "base/process.h"

#include <functional>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#endif

namespace rh {

int process_number() {
#if defined(__unix__) || defined(__APPLE__)
  return static_cast<int>(getpid());
#else
  return 1;
#endif
}

uint64_t thread_number() {
#if defined(__linux__)
  return static_cast<uint64_t>(syscall(SYS_gettid));  // glibc has a function for it from 2.30 on
#else
  return std::hash<std::thread::id>()(std::this_thread::get_id()) & 0xffffffff;
#endif
}

int this_processor() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

}  // namespace rh
