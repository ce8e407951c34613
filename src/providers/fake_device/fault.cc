#include "fault.h"

#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>

namespace fake_device {

namespace {

std::mutex g_mutex;
std::set<Fault*> g_faults;

}  // namespace

Fault::Fault(std::string call, const std::string& after, const std::string& times, const std::string& with)
    : call_(std::move(call)),
      after_(std::atoll(after.c_str())),
      times_(times.empty() ? std::numeric_limits<int64_t>::max() - after_ : std::atoll(times.c_str())),
      without_memory_(with == "memory") {
  if (!with.empty() && with != "memory" && with != "error") {
    throw std::runtime_error("option fail_with is '" + with + "', expected error or memory");
  }
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
  throw std::runtime_error("failure injected at " + call_);
}

void Fault::at_device(std::string_view call) {
  const std::lock_guard lock(g_mutex);
  for (Fault* fault : g_faults) fault->at(call);
}

}  // namespace fake_device
