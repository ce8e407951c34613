#include "base/start_thread.h"

#include <mutex>
#include <utility>

#include "base/fork_mutex.h"

namespace rh {

namespace {

constinit ForkMutex g_starting;

}  // namespace

std::thread start_thread(std::function<void()> work) {
  const std::lock_guard lock(g_starting);
  return std::thread(std::move(work));
}

}  // namespace rh
