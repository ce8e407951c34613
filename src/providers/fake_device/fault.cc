#include "providers/fake_device/fault.h"

#include <limits>
#include <mutex>
#include <new>
#include <set>

#include "base/error.h"

namespace rh::fake_device {

namespace {

std::mutex g_mutex;
std::set<Fault*> g_faults;

}  // namespace

Fault::Fault(std::string_view call, int64_t after, int64_t times, bool without_memory)
    : call_(call),
      after_(after),
      times_(times < 0 ? std::numeric_limits<int64_t>::max() - after_ : times),
      without_memory_(without_memory) {
  const std::lock_guard lock(g_mutex);
  g_faults.insert(this);
}

Fault::~Fault() {
  const std::lock_guard lock(g_mutex);
  g_faults.erase(this);
}

void Fault::at(std::string_view call) {
  if (call_ != call) return;
  const int64_t number = calls_++;
  if (number < after_ || number >= after_ + times_) return;
  if (without_memory_) throw std::bad_alloc();
  fail(ErrorCode::ep_fail, "failure injected at {}", call_);
}

void Fault::at_device(std::string_view call) {
  const std::lock_guard lock(g_mutex);
  for (Fault* fault : g_faults) fault->at(call);
}

}  // namespace rh::fake_device
